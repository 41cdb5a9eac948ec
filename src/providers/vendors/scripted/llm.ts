import type { ProviderConfig } from '../../../contracts/runtime-config.ts';
import { AppError } from '../../../platform/app-error.ts';
import { monotonicMs } from '../../../platform/clock.ts';
import { untilAborted, waitUntil } from '../../connect/abortable-wait.ts';
import type { ChatMessage, LanguageModel, LlmDelta, LlmRequest } from '../../contract/language-model.ts';
import { ProviderSettings } from '../../contract/provider-settings.ts';
import { fillCaptures, matchRule, type RuleScript, readRuleScript } from './rule-script.ts';

interface Pace {
  firstTokenMs: number;
  /** 0: no pause between tokens. */
  tokensPerSecond: number;
}

interface Failure {
  onTurn: number;
  afterTokens: number;
  kind: 'error' | 'stall';
}

/** What is going to be said and done in one answer. */
interface Plan {
  intent: string;
  text: string;
  calls: { name: string; args: Record<string, unknown> }[];
}

/** Of a tool's result only this much can be spoken. */
const MAX_RESULT_LENGTH = 500;

/**
 * A language model that follows the rules written in the bot (rule-script.ts), for demos, tests and menu-like bots.
 * An answer is: the note `rule:<intent>`, the text word by word, the tool calls, the usage. A word counts as a token.
 *
 * Settings: `rules` (`intent`, `pattern`, `reply`, `end`, `tool {name, args, reply}`), `fallback`, `no_input`,
 * `first_token_ms` (0), `tokens_per_second` (0: at once), `fail {on_turn, after_tokens, kind: error | stall}`.
 * The tool's own `reply` is said when its result comes back; `{result}` stands for the result.
 */
export async function createScriptedLlm(config: ProviderConfig): Promise<LanguageModel> {
  const settings = new ProviderSettings('llm', config);
  const script = readRuleScript(config);
  const failure = readFailure(settings);
  const pace = {
    firstTokenMs: settings.number('first_token_ms', { fallback: 0, minimum: 0, maximum: 60_000 }),
    tokensPerSecond: settings.number('tokens_per_second', { fallback: 0, minimum: 0, maximum: 10_000 }),
  };
  const cycle = replyCycle();
  let turn = 0;

  return {
    name: 'scripted',
    model: config.model ?? null,
    answer(request, signal) {
      turn++;
      const plan = planAnswer(script, request, cycle);
      const failing = failure?.onTurn === turn ? failure : null;
      return streamPlan(plan, { request, pace, turn, failing, signal });
    },
    async close() {},
  };
}

interface Streaming {
  request: LlmRequest;
  pace: Pace;
  turn: number;
  failing: Failure | null;
  signal: AbortSignal;
}

async function* streamPlan(plan: Plan, how: Streaming): AsyncGenerator<LlmDelta> {
  const { pace, failing, signal } = how;
  const startMs = monotonicMs() + pace.firstTokenMs;
  signal.throwIfAborted();
  yield { type: 'note', note: `rule:${plan.intent}` };
  await waitUntil(startMs, signal);
  const tokens = tokensOf(plan.text);
  for (const [index, text] of tokens.entries()) {
    if (failing && index >= failing.afterTokens) await fail(failing, signal);
    // Deadlines count from the start: a consumer that was slow once is not slowed for the rest of the answer.
    if (pace.tokensPerSecond > 0) await waitUntil(startMs + (index * 1000) / pace.tokensPerSecond, signal);
    signal.throwIfAborted();
    yield { type: 'text', text };
  }
  if (failing) await fail(failing, signal);
  for (const [index, call] of plan.calls.entries()) {
    signal.throwIfAborted();
    yield { type: 'tool_call', call: { id: `scripted-${how.turn}-${index}-${plan.intent}`, ...call } };
  }
  signal.throwIfAborted();
  yield {
    type: 'usage',
    usage: {
      promptTokens: promptWords(how.request),
      completionTokens: tokens.length,
      cacheReadTokens: null,
      cacheCreationTokens: null,
    },
  };
  signal.throwIfAborted();
}

