import type { TransferOrder } from '../transfer/transfer-order.ts';

/** What the bot can do besides talking, as the loop of the language model knows it. */
export interface CallTool {
  readonly name: string;
  /** A tool of the platform; events name any other `custom` (R169). */
  readonly isBuiltIn: boolean;
  /** As the language model is told of it: `{type: 'function', function: {name, description, parameters}}`. */
  readonly declaration: Record<string, unknown>;
  /** It changes something outside this call: an interruption never cancels it, and it never runs twice (RT-49). */
  readonly isSideEffect: boolean;
  /** It waits for the caller to do something, so its time is none that the caller waits for. */
  readonly waitsForCaller?: boolean;
  /** How long its result is waited for. */
  readonly timeoutMs: number;
  /** Said while the caller would otherwise wait in silence. */
  readonly filler: string | null;
  /** Never rejects for what can go wrong outside; a rejection is a fault of ours and becomes a failed outcome. */
  run(args: Record<string, unknown>, context: ToolContext): ToolOutcome | Promise<ToolOutcome>;
}

export interface ToolContext {
  /** Ends a tool that only reads; tools with a side effect are given one that never fires. */
  signal: AbortSignal;
  /** The same for the same call, turn, tool and arguments, and for nothing else. */
  idempotencyKey: string;
}

export interface ToolOutcome {
  /** `ok`, `failed`, `timeout`, `no_number_configured`, ...: what the events of the call say. */
  status: string;
  /** What the language model is told. */
  result: unknown;
  error?: string;
  note?: string;
  /** Heard by the far end after the words before the tool, at line rate: tones. */
  sound?: Int16Array;
  /** What is done once the caller has heard the reply. */
  after?: AfterSpeech;
}

/** What follows a reply that was heard to its end. */
export type AfterSpeech =
  | { kind: 'end_call'; reason: string }
  | { kind: 'transfer'; order: TransferOrder }
  /** To a person at the agent desk; `message` is what the caller hears before. */
  | { kind: 'handoff'; reason: string; message: string }
  | { kind: 'voicemail'; reason: string };

/** The reason that a model gave for what it did; shortened, since it goes into events and results. */
export function reasonOf(args: Record<string, unknown>): string {
  return typeof args.reason === 'string' ? args.reason.trim().slice(0, MAX_REASON_CHARS) : '';
}

const MAX_REASON_CHARS = 500;

/** {@link CallTool.declaration} of an entry in the config; a foreign control plane may declare a function as such. */
export function declarationOf(tool: Record<string, unknown>): Record<string, unknown> {
  if (typeof tool.function === 'object' && tool.function !== null) {
    return { type: 'function', function: tool.function };
  }
  const { name, description, parameters } = tool;
  return { type: 'function', function: { name, description, parameters } };
}
