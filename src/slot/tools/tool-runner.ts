import { createHash } from 'node:crypto';
import type { CallEventName } from '../../contracts/call-events.ts';
import { describeError } from '../../platform/app-error.ts';
import { monotonicMs, within } from '../../platform/clock.ts';
import type { ToolCall } from '../../providers/contract/language-model.ts';
import type { CallTool, ToolOutcome } from './call-tool.ts';
import { maskArgs } from './mask-args.ts';
import type { ToolBox } from './tool-box.ts';

/** Tools that one call may run; a model that goes round in circles stops here. */
const MAX_RUNS = 200;

/** The turn for which a tool is wanted. */
export interface ToolTurn {
  id: number;
  /** The caller was understood too poorly to act on it (RT-83). */
  isUncertain: boolean;
  /** When the model was asked, on the monotonic clock: it knows of nothing that came later. */
  askedAtMs: number;
  /** The reply is over: tools that only read end with it. */
  signal: AbortSignal;
}

export interface ToolRunnerParts {
  sessionId: string;
  toolBox: ToolBox;
  /** Writes an event of the call. */
  report: (event: CallEventName, detail: Record<string, unknown>) => void;
}

/** A tool at work, or done. */
export interface ToolRun {
  tool: CallTool | null;
  /** Something that cannot be taken back has begun with it. */
  isBinding: boolean;
  /** Never rejects. */
  outcome: Promise<ToolOutcome>;
}

/**
 * Runs the tools of a call. An act that has begun is never cancelled and never begun twice (RT-49): the same call of the
 * same turn gets the first one's result, and so does the same call of a later turn by a model that had not seen it yet.
 */
export class ToolRunner {
  private readonly parts: ToolRunnerParts;
  /** Acts by their idempotency key. */
  private readonly acts = new Map<string, ToolRun>();
  /** The latest act by tool and arguments, and when it was done. */
  private readonly latest = new Map<string, { run: ToolRun; endedAtMs: number }>();
  private runs = 0;
  /** Why tools that only read are ended once the call is over. */
  private callEnd: ToolOutcome | null = null;

  constructor(parts: ToolRunnerParts) {
    this.parts = parts;
  }

  /** Begins at once. */
  run(call: ToolCall, turn: ToolTurn): ToolRun {
    const tool = this.parts.toolBox.get(call.name);
    if (!tool) return this.instead(call, null, refusal('unknown_tool', 'there is no tool of that name'));
    if (++this.runs > MAX_RUNS) {
      return this.instead(call, tool, refusal('too_many_calls', 'no more tools are run in this call'));
    }
    if (!tool.isSideEffect) return this.begin(call, tool, turn, turn.signal);
    if (turn.isUncertain) {
      const why = 'the caller was hard to understand; ask them to confirm before you do this';
      return this.instead(call, tool, refusal('not_confirmed', why));
    }
    return this.act(call, tool, turn);
  }

  /** Waits for acts under way, so that what they did stands in the results. */
  async settle(timeoutMs: number): Promise<void> {
    const outcomes = [...this.acts.values()].map(({ outcome }) => outcome);
    if (outcomes.length > 0) await within(Promise.all(outcomes), timeoutMs, null);
  }

  /** The call is over, by the caller or otherwise: what is ended from here on was not spoken over. */
  callEnded(byCaller: boolean): void {
    this.callEnd = byCaller
      ? refusal('hung_up', 'the caller hung up before the tool was done')
      : refusal('call_ended', 'the call ended before the tool was done');
  }

  private act(call: ToolCall, tool: CallTool, turn: ToolTurn): ToolRun {
    const key = this.keyOf(call, turn);
    const same = `${call.name} ${argsHash(call.args)}`;
    const before = this.latest.get(same);
    const isUnseen = before !== undefined && before.endedAtMs >= turn.askedAtMs;
    const known = this.acts.get(key) ?? (isUnseen ? before.run : undefined);
    if (known) {
      this.report('tool_call', call, tool, { status: 'repeated', note: 'the first run counts' });
      return known;
    }
    const run = this.begin(call, tool, turn, NEVER);
    this.acts.set(key, run);
    const act = { run, endedAtMs: Number.POSITIVE_INFINITY };
    this.latest.set(same, act);
    void run.outcome.then(() => {
      act.endedAtMs = monotonicMs();
    });
    return run;
  }

