import { monotonicMs, sleepMs } from '../src/platform/clock.ts';
import { startSipp } from '../test/stack/sipp-peer.ts';
import { loadSpeech } from './caller-clips.ts';
import { DeadlineLoop } from './deadline-loop.ts';
import { goFirst } from './go-first.ts';
import { type RoomLineCounts, RoomLines } from './room-lines.ts';
import { type Spread, spreadOf } from './spread.ts';

/**
 * The telephones of a room bench, a process of its own whose CPU does not count: sipp answers, and this program speaks
 * and listens. Takes its orders from the bench that started it.
 */
export type RoomCallerOrder =
  | { type: 'open'; calls: number }
  | { type: 'record'; on: boolean }
  | { type: 'finish' };

export type RoomCallerNews =
  | { type: 'listening'; sipAddress: string }
  /** So many bots have been heard; each is told once. */
  | { type: 'heard'; bots: number; afterMs: number }
  | { type: 'report'; report: RoomCallerReport }
  | { type: 'failed'; sentence: string };

export interface RoomCallerReport {
  /** Milliseconds that a packet of the bot's voice came behind the grid of its spurt. */
  lateness: Spread;
  /** How late this process itself was; above 2 ms at p99 the figures are void. */
  ownLateness: Spread;
  lateFrames: number;
  counts: RoomLineCounts;
}

const HANG_UP_AFTER_MS = 3_600_000;
const LOOK_EVERY_MS = 50;

const ends: (() => unknown)[] = [];
const scope = { teardown: (end: () => unknown) => ends.push(end) };
const loop = new DeadlineLoop();
let lines: RoomLines | undefined;

goFirst();
process.on('message', (order: RoomCallerOrder) => {
  obey(order).catch((error: Error) => tell({ type: 'failed', sentence: error.message }));
});
process.on('disconnect', () => process.exit(1));

async function obey(order: RoomCallerOrder): Promise<void> {
  if (order.type === 'open') return open(order.calls);
  if (order.type === 'record') {
    loop.recording = order.on;
    lines?.record(order.on);
    return;
  }
  for (const end of ends.reverse()) await end();
  tell({ type: 'report', report: reportOf() });
  lines?.close();
  process.disconnect();
}

async function open(calls: number): Promise<void> {
  const startedAtMs = monotonicMs();
  lines = new RoomLines(loop, await loadSpeech());
  const port = await lines.listen();
  const peer = await startSipp(scope, 'uas-answer', {
    media: { port, sendTo: () => undefined },
    ringMs: 100,
    hangUpAfterMs: HANG_UP_AFTER_MS,
    calls,
  });
  tell({ type: 'listening', sipAddress: peer.address });
  let told = 0;
  while (told < calls) {
    await sleepMs(LOOK_EVERY_MS);
    const heard = [...lines.lines.values()].filter(({ firstVoiceAtMs }) => firstVoiceAtMs !== null).length;
    if (heard === told) continue;
    told = heard;
    tell({ type: 'heard', bots: heard, afterMs: monotonicMs() - startedAtMs });
  }
}

function reportOf(): RoomCallerReport {
  const all = [...(lines?.lines.values() ?? [])];
  const sum = (of: (line: (typeof all)[number]) => number) =>
    all.reduce((total, line) => total + of(line), 0);
  return {
    lateness: spreadOf(all.flatMap(({ pacing }) => pacing.readings)),
    ownLateness: spreadOf(loop.lateness),
    lateFrames: sum(({ pacing }) => pacing.lateFrames),
    counts: {
      packets: sum(({ counts }) => counts.packets),
      lostPackets: sum(({ counts }) => counts.lostPackets),
      voicedPackets: sum(({ counts }) => counts.voicedPackets),
      holeFrames: sum(({ counts }) => counts.holeFrames),
      replies: sum(({ counts }) => counts.replies),
    },
  };
}

function tell(news: RoomCallerNews): void {
  process.send?.(news);
}
