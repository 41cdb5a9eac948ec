import type { HttpExchange } from '../kit/http-exchange.ts';
import type { SseWriter } from '../kit/sse-writer.ts';
import type { LlmFault, RefusalKind } from './answer.ts';
import type { AnswerDesk, ServedRequest } from './answer-desk.ts';
import type { StreamFrame } from './stream-frames.ts';

/** An answer without a stream. */
export interface PlainReply {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** One vendor's way to put an answer on the wire. */
export interface WireAnswer {
  /** Null where the client did not ask for a stream: `whole` is the answer. */
  frames: readonly StreamFrame[] | null;
  whole: unknown;
  headers: Record<string, string>;
  lineEnd: '\n' | '\r\n';
  refusal(kind: RefusalKind, retryAfterMs: number | undefined): PlainReply;
  errorEvent(kind: RefusalKind): StreamFrame;
}

/** Sends the answer with its delays and its fault; resolves when the connection has nothing more to come. */
export async function serveAnswer(
  exchange: HttpExchange,
  desk: AnswerDesk,
  served: ServedRequest,
  wire: WireAnswer,
): Promise<void> {
  const { answer } = served;
  const fault = answer.fault;
  const notice = () => {
    if (served.endedAtMs === null) served.aborted = true;
  };
  exchange.aborted.addEventListener('abort', notice, { once: true });
  if (answer.firstByteMs) await pause(desk, answer.firstByteMs, exchange.aborted);
  if (exchange.aborted.aborted) return notice();
  if (fault?.kind === 'silent') return aborted(exchange.aborted);
  if (fault?.kind === 'reset') {
    served.endedAtMs = desk.clock.nowMs();
    return exchange.reset();
  }
  const plain = plainFault(fault, wire) ?? (wire.frames === null ? { status: 200, body: wire.whole } : null);
  if (plain) {
    served.endedAtMs = desk.clock.nowMs();
    return exchange.reply(plain.status, plain.body, { ...wire.headers, ...plain.headers });
  }
  const shape = { lineEnd: wire.lineEnd, ...(answer.splitEvery ? { splitEvery: answer.splitEvery } : {}) };
  const writer = await exchange.sse(shape, wire.headers);
  await playFrames(exchange, desk, served, wire, writer);
}

async function playFrames(
  exchange: HttpExchange,
  desk: AnswerDesk,
  served: ServedRequest,
  wire: WireAnswer,
  writer: SseWriter,
): Promise<void> {
  const { answer } = served;
  const fault = answer.fault;
  const frames = fault?.kind === 'duplicate_final' ? withDoubledEnd(wire.frames ?? []) : (wire.frames ?? []);
  for (const [index, frame] of frames.entries()) {
    if (fault?.kind === 'no_end' && (frame.kind === 'end' || frame.kind === 'done')) continue;
    if (fault?.kind === 'no_done' && frame.kind === 'done') continue;
    if (dueAfter(fault, served.contentEvents, frame)) {
      if (fault?.kind === 'stall') return aborted(exchange.aborted);
      if (fault?.kind !== 'malformed') served.endedAtMs = desk.clock.nowMs();
      await midStream(fault as MidStreamFault, frame, wire, writer);
      if (fault?.kind !== 'malformed') return;
    }
    if (answer.betweenMs && index > 0) await pause(desk, answer.betweenMs, exchange.aborted);
    if (exchange.aborted.aborted) return;
    if (frame.kind === 'content') {
      served.firstContentAtMs ??= desk.clock.nowMs();
      served.contentEvents += 1;
    }
    await send(writer, frame);
  }
  served.endedAtMs = desk.clock.nowMs();
  await writer.end();
}

type MidStreamFault = Extract<LlmFault, { after: number }>;

function dueAfter(fault: LlmFault | undefined, contentEvents: number, next: StreamFrame): boolean {
  if (!fault || !('after' in fault) || contentEvents !== fault.after) return false;
  // Heads come before the first content in any case; the fault stands right before the next content or the end.
  return next.kind === 'content' || next.kind === 'end';
}

async function midStream(
  fault: MidStreamFault,
  next: StreamFrame,
  wire: WireAnswer,
  writer: SseWriter,
): Promise<void> {
  if (fault.kind === 'malformed') {
    // Half of the event that is due, under its own name; the event itself follows.
    await send(writer, { ...next, data: next.data.slice(0, Math.ceil(next.data.length / 2)) });
  } else if (fault.kind === 'error_event') {
    await send(writer, wire.errorEvent(fault.as ?? 'overloaded'));
    await writer.end();
  } else {
    writer.cut();
  }
}

async function send(writer: SseWriter, frame: StreamFrame): Promise<void> {
  if (frame.kind === 'comment') await writer.comment(frame.data);
  else await writer.event(frame.data, frame.event === undefined ? {} : { event: frame.event });
}

function withDoubledEnd(frames: readonly StreamFrame[]): StreamFrame[] {
  const ends = frames.filter((frame) => frame.kind === 'end');
  return [
    ...frames.filter((frame) => frame.kind !== 'done'),
    ...ends,
    ...frames.filter((frame) => frame.kind === 'done'),
  ];
}

function plainFault(fault: LlmFault | undefined, wire: WireAnswer): PlainReply | null {
  if (fault?.kind === 'refuse') return wire.refusal(fault.as, fault.retryAfterMs);
  if (fault?.kind !== 'status') return null;
  return { status: fault.status, body: fault.body ?? '', headers: fault.headers ?? {} };
}

/** Waits on the emulator's clock, but no longer than the client does. */
async function pause(desk: AnswerDesk, ms: number, signal: AbortSignal): Promise<void> {
  await desk.clock.sleep(ms, signal).catch(() => undefined);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