  private begin(call: ToolCall, tool: CallTool, turn: ToolTurn, signal: AbortSignal): ToolRun {
    const startedAtMs = monotonicMs();
    const context = { signal, idempotencyKey: this.keyOf(call, turn) };
    let told: ToolOutcome | Promise<ToolOutcome>;
    try {
      told = tool.run(call.args, context);
    } catch (error) {
      told = failed(error);
    }
    if (!(told instanceof Promise)) {
      this.report('tool_call', call, tool, told);
      return { tool, isBinding: tool.isSideEffect && told.status === 'ok', outcome: Promise.resolve(told) };
    }
    this.report('tool_call', call, tool, { status: 'started' });
    const outcome = told
      .catch((error: unknown) => (signal.aborted ? (this.callEnd ?? SPOKEN_OVER) : failed(error)))
      .then((result) => {
        const detail = { ...result, duration_ms: Math.round(monotonicMs() - startedAtMs) };
        this.report('tool_result', call, tool, detail);
        return result;
      });
    return { tool, isBinding: tool.isSideEffect, outcome };
  }

  private instead(call: ToolCall, tool: CallTool | null, outcome: ToolOutcome): ToolRun {
    this.report('tool_call', call, tool, outcome);
    return { tool, isBinding: false, outcome: Promise.resolve(outcome) };
  }

  private keyOf(call: ToolCall, turn: ToolTurn): string {
    return idempotencyKey({
      sessionId: this.parts.sessionId,
      turnId: turn.id,
      tool: call.name,
      args: call.args,
    });
  }

  /** What a tool call leaves in the events (R169): `function`, `args`, `status`, `error`, `duration_ms`, `note`. */
  private report(
    event: 'tool_call' | 'tool_result',
    call: ToolCall,
    tool: CallTool | null,
    detail: { status: string; error?: string; note?: string; duration_ms?: number },
  ): void {
    const schema = (tool?.declaration.function as Record<string, unknown> | undefined)?.parameters;
    this.parts.report(event, {
      function: tool?.isBuiltIn ? call.name : 'custom',
      ...(tool?.isBuiltIn ? {} : { tool: call.name.slice(0, 64) }),
      args: maskArgs(call.args, schema),
      status: detail.status,
      ...(detail.duration_ms === undefined ? {} : { duration_ms: detail.duration_ms }),
      ...(detail.error === undefined ? {} : { error: detail.error }),
      ...(detail.note === undefined ? {} : { note: detail.note }),
    });
  }
}

/** Acts are not cancelled by anybody. */
const NEVER = new AbortController().signal;

function refusal(status: string, error: string): ToolOutcome {
  return { status, result: { error }, error };
}

const SPOKEN_OVER = refusal('interrupted', 'the caller spoke before the tool was done');

function failed(error: unknown): ToolOutcome {
  return refusal('failed', `the tool failed: ${describeError(error)}`);
}

/**
 * Names one intended act (RT-49): the same call, turn, tool and arguments give the same key, in whatever order a model
 * writes its arguments. A server that honours `Idempotency-Key` does the act once, however often it is asked.
 */
export function idempotencyKey(act: {
  sessionId: string;
  turnId: number;
  tool: string;
  args: Record<string, unknown>;
}): string {
  const text = JSON.stringify([act.sessionId, act.turnId, act.tool, argsHash(act.args)]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** The same for equal arguments in any order of their keys. */
export function argsHash(args: Record<string, unknown>): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(args, 0)))
    .digest('hex')
    .slice(0, 32);
}

/** Deeper arguments than a schema could ask for are told apart as text only. */
const MAX_DEPTH = 20;

function sorted(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((inner) => sorted(inner, depth + 1));
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner, depth + 1)]);
}
