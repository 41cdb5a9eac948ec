import type { RuntimeConfig } from '../../../src/contracts/runtime-config.ts';
import { network } from '../../../src/platform/guarded-http/network.ts';
import { createGuardedHttp } from '../../../src/platform/guarded-http.ts';
import type { LanguageModel, LlmDelta, LlmRequest } from '../../../src/providers/contract/language-model.ts';
import { SpeakableReply, speakableOptions } from '../../../src/slot/speak/text/to-speakable.ts';
import { Agent, type AgentTurn } from '../../../src/slot/think/agent.ts';
import type { AnswerRecord } from '../../../src/slot/think/think-aloud.ts';
import type { CallTool } from '../../../src/slot/tools/call-tool.ts';
import { createToolBox } from '../../../src/slot/tools/tool-box.ts';

/** One answer of a model: words and calls in order; a function waits or fails first. */
export type Part = string | { name: string; args?: Record<string, unknown>; id?: string } | (() => unknown);

/** A model that gives these answers one after another and keeps what it was asked. */
export class ModelOnPaper implements LanguageModel {
  readonly name = 'paper';
  readonly model = null;
  readonly requests: LlmRequest[] = [];
  private readonly answers: Part[][];
  private calls = 0;

  constructor(...answers: Part[][]) {
    this.answers = answers;
  }

  async *answer(request: LlmRequest, signal: AbortSignal): AsyncGenerator<LlmDelta> {
    // The history goes on changing; what was asked is what stood then.
    this.requests.push(structuredClone(request));
    for (const part of this.answers.shift() ?? []) {
      signal.throwIfAborted();
      if (typeof part === 'function') await part();
      else if (typeof part === 'string') yield { type: 'text', text: part };
      else {
        const { name, args = {}, id = `call-${++this.calls}` } = part;
        yield { type: 'tool_call', call: { id, name, args } };
      }
    }
    signal.throwIfAborted();
    yield { type: 'finish', reason: 'stop' };
  }

  async close(): Promise<void> {}
}

export interface Talk {
  agent: Agent;
  events: { event: string; [key: string]: unknown }[];
  /** What was heard, by reply. */
  heard: Map<number, string>;
  /** Says a turn and hears the whole reply; `hear` may shorten what counts as heard. */
  say(turn: AgentTurn | string): Promise<Said>;
}

export interface Said {
  replyId: number;
  texts: string[];
  asides: string[];
  bounds: boolean[];
  notes: (string | null)[];
  steps: AnswerRecord[];
  answer: ReturnType<Agent['answer']>;
}

/** An agent with this model and these tools, whose replies are heard whole. */
export function talk(
  model: LanguageModel,
  change: Partial<RuntimeConfig> & { extra?: CallTool[]; route?: (port: number) => number } = {},
): Talk {
  const { extra, route, ...fields } = change;
  const config = {
    session_id: 'session-1',
    system_prompt: 'Be kind.',
    tools: [],
    call_context: {},
    crm_context: {},
    sip_context: {},
    ...fields,
  } as unknown as RuntimeConfig;
  config.tools = [...config.tools, ...(extra ?? []).map(({ name }) => ({ name }))];
  const http = createGuardedHttp({
    allowedNetworks: () => [network('10.20.0.0/16')],
    resolve: async (name) => (name.endsWith('.example.test') ? ['10.20.30.40'] : []),
    route: (_address, port) => ({ address: '127.0.0.1', port }),
  });
  const events: Talk['events'] = [];
  const heard = new Map<number, string>();
  const agent = new Agent({
    llm: model,
    config,
    toolBox: createToolBox(config, { http, ...(extra ? { extra } : {}) }),
    heardText: (id) => heard.get(id) ?? '',
    speakableWords: () => new SpeakableReply(speakableOptions('en')).words,
    report: (event, detail) => events.push({ event, ...detail }),
  });
  let turns = 0;
  let replies = 0;
  return {
    agent,
    events,
    heard,
    async say(said) {
      const turn = typeof said === 'string' ? { id: ++turns, text: said } : said;
      const answer = agent.answer(turn);
      return hearOut(answer, ++replies, heard);
    },
  };
}

export function newSaid(answer: Said['answer'], replyId: number): Said {
  return { replyId, texts: [], asides: [], bounds: [], notes: [], steps: [], answer };
}

/** Hears a reply to its end; `said` fills meanwhile. */
export async function hearOut(
  answer: ReturnType<Agent['answer']>,
  replyId: number,
  heard: Map<number, string>,
  signal: AbortSignal = new AbortController().signal,
  said: Said = newSaid(answer, replyId),
): Promise<Said> {
  answer.bind(replyId);
  const clauses = answer.clauses(signal, {
    onFirstToken: (note) => said.notes.push(note),
    onBound: ({ isProtected }) => said.bounds.push(isProtected),
    onStep: (record) => said.steps.push(record),
  });
  for await (const { text, isAside } of clauses) {
    if (isAside) {
      said.asides.push(text);
      continue;
    }
    said.texts.push(text);
    heard.set(replyId, said.texts.join(' '));
  }
  return said;
}

/** A tool whose end the test decides. */
export function slowTool(change: Partial<CallTool> = {}) {
  const runs: { args: Record<string, unknown>; key: string; aborted: boolean }[] = [];
  let finish: (result: unknown) => void = () => undefined;
  const tool: CallTool = {
    name: 'slow',
    isBuiltIn: false,
    declaration: { type: 'function', function: { name: 'slow', description: '', parameters: {} } },
    isSideEffect: false,
    timeoutMs: 6_000,
    filler: null,
    run(args, { signal, idempotencyKey }) {
      const run = { args, key: idempotencyKey, aborted: false };
      runs.push(run);
      return new Promise((resolve, reject) => {
        finish = (result) => resolve({ status: 'ok', result });
        signal.addEventListener('abort', () => {
          run.aborted = true;
          reject(signal.reason);
        });
      });
    },
    ...change,
  };
  return { tool, runs, finish: (result: unknown) => finish(result) };
}
