import type { BotContent } from '../../contracts/bot.ts';
import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { AppError } from '../../platform/app-error.ts';
import { checkLlmConfig } from '../../providers/llm/llm-models.ts';
import { openLlm, openStt, openTts } from '../../providers/open-providers.ts';
import { providerPlace } from '../../providers/provider-place.ts';
import { ttsModel } from '../../providers/tts/tts-models.ts';
import { findProvider, vendorOf } from '../../providers/vendors/all-vendors.ts';
import { hasOwnKey, keyName, mayReceiveKey } from '../runtime-config/provider-keys.ts';
import type { BotFinding, ValidationWorld } from './bot-finding.ts';
import { checkProviderAddress } from './check-provider-address.ts';

type Family = 'stt' | 'llm' | 'tts';

const OPEN = { stt: openStt, llm: openLlm, tts: openTts } as const;
/** Stands in for the key of the system settings while a client judges the settings; it is sent to nobody. */
const KEY_FOR_CHECKING = 'not-a-key-only-checked';

/** One provider block of a bot, and where it stands. */
interface Block {
  family: Family;
  config: ProviderConfig;
  pointer: string;
}

/**
 * What is wrong with the providers of a bot: settings that a client or a vendor's model would refuse, addresses that no
 * bot may lead to, keys that are missing or would not be sent. Nothing is connected.
 */
export async function checkProviders(
  bot: BotContent,
  world: ValidationWorld,
  today = new Date().toISOString().slice(0, 10),
): Promise<BotFinding[]> {
  const hasTools = bot.tools.length > 0 || bot.voicemail_detection?.enabled === true;
  const origins = await world.providerOrigins();
  const found: BotFinding[] = [];
  for (const block of blocksOf(bot)) {
    const address = checkProviderAddress(block.config, origins);
    if (address) {
      found.push(finding(block, address.severity, 'provider_address', address.sentence, 'base_url'));
      if (address.severity === 'error') continue;
    }
    const settings = await checkSettings(block, { hasTools, today });
    found.push(...settings);
    if (settings.some(({ severity }) => severity === 'error')) continue;
    found.push(...(await checkKey(block, world, origins)));
  }
  return found;
}

/** Engines of this machine take no key. */
function isKeyless({ provider }: ProviderConfig): boolean {
  return vendorOf(provider)?.accounts.length === 0;
}

function blocksOf(bot: BotContent): Block[] {
  const blocks: Block[] = [];
  const add = (family: Family, whole: ProviderConfig, pointer: string) => {
    const { fallbacks = [], ...first } = whole;
    blocks.push({ family, config: first as ProviderConfig, pointer });
    for (const [index, config] of fallbacks.entries()) {
      blocks.push({ family, config, pointer: `${pointer}/fallbacks/${index}` });
    }
  };
  for (const family of ['stt', 'llm', 'tts'] as const) add(family, bot[family], `/${family}`);
  if (bot.post_call_llm) add('llm', bot.post_call_llm, '/post_call_llm');
  return blocks;
}

/** The tables of what models take, then the provider's own client, as at the start of a call. */
async function checkSettings(block: Block, use: { hasTools: boolean; today: string }): Promise<BotFinding[]> {
  const { family, config, pointer } = block;
  const hasTools = use.hasTools && !pointer.startsWith('/post_call_llm');
  const known = tableFindings(block, { ...use, hasTools });
  if (known.some(({ severity }) => severity === 'error')) return known;
  const needsKey = !isKeyless(config) && !hasOwnKey(config);
  try {
    const client = await OPEN[family](needsKey ? { ...config, api_key: KEY_FOR_CHECKING } : config);
    if ('close' in client) await client.close();
    return known;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const severity = error.code === 'engine_missing' ? 'warning' : 'error';
    // Only a key of the block itself is a place in the bot; `rules[0].pattern` is for reading.
    const key = /^\w+\.([a-z][a-z_]*)$/.exec(String(error.details.key ?? ''))?.[1];
    return [...known, finding(block, severity, 'provider', error.message, key)];
  }
}

