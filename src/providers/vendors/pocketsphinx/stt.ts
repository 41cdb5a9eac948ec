import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { AppError } from '../../../platform/app-error.ts';
import { findEngine } from '../../../platform/engine-programs.ts';
import type { ProviderContext } from '../../contract/provider-context.ts';
import { ProviderSettings } from '../../contract/provider-settings.ts';
import type { SpeechToText } from '../../contract/speech-to-text.ts';
import { type DecoderFiles, decoderFiles } from './decoder-files.ts';
import { DecoderSession } from './decoder-session.ts';
import { findPronunciations, PHONES } from './pronunciations.ts';
import { readSpokenGrammar, type SpokenGrammar } from './spoken-grammar.ts';

const MAX_PRONUNCIATIONS = 500;

/**
 * Speech to text by the program pocketsphinx_continuous: one child per call, which hears by the grammar of the bot.
 *
 * Settings: `phrases` (what a caller may say) or `grammar` (a JSGF text; each public rule may stand for a turn);
 * `pronunciations` (word to phones, for words that the dictionary lacks); `reject_others` (true: speech outside the
 * grammar becomes `unclear_text` instead of the nearest phrase); `unclear_text` ('[unclear]'). English only.
 * Throws `bad_provider_config` naming the key, and `engine_missing` with the packages to install.
 */
export async function createPocketsphinx(
  config: ProviderConfig,
  { sampleRate }: ProviderContext,
): Promise<SpeechToText> {
  const settings = new ProviderSettings('stt', config);
  const grammar = readSpokenGrammar(config);
  const rejectsOthers = settings.flag('reject_others', true);
  const unclearText = settings.text('unclear_text', { maximumLength: 100 }) ?? '[unclear]';
  if (!findEngine('pocketsphinx_continuous')) {
    throw new AppError(
      'engine_missing',
      'pocketsphinx is not installed; run "apt-get install pocketsphinx pocketsphinx-en-us" or "npm run setup"',
    );
  }
  const files = await buildFiles(settings, grammar, rejectsOthers);
  return {
    name: 'pocketsphinx',
    model: 'en-us',
    wantsSilence: false,
    open: (handlers) => DecoderSession.open({ files, unclearText, sampleRate }, handlers),
  };
}

async function buildFiles(
  settings: ProviderSettings,
  grammar: SpokenGrammar,
  rejectsOthers: boolean,
): Promise<DecoderFiles> {
  const own = readPronunciations(settings);
  const found = await findPronunciations(grammar.words.filter((word) => !own.has(word)));
  const unknown = [...found].filter(([, ways]) => ways.length === 0).map(([word]) => word);
  if (unknown.length > 0) {
    const key = settings.raw('grammar') === undefined ? 'phrases' : 'grammar';
    const named = unknown.slice(0, 20).join(', ');
    throw settings.refusal(
      key,
      `has words that the dictionary lacks: ${named}; say how they sound in stt.pronunciations or use other words`,
    );
  }
  const words = grammar.words.map((word) => [word, own.get(word) ?? found.get(word) ?? []] as const);
  return decoderFiles(grammar, new Map(words), rejectsOthers);
}

function readPronunciations(settings: ProviderSettings): Map<string, string[]> {
  const value = settings.raw('pronunciations') ?? {};
  const entries = typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : null;
  if (entries === null || entries.length > MAX_PRONUNCIATIONS) {
    throw settings.refusal('pronunciations', `must map at most ${MAX_PRONUNCIATIONS} words to phones`);
  }
  return new Map(
    entries.map(([word, phones]) => {
      const spoken = typeof phones === 'string' ? phones.trim().toUpperCase().split(/\s+/) : [];
      if (spoken.length === 0 || spoken.length > 40 || !spoken.every((phone) => PHONES.includes(phone))) {
        throw settings.refusal(
          `pronunciations.${word}`,
          'must be 1 to 40 phones such as "HH AH L OW"; the dictionary of pocketsphinx-en-us shows more',
        );
      }
      return [word.toLowerCase(), [spoken.join(' ')]];
    }),
  );
}
