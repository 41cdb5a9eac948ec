import { parseArgs } from 'node:util';
import type { Framing } from '../src/contracts/wire.ts';
import type { BenchPlan } from './bench-run.ts';
import type { ConfigServeOptions } from './config-serve.ts';
import type { ConversationPlan } from './conversation.ts';
import type { EchoPlan } from './echo.ts';
import type { RoomsPlan } from './rooms.ts';

/** What the command line of the bench asks for. */
export interface BenchOptions {
  part: 'calls' | 'plane' | 'records' | 'providers' | 'conversation' | 'echo' | 'rooms' | 'both';
  /** Call records in the store that is searched. */
  records: number;
  plan: BenchPlan;
  planePlan: ConfigServeOptions;
  conversationPlan: ConversationPlan;
  echoPlan: EchoPlan;
  roomsPlan: RoomsPlan;
  providersPlan: { rounds: number; sttRounds: number };
  form: 'full' | 'short';
  /** Where the JSON goes; null for a dated file in bench/results. */
  out: string | null;
}

export const BENCH_HELP = `npm run bench: the appliance under load over the real wire, beside bare loops on the same machine.

usage: npm run bench -- [--part calls|plane|records|providers|conversation|echo|rooms|both | --rooms] [--calls N] [--seconds N] [--slots N] [--framing json|binary|both]
                        [--rounds N] [--seed N] [--out FILE] [--smoke]

Callers with human speech talk with scripted bots through the real slots: voice activity, turn model,
pacer, recorder and results are the real ones; only words and voice are scripted, and every frame of
the voice carries its number. The far end checks that none is missing, doubled or sent after "clear".

The part "plane" loads the control plane on loopback beside node:http, Fastify and bare uWebSockets.js
in the same process: a small answer, the config route, results. The part "records" fills a store with
a million call records, which takes minutes, and searches and exports them. The part "providers" runs each
provider's client against an emulated vendor: the time that is ours, and the memory of the slot. The part
"conversation" measures what callers feel when providers take no time: the gap before a reply, the pause at
an interruption; and it judges turn ends and false interruptions on speech and noise with known labels.
The part "echo" has callers answer in one word, and bots hear themselves, on lines of samples.
The part "rooms" has the appliance dial SIP telephones through a real media server, more and more of them,
beside bare publishers on the same path.

  --part P       calls, plane, records, providers, conversation, echo, rooms, or both the first two (both)
  --rooms        short for --part rooms; with --calls N that number only
  --records N    call records for that part (1000000)
  --calls N      calls at once (16)
  --slots N      slots of the appliance (as many as calls)
  --seconds N    measured time of each round (60)
  --framing F    json, binary or both, one after the other (both)
  --rounds N     rounds of bare loop and product; medians count (1)
  --seed N       what the callers say and when (1)
  --out FILE     the readings as JSON (bench/results/<time>.json)
  --smoke        4 calls, 8 s, JSON frames: does everything work?
  --quick        the same, for the other parts: a small share of everything

Exit code 0: frames whole and ratios within bench/budgets.json. 1: not so, with one sentence each.
Stop other work on the machine first; docs/benchmarks.md says how to read the table.`;

const MAX_CALLS = 256;
const MAX_SECONDS = 7_200;
const WARM_UP_MS = 4_000;
/** Room calls at once; a run ends with the first that is late. */
const ROOM_STEPS = [1, 2, 4, 6, 8, 12, 16];
const ROOM_SECONDS = 30;

/** The plan that the arguments ask for, 'help', or a sentence in an Error that is thrown. */
export function readBenchOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      part: { type: 'string', default: 'both' },
      records: { type: 'string' },
      calls: { type: 'string' },
      slots: { type: 'string' },
      seconds: { type: 'string' },
      framing: { type: 'string' },
      rounds: { type: 'string' },
      seed: { type: 'string' },
      out: { type: 'string' },
      smoke: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      rooms: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const smoke = values.smoke || values.quick;
  const calls = whole('calls', values.calls, smoke ? 4 : 16, MAX_CALLS);
  const slots = whole('slots', values.slots, calls, MAX_CALLS);
  if (slots < calls)
    throw new Error(`--slots ${slots} cannot carry --calls ${calls}; each call takes a slot`);
  const seconds = whole('seconds', values.seconds, smoke ? 8 : 60, MAX_SECONDS);
  const part = values.rooms ? 'rooms' : values.part;
  if (!isPart(part)) {
    throw new Error(
      `--part "${part}" is neither calls, plane, records, providers, conversation, echo, rooms nor both`,
    );
  }
  return {
    part,
    records: whole('records', values.records, smoke ? 20_000 : 1_000_000, 10_000_000),
    planePlan: smoke
      ? { seconds: 0.5, rounds: 1, connections: 32, resultsPerRound: 500 }
      : { seconds: 3, rounds: 3, connections: 32, resultsPerRound: 6_000 },
    conversationPlan: smoke
      ? { calls: 2, atOnce: 2, roundsPerCall: 1, share: 0.03, noiseMinutes: 1 }
      : { calls: 8, atOnce: 4, roundsPerCall: 4, share: 1, noiseMinutes: 60 },
    echoPlan: {
      ...(smoke ? { answers: 60, echoes: 12, bargeIns: 6 } : { answers: 3_000, echoes: 600, bargeIns: 200 }),
      seed: whole('seed', values.seed, 1, 2 ** 31),
    },
    providersPlan: smoke ? { rounds: 10, sttRounds: 3 } : { rounds: 200, sttRounds: 40 },
    roomsPlan: {
      steps: values.calls === undefined ? (smoke ? [2] : ROOM_STEPS) : [calls],
      warmUpMs: smoke ? 1_000 : WARM_UP_MS,
      measureMs: (values.seconds === undefined ? (smoke ? 6 : ROOM_SECONDS) : seconds) * 1000,
    },
    form: smoke ? 'short' : 'full',
    out: values.out ?? null,
    plan: {
      calls,
      slots,
      framings: framingsOf(values.framing ?? (smoke ? 'json' : 'both')),
      rounds: whole('rounds', values.rounds, 1, 100),
      warmUpMs: smoke ? 2_000 : WARM_UP_MS,
      measureMs: seconds * 1000,
      bareMs: smoke ? 3_000 : 15_000,
      idleMs: smoke ? 1_000 : 5_000,
      calmCalls: smoke ? 3 : 20,
      seed: whole('seed', values.seed, 1, 2 ** 31),
    },
  };
}

function isPart(part: string): part is BenchOptions['part'] {
  return ['calls', 'plane', 'records', 'providers', 'conversation', 'echo', 'rooms', 'both'].includes(part);
}

function framingsOf(value: string): Framing[] {
  if (value === 'both') return ['json', 'binary'];
  if (value === 'json' || value === 'binary') return [value];
  throw new Error(`--framing "${value}" is neither json, binary nor both`);
}

function whole(name: string, value: string | undefined, fallback: number, maximum: number): number {
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1 || number > maximum) {
    throw new Error(`--${name} "${value}" is not a whole number from 1 to ${maximum}`);
  }
  return number;
}
