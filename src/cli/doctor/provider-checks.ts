import { KEYED_PROVIDERS, type KeyedProvider } from '../../contracts/setting-names.ts';
import { describeError } from '../../platform/app-error.ts';
import { httpCall } from '../../platform/http-client.ts';
import type { Settings } from '../../platform/settings.ts';
import type { Finding } from './finding.ts';
import { type Ask, runningPlane } from './running-plane.ts';

const REACH_MS = 5_000;
const MAX_BYTES = 4 * 1_048_576;
/** Bots whose providers are looked at, and servers of their own that are tried; more make a doctor slow. */
const MAX_BOTS = 50;
const MAX_SERVERS = 20;

/**
 * Whether the keys in the system settings are accepted and the servers that bots name can be reached. Nothing here
 * costs money: keys are tried at addresses that list models or voices. The keys are sealed in the store, so the running
 * control plane asks; without one there is nothing to check.
 */
export async function checkProviderAccess(settings: Settings): Promise<Finding[]> {
  if (settings.role === 'worker') return [];
  const ask = runningPlane(settings);
  if (ask === null) return notRunning(settings);
  try {
    const view = await ask('GET', '/settings');
    if (view.status !== 200) return notRunning(settings);
    const { secrets } = view.json as { secrets: Record<string, { set: boolean } | undefined> };
    const keyed = KEYED_PROVIDERS.filter((name) => secrets[`${name}_api_key`]?.set === true);
    const tried = await Promise.all(keyed.map((name) => tryKey(name, ask)));
    return [...tried.flat(), ...(await checkOwnServers(ask))];
  } catch {
    return notRunning(settings);
  }
}

function notRunning(settings: Settings): Finding[] {
  const keys = KEYED_PROVIDERS.filter((name) => settings.seeds[`${name}_api_key`] !== undefined);
  if (keys.length === 0) return [];
  const text = `keys for ${keys.join(', ')} stand in the environment; they are tried while the appliance runs`;
  return [{ name: 'providers', status: 'ok', text }];
}

async function tryKey(provider: KeyedProvider, ask: Ask): Promise<Finding[]> {
  const name = `provider ${provider}`;
  const answer = await ask('POST', `/settings/probe/${provider}`);
  // The plane that runs may be of another version and know fewer accounts.
  if (answer.status === 404 || answer.status === 422) return [];
  if (answer.status !== 200) {
    const advice = 'wait a minute and run this again';
    return [{ name, status: 'warn', text: `the key could not be tried (${answer.status})`, advice }];
  }
  const { outcome, detail } = answer.json as { outcome: string; detail: string };
  if (outcome === 'ok') return [{ name, status: 'ok', text: detail }];
  const advice =
    outcome === 'refused'
      ? `enter a valid ${provider}_api_key in the system settings`
      : `check name resolution, firewall and proxy for the hosts of ${provider} (docs/providers.md)`;
  return [{ name, status: 'warn', text: detail, advice }];
}

/** Servers that bots lead a provider to by `base_url`: any answer at all shows that they are there. */
async function checkOwnServers(ask: Ask): Promise<Finding[]> {
  const list = await ask('GET', `/bots?limit=${MAX_BOTS}`);
  if (list.status !== 200) return [];
  const origins = new Map<string, string>();
  for (const { bot_id: id } of (list.json as { items: { bot_id: string }[] }).items) {
    const bot = await ask('GET', `/bots/${id}`);
    if (bot.status !== 200) continue;
    for (const origin of originsOf(bot.json as Record<string, unknown>)) origins.set(origin, id);
  }
  const servers = [...origins].slice(0, MAX_SERVERS);
  return Promise.all(servers.map(([origin, botId]) => reach(origin, botId)));
}

function originsOf(bot: Record<string, unknown>): string[] {
  const blocks = ['stt', 'llm', 'tts', 'post_call_llm'].flatMap((family) => {
    const block = bot[family] as { fallbacks?: unknown[] } | null | undefined;
    return block ? [block, ...(block.fallbacks ?? [])] : [];
  });
  return blocks.flatMap((block) => {
    const text = (block as { base_url?: unknown }).base_url;
    const http = typeof text === 'string' ? text.replace(/^ws(?=s?:)/, 'http') : '';
    return URL.canParse(http) ? [new URL(http).origin] : [];
  });
}

async function reach(origin: string, botId: string): Promise<Finding> {
  const name = 'provider server';
  try {
    await httpCall(`${origin}/`, { method: 'HEAD', timeoutMs: REACH_MS, maxBytes: MAX_BYTES });
    return { name, status: 'ok', text: `${origin} answers (bot ${botId})` };
  } catch (error) {
    const advice = 'start the server, or correct base_url in the bot; calls use the fallbacks meanwhile';
    return { name, status: 'warn', text: `${origin} (bot ${botId}): ${describeError(error)}`, advice };
  }
}