async function fail(failure: Failure, signal: AbortSignal): Promise<never> {
  if (failure.kind === 'stall') return untilAborted(signal);
  signal.throwIfAborted();
  throw new AppError('provider_failed', `the script fails answer ${failure.onTurn}`);
}

/** Work after the call asks by its system prompt, and the transcript is what it is about: the rules read the prompt. */
function planAnswer(script: RuleScript, request: LlmRequest, cycle: ReplyCycle): Plan {
  const last = request.messages.at(-1);
  if (last?.role === 'tool') return planAfterTool(script, last, cycle);
  const lastSaid = request.messages.findLast((message) => message.role === 'user')?.text ?? '';
  const said = request.json ? request.system : lastSaid;
  const { reply, captures } = matchRule(script, said);
  const calls: Plan['calls'] = [];
  if (reply.tool) {
    const filled = Object.entries(reply.tool.args).map(([key, value]) => [
      key,
      typeof value === 'string' ? fillCaptures(value, captures) : value,
    ]);
    calls.push({ name: reply.tool.name, args: Object.fromEntries(filled) });
  }
  if (reply.end) calls.push({ name: 'end_call', args: {} });
  return { intent: reply.intent, text: fillCaptures(cycle(reply, reply.replies), captures), calls };
}

/** The id of a call ends with the intent that made it, which is all that must be remembered until the result. */
function planAfterTool(script: RuleScript, result: ChatMessage & { role: 'tool' }, cycle: ReplyCycle): Plan {
  const intent = /^scripted-\d+-\d+-(.+)$/.exec(result.callId)?.[1];
  const rule = [...script.rules, script.fallback, script.noInput].find(
    (candidate) => candidate.intent === intent && candidate.tool?.name === result.name,
  );
  const replies = rule?.tool?.replies ?? [];
  if (!rule || replies.length === 0) return { intent: intent ?? 'tool_result', text: '', calls: [] };
  const spoken = typeof result.result === 'string' ? result.result : (JSON.stringify(result.result) ?? '');
  const text = cycle(replies, replies).replaceAll('{result}', () => spoken.slice(0, MAX_RESULT_LENGTH));
  return { intent: rule.intent, text, calls: [] };
}

type ReplyCycle = (owner: object, replies: readonly string[]) => string;

/** Hands out the texts of each owner one after another, beginning again after the last. */
function replyCycle(): ReplyCycle {
  const used = new WeakMap<object, number>();
  return (owner, replies) => {
    const count = used.get(owner) ?? 0;
    used.set(owner, count + 1);
    return replies[count % replies.length] ?? '';
  };
}

/** Words with the white space that follows them, so that the tokens joined are the text. */
function tokensOf(text: string): string[] {
  return text.match(/\S+\s*/g) ?? [];
}

function promptWords(request: LlmRequest): number {
  const texts = request.messages.map((message) =>
    message.role === 'tool' ? (JSON.stringify(message.result) ?? '') : message.text,
  );
  return [request.system, ...texts].reduce((sum, text) => sum + tokensOf(text).length, 0);
}

function readFailure(settings: ProviderSettings): Failure | null {
  const value = settings.raw('fail');
  if (value === undefined) return null;
  if (typeof value !== 'object' || Array.isArray(value)) throw settings.refusal('fail', 'must be an object');
  const inner = new ProviderSettings('llm.fail', value as Record<string, unknown>);
  const kind = inner.raw('kind') ?? 'error';
  if (kind !== 'error' && kind !== 'stall') throw inner.refusal('kind', 'must be "error" or "stall"');
  return {
    onTurn: inner.number('on_turn', { fallback: 1, minimum: 1, maximum: 100_000, whole: true }),
    afterTokens: inner.number('after_tokens', { fallback: 0, minimum: 0, maximum: 100_000, whole: true }),
    kind,
  };
}
