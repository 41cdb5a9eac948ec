import { type Check, matches } from '../../src/cli/scenario/judge-scenario.ts';
import type { Scenario } from '../../src/cli/scenario/scenario-format.ts';
import { type FluxOptions, startFlux } from '../emulators/deepgram-flux.ts';
import type { ScriptedAnswer } from '../emulators/llm/answer.ts';
import { startOpenAi } from '../emulators/openai.ts';

/** What the key `world` of a scenario may ask for; the tests own these config inputs. */
interface WantedProviders {
  /** How the config route answers. */
  config?: { status?: number; delay_ms?: number };
  /** Answers of an OpenAI model, one per request, and what its requests must have held at the end, in order. */
  llm?: { answers: ScriptedAnswer[]; requests?: unknown[]; request_count?: number };
  /** An engine that detects turns: its texts and its habits. */
  flux?: { texts: string[]; quirks?: FluxOptions['quirks']; answer_delay_ms?: number };
}

export interface ScenarioProviders {
  bot: Record<string, unknown>;
  config(body: unknown): { status: number; body: unknown; delayMs?: number };
  /** What the config inputs have seen, after the call. */
  judge(): Check[];
  close(): Promise<void>;
}

const KNOWN = ['config', 'llm', 'flux'];

/** Builds what a scenario needs around the appliance. Throws when it asks for something unknown. */
export async function startScenarioProviders(scenario: Scenario): Promise<ScenarioProviders> {
  const unknown = Object.keys(scenario.world).find((key) => !KNOWN.includes(key));
  if (unknown) throw new Error(`the tests have no "${unknown}" for the world of a scenario`);
  const wish = scenario.world as WantedProviders;
  const closers: (() => Promise<void>)[] = [];
  const judges: (() => Check[])[] = [];
  let bot = scenario.bot;
  if (wish.llm) {
    const { answers, requests = [], request_count: count } = wish.llm;
    const openai = await startOpenAi();
    openai.desk.script(...answers);
    closers.push(() => openai.close());
    const { served } = openai.desk;
    judges.push(() => [
      ...requests.map((like, index) => ({
        what: `request ${index} to the model holds ${JSON.stringify(like)}`,
        ok: matches(served[index]?.body, like),
        found: JSON.stringify(served[index]?.body ?? 'it never came').slice(0, 2_000),
      })),
      ...(count === undefined
        ? []
        : [
            {
              what: `the model is asked ${count} times`,
              ok: served.length === count,
              found: `${served.length}`,
            },
          ]),
    ]);
    const llm = { provider: 'openai', model: 'gpt-6-luna', api_key: openai.apiKey, base_url: openai.url };
    bot = { ...bot, llm: { ...llm, ...(bot.llm as object | undefined) } };
  }
  if (wish.flux) {
    const { texts, quirks, answer_delay_ms: answerDelayMs } = wish.flux;
    const flux = await startFlux({
      hearing: { texts },
      ...(quirks ? { quirks } : {}),
      ...(answerDelayMs ? { answerDelayMs } : {}),
    });
    closers.push(() => flux.close());
    const stt = { provider: 'deepgram_flux', api_key: flux.key, base_url: flux.wsUrl };
    bot = { ...bot, stt: { ...stt, ...(bot.stt as object | undefined) } };
  }
  return {
    bot,
    config: (body) => ({
      status: wish.config?.status ?? 200,
      body: wish.config?.status && wish.config.status !== 200 ? { detail: 'as the scenario wants it' } : body,
      ...(wish.config?.delay_ms ? { delayMs: wish.config.delay_ms } : {}),
    }),
    judge: () => judges.flatMap((judge) => judge()),
    close: async () => {
      for (const close of closers) await close();
    },
  };
}
