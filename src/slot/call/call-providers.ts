import { join } from 'node:path';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { describeError } from '../../platform/app-error.ts';
import { within } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { realClock } from '../../providers/contract/provider-clock.ts';
import type { ProviderContext, ProviderTrouble } from '../../providers/contract/provider-context.ts';
import { type CallProviders, openResilientProviders } from '../../providers/resilient/open-resilient.ts';
import type { ProviderHealth } from '../../providers/resilient/provider-health.ts';
import { fillerLines } from '../../providers/spoken-lines/filler-lines.ts';
import { type RescueLines, rescueLines, spokenLanguage } from '../../providers/spoken-lines/rescue-lines.ts';
import { SPEECH_CACHE_FOLDER, SpeechCache } from '../../providers/spoken-lines/speech-cache.ts';
import { type HearingHz, hearingRate } from '../audio/hearing-rate.ts';
import { liveSystemParts, openLivePromptCache } from '../main-link/prompt-cache-client.ts';
import type { CallLog } from '../record/call-log.ts';
import { tokenCounts } from '../record/token-counts.ts';
import { LineCache } from '../speak/line-cache.ts';
import { predictedWaitMs } from '../speak/predicted-wait.ts';
import { type SpeakableOptions, speakableOptions } from '../speak/text/to-speakable.ts';
import { declaredTools } from '../think/declared-tools.ts';
import { finalWaitSamples } from '../turn/final-wait.ts';

/** Connections that are opened ahead get so long; the call has begun by then and opens what it needs itself. */
const WARM_BOUND_MS = 5_000;
/** Lines that the disk lacks are rendered after the call; the slot counts as busy for no longer than this. */
const RENDER_BOUND_MS = 10_000;
const DEFAULT_LANGUAGE = 'en';
/** What happened inside a client and did the caller no harm. */
const HARMLESS: ReadonlySet<ProviderTrouble['event']> = new Set([
  'provider_cache',
  'provider_request',
  'history_repaired',
]);

/** The three steps of one call with everything that they share, from the config to the end of the call. */
export interface OpenedProviders extends CallProviders {
  context: ProviderContext;
  /** The rate of the audio that speech to text wants to be fed. */
  hearHz: HearingHz;
  lines: LineCache;
  rescueLines: RescueLines;
  /** How texts are put into words for the voice. */
  speakable: SpeakableOptions;
  /** From the text of a turn to the first sound of its answer; null while that is unknown (RT-45). */
  predictedWaitMs(): number | null;
  /** How long the text of a finished turn is waited for now, in samples (RT-06). */
  finalWaitSamples(): number;
  /** Called when speech to text is in trouble: its text will come late. */
  onHearingTrouble(listener: () => void): void;
  /** Troubles of speech to text so far. */
  hearingTroubles(): number;
  /** Troubles of all steps so far. */
  troubles(): number;
  /** After the conversation, ahead of its result: renders the lines that later calls will want. Never rejects. */
  renderLines(): Promise<void>;
  /** Gives back what the call held. Idempotent. */
  finish(): void;
}

/**
 * Opens the providers of a call and at once their connections (RT-60), and reads the lines that are kept on disk.
 * Throws `bad_provider_config`.
 */
export async function openProviders(
  config: RuntimeConfig,
  parts: {
    dataDir: string;
    providerHealth: ProviderHealth;
    logger: Logger;
    /** Takes what the call's record should tell. */
    report: ProviderContext['report'];
    /** Takes what was used beside the conversation. */
    meter: CallLog['metric'];
    /** The rate that the line hears the caller at; 8 kHz where it is absent. */
    hearHz?: number;
  },
): Promise<OpenedProviders> {
  const { logger } = parts;
  const hearHz = hearingRate(config.stt, parts.hearHz ?? LINE_RATE_HZ);
  const promptCache = openLivePromptCache(config);
  const counts = { stt: 0, llm: 0, tts: 0 };
  let hearingTrouble: () => void = () => undefined;
  const context: ProviderContext = {
    sampleRate: LINE_RATE_HZ,
    clock: realClock,
    report(trouble) {
      if (!HARMLESS.has(trouble.event)) counts[trouble.family]++;
      parts.report(trouble);
      if (trouble.family === 'stt') hearingTrouble();
    },
    accepted({ waitMs, requestId, ...whom }) {
      parts.report({
        event: 'provider_request',
        ...whom,
        wait_ms: Math.round(waitMs),
        ...(requestId === null ? {} : { request_id: requestId }),
      });
    },
    wasted({ provider, model, usage }) {
      parts.meter({ type: 'llm', processor: provider, model, ...tokenCounts(usage), discarded: true });
    },
    ...(promptCache ? { promptCache } : {}),
  };
  const spoken = rescueLines(config);
  const speakable = speakableOptions(spokenLanguage(config) ?? DEFAULT_LANGUAGE, config.pronunciations ?? []);
  const lines = new LineCache({
    cache: new SpeechCache(join(parts.dataDir, SPEECH_CACHE_FOLDER)),
    voice: config.tts,
    texts: linesToKeep(config, spoken),
    speakable,
    onRendered: (line) => parts.meter({ type: 'tts', ...line }),
    logger,
  });
  const loading = lines.load();
  try {
    const providers = await openResilientProviders(config, context, parts.providerHealth, hearHz);
    warm(config, providers, logger);
    await loading;
    return {
      ...providers,
      context,
      hearHz,
      lines,
      rescueLines: spoken,
      speakable,
      predictedWaitMs: () => predictedWaitMs(config, parts.providerHealth),
      finalWaitSamples: () => finalWaitSamples(config, parts.providerHealth, providers.stt.name),
      onHearingTrouble(listener) {
        hearingTrouble = listener;
      },
      hearingTroubles: () => counts.stt,
      troubles: () => counts.stt + counts.llm + counts.tts,
      finish: () => promptCache?.close(),
      async renderLines() {
        // A voice that has just failed would only hold up the result.
        if (counts.tts === 0) await lines.renderMissing(AbortSignal.timeout(RENDER_BOUND_MS));
      },
    };
  } catch (error) {
    promptCache?.close();
    throw error;
  }
}

/** An opening that holds values of this call is not kept: it fits no other call and may name the caller. */
function linesToKeep(config: RuntimeConfig, rescue: RescueLines): string[] {
  const opening = config.opening_message_fixed === false ? [] : [config.opening_message];
  return [...opening, ...Object.values(rescue), ...fillerLines(config)];
}

/** A failure costs the head start and nothing else, so it is noted and the call tries by itself. */
function warm(config: RuntimeConfig, { llm, tts }: CallProviders, logger: Logger): void {
  const systemParts = liveSystemParts(config);
  const request = {
    system: config.system_prompt,
    tools: declaredTools(config.tools),
    ...(systemParts ? { systemParts } : {}),
  };
  for (const warming of [llm.warm?.(request), tts.warm?.()]) {
    if (!warming) continue;
    void within(warming, WARM_BOUND_MS, undefined).catch((error) => {
      logger.info({ err: describeError(error) }, 'a provider could not be connected ahead');
    });
  }
}