function tableFindings(block: Block, use: { hasTools: boolean; today: string }): BotFinding[] {
  const { family, config } = block;
  if (family === 'llm') {
    const models = findProvider('llm', config.provider)?.models;
    if (!models) return [];
    return checkLlmConfig(models, config, use).map(({ severity, key, sentence }) => {
      const code = key === 'model' ? 'provider_model' : 'provider';
      return finding(block, severity, code, `llm.${key} ${sentence}`, key);
    });
  }
  return family === 'stt' ? sttFindings(block) : ttsFindings(block);
}

/** A vendor brings out models and languages faster than this product does: what is not in a table is a warning. */
function sttFindings(block: Block): BotFinding[] {
  const { model, language, provider } = block.config;
  const known = findProvider('stt', provider)?.models;
  if (!known || providerPlace(block.config).kind !== 'vendor') return [];
  const found: BotFinding[] = [];
  if (model !== undefined && !known.models.includes(model)) {
    found.push(unknownModel(block, model, known.models));
  }
  if (typeof language === 'string' && known.languages !== null && !known.languages.includes(language)) {
    const list = known.languages.join(', ');
    const sentence = `stt.language "${language}" is none that ${provider} is known to hear; known are ${list}`;
    found.push(finding(block, 'warning', 'provider_model', sentence, 'language'));
  }
  return found;
}

function ttsFindings(block: Block): BotFinding[] {
  const { model: name, voice, provider } = block.config;
  const known = findProvider('tts', provider)?.models;
  if (!known || providerPlace(block.config).kind !== 'vendor') return [];
  const model = ttsModel(known, name ?? known.defaultModel);
  if (!model) {
    const names = known.models.map((row) => row.name);
    return [unknownModel(block, String(name), names)];
  }
  const found: BotFinding[] = [];
  if (!model.realtime) {
    const sentence = `tts.model "${model.name}" is too slow for a call; use ${known.defaultModel}`;
    found.push(finding(block, 'warning', 'provider_model', sentence, 'model'));
  }
  const voices = known.voices[model.name] ?? [];
  if (typeof voice === 'string' && voices.length > 0 && !voices.includes(voice)) {
    const sentence = `tts.voice "${voice}" is none that ${model.name} is known to have`;
    found.push(finding(block, 'warning', 'provider_model', sentence, 'voice'));
  }
  return found;
}

function unknownModel(block: Block, model: string, known: readonly string[]): BotFinding {
  const sentence = `${block.family}.model "${model}" is not in the table of known models (${known.join(', ')})`;
  return finding(block, 'warning', 'provider_model', sentence, 'model');
}

/** Whether the provider will have a key, where it needs one. */
async function checkKey(
  block: Block,
  world: ValidationWorld,
  origins: readonly string[],
): Promise<BotFinding[]> {
  const { config } = block;
  if (isKeyless(config) || hasOwnKey(config)) return [];
  const name = keyName(config.provider);
  const isConfigured = await world.hasProviderKey(name);
  if (mayReceiveKey(config, origins)) {
    // A listed server of one's own may well want none.
    if (isConfigured || providerPlace(config).kind !== 'vendor') return [];
    const sentence = `the system settings have no key for ${config.provider}`;
    return [finding(block, 'warning', 'provider_key', sentence)];
  }
  // Servers on the own network take calls without a key.
  const isLocalKind = vendorOf(config.provider)?.hasLocalServers === true;
  if (isLocalKind && !isConfigured) return [];
  const sentence =
    `the ${name} key of the system settings is not sent to the host of base_url; ` +
    'an admin may list its origin in provider_origins';
  return [finding(block, isLocalKind ? 'warning' : 'error', 'provider_key', sentence, 'base_url')];
}

function finding(
  block: Block,
  severity: BotFinding['severity'],
  code: BotFinding['code'],
  message: string,
  key?: string,
): BotFinding {
  return { severity, code, pointer: key === undefined ? block.pointer : `${block.pointer}/${key}`, message };
}
