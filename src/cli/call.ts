import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BOT_ID_PATTERN, CORE_SECRET_HEADER, PARTNER_PATH, SOCKET_PATH } from '../contracts/http-names.ts';
import type { JournalCall } from '../contracts/spool.ts';
import { describeError } from '../platform/app-error.ts';
import { monotonicMs } from '../platform/clock.ts';
import { CallRefused } from './call-refused.ts';
import { loadCallerAudio } from './caller-audio.ts';
import { type DiallerCall, placeCall } from './dialler-client.ts';
import type { DiallerEvent } from './dialler-events.ts';
import { followJournal, journalView } from './journal-tail.ts';
import { stereoWav } from './sound-track.ts';

const EXIT_USAGE = 2;
/** The bot may take this long to begin its opening or an answer. */
const ANSWER_TIMEOUT_MS = 15_000;
/** Without recordings the caller only listens, at most this long. */
const LISTEN_MS = 60_000;
const MAX_CLIPS = 50;

interface CallCommand {
  url: string;
  clips: { name: string; samples: Int16Array }[];
  binary: boolean;
  partner: boolean;
  json: boolean;
  out: string | undefined;
  /** A conversation in a file instead of recordings. */
  scenario: string | undefined;
  /** Base address of the control plane, for the call record that a scenario is held against. */
  control: string;
  connected: Record<string, unknown>;
}

/** `trunkline call BOT`: places one call and shows it. Exit code 0 when the call ended in order. */
export async function callCommand(args: string[]): Promise<number> {
  let command: CallCommand;
  try {
    command = await readCommand(args);
  } catch (error) {
    process.stderr.write(
      `trunkline call: ${describeError(error)}\nRun "trunkline help call" for examples.\n`,
    );
    return EXIT_USAGE;
  }
  if (command.scenario) return callByScenario(command, command.scenario);
  let call: DiallerCall;
  let startedAtMs: number | undefined;
  const show = command.json ? showJson : showLine;
  const secret = process.env.CORE_SECRET;
  try {
    call = await placeCall({
      url: command.url,
      framing: command.binary ? 'binary' : 'json',
      dialect: command.partner ? 'partner' : 'telephony',
      connected: command.connected,
      ...(secret ? { headers: { [CORE_SECRET_HEADER]: secret } } : {}),
      onEvent: (event) => {
        startedAtMs ??= event.atMs;
        show(event, event.atMs - startedAtMs);
      },
    });
  } catch (error) {
    if (!(error instanceof CallRefused)) throw error;
    process.stderr.write(`trunkline call: ${error.message}\n`);
    return 1;
  }
  const interrupted = () => void call.hangUp('caller pressed Ctrl-C');
  process.once('SIGINT', interrupted);
  // On the appliance's own host its spool tells the words too; from elsewhere there are only sounds.
  const words = journalView((text) => printLine(text, monotonicMs() - (startedAtMs ?? 0)));
  // The partner's dialect tells no session; there the stream is what names the call.
  const isOurs = (line: JournalCall) =>
    command.partner ? line.streamId === command.connected.stream_id : line.sessionId === call.sessionId;
  const stopFollowing = command.json ? () => undefined : followJournal(dataDir(), isOurs, words);
  const latenciesMs = await converse(call, command);
  const closed = await call.hangUp();
  stopFollowing();
  process.off('SIGINT', interrupted);
  if (command.out) await writeFile(command.out, stereoWav(call.spoken.samples, call.heard.samples));
  summarise(call, command, latenciesMs);
  return closed.code === 1000 ? 0 : 1;
}

async function callByScenario(command: CallCommand, file: string): Promise<number> {
  const { scenarioCall } = await import('./scenario/scenario-call.ts');
  try {
    return await scenarioCall({
      file,
      url: command.url,
      wire: command.partner ? 'partner' : command.binary ? 'binary' : 'json',
      fields: command.connected,
      secret: process.env.CORE_SECRET,
      control: command.control,
      json: command.json,
      out: command.out,
      show: command.json ? () => undefined : showLine,
    });
  } catch (error) {
    process.stderr.write(`trunkline call: ${file}: ${describeError(error)}\n`);
    return EXIT_USAGE;
  }
}

/** Says the clips, each after the bot has finished; returns how long the bot took to answer each. */
async function converse(call: DiallerCall, command: CallCommand): Promise<number[]> {
  const latenciesMs: number[] = [];
  await call.answerAfter(0, 700, ANSWER_TIMEOUT_MS);
  if (command.clips.length === 0) await call.until(() => false, LISTEN_MS);
  for (const clip of command.clips) {
    if (call.isClosed) break;
    const spoken = await call.say(clip.samples, clip.name);
    const answer = await call.answerAfter(spoken.voiceEndedAtMs, 700, ANSWER_TIMEOUT_MS);
    if (answer) latenciesMs.push(answer.arrivedAtMs - spoken.voiceEndedAtMs);
  }
  return latenciesMs;
}

async function readCommand(args: string[]): Promise<CallCommand> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      wav: { type: 'string', multiple: true, default: [] },
      binary: { type: 'boolean', default: false },
      partner: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      out: { type: 'string' },
      scenario: { type: 'string' },
      control: { type: 'string' },
      from: { type: 'string' },
      caller: { type: 'string' },
      var: { type: 'string', multiple: true, default: [] },
    },
  });
  const [bot, ...more] = positionals;
  if (!bot || more.length > 0) throw new Error('name exactly one bot, for example "trunkline call demo"');
  if (!BOT_ID_PATTERN.test(bot))
    throw new Error(`"${bot}" is no bot id (letters, digits, _ and -, up to 64)`);
  if (values.partner && values.binary)
    throw new Error('--partner has no binary frames; leave one of the two out');
  if (values.scenario && values.wav.length > 0)
    throw new Error('--scenario says itself what the caller says; leave --wav out');
  if (values.wav.length > MAX_CLIPS) throw new Error(`at most ${MAX_CLIPS} recordings fit one call`);
  const clips: CallCommand['clips'] = [];
  for (const path of values.wav) clips.push({ name: basename(path), samples: await loadCallerAudio(path) });
  return {
    url: callUrl(
      values.url ?? `ws://${process.env.FLEET_LISTEN ?? '127.0.0.1:8090'}`,
      values.partner ? PARTNER_PATH : SOCKET_PATH,
      bot,
    ),
    clips,
    binary: values.binary,
    partner: values.partner,
    json: values.json,
    out: values.out,
    scenario: values.scenario,
    control: values.control ?? `http://${process.env.CONTROL_LISTEN ?? '127.0.0.1:8080'}`,
    connected: {
      ...(values.partner ? { stream_id: randomUUID() } : {}),
      ...Object.fromEntries(values.var.map(readVariable)),
      ...(values.from === undefined ? {} : { from_number: values.from }),
      ...(values.caller === undefined ? {} : { caller_id: values.caller }),
      call_direction: 'inbound',
    },
  };
}

function readVariable(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new Error(`--var ${text}: write it as NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** The fleet port's address gets the bot's path; a whole `/ws/...` or `/partner/...` address is taken as it is. */
function callUrl(address: string, path: string, bot: string): string {
  if (!URL.canParse(address)) throw new Error(`--url ${address}: not an address like ws://127.0.0.1:8090`);
  const url = new URL(address);
  if (url.protocol === 'http:') url.protocol = 'ws:';
  if (url.protocol === 'https:') url.protocol = 'wss:';
  if (url.protocol !== 'ws:' && url.protocol !== 'wss:') {
    throw new Error(`--url ${address}: a call socket begins with ws:// or wss://`);
  }
  if (url.pathname === '/' || url.pathname === '') url.pathname = `${path}${bot}`;
  return url.href;
}

function showJson(event: DiallerEvent, sinceMs: number): void {
  process.stdout.write(`${JSON.stringify({ ...event, ms: Math.round(sinceMs) })}\n`);
}

function showLine(event: DiallerEvent, sinceMs: number): void {
  const text = describeEvent(event);
  if (text) printLine(text, sinceMs);
}

function printLine(text: string, sinceMs: number): void {
  process.stdout.write(`${(sinceMs / 1000).toFixed(2).padStart(7)} s  ${text}\n`);
}

function dataDir(): string {
  return resolve(process.env.DATA_DIR ?? './data');
}

/** One line of the live view, or nothing for an event that only machines want. */
export function describeEvent(event: DiallerEvent): string {
  switch (event.type) {
    case 'ready':
      return `ready     session ${event.sessionId}`;
    case 'caller_started':
      return `caller >  ${event.clip}`;
    case 'bot_started':
      return 'bot    >  speaks';
    case 'bot_stopped':
      return 'bot    .  is quiet';
    case 'clear':
      return `bot    x  was cut, ${Math.round(event.droppedMs)} ms unheard`;
    case 'transfer':
      return `transfer  to ${event.transfer.destination}`;
    case 'hangup':
      return `hangup    by the bot: ${event.reason}`;
    case 'unreadable':
      return `odd       ${event.sentence}`;
    case 'closed':
      return `closed    ${event.code}${event.reason ? ` ${event.reason}` : ''}`;
    default:
      return '';
  }
}

function summarise(call: DiallerCall, command: CallCommand, latenciesMs: number[]): void {
  const closed = call.events.find((event) => event.type === 'closed');
  const seconds = ((closed?.atMs ?? call.startedAtMs) - call.startedAtMs) / 1000;
  const summary = {
    type: 'summary',
    session_id: call.sessionId === '' ? null : call.sessionId,
    seconds: Number(seconds.toFixed(2)),
    answers: latenciesMs.length,
    answer_ms: latenciesMs.map(Math.round),
    interruptions: call.events.filter((event) => event.type === 'clear').length,
    frames_sent: call.framesSent,
    frames_skipped: call.framesSkipped,
    underruns: call.playout.underruns,
    out: command.out ?? null,
  };
  if (command.json) {
    process.stdout.write(`${JSON.stringify(summary)}\n`);
    return;
  }
  const answers =
    latenciesMs.length === 0
      ? 'no clip was answered'
      : `answers began ${summary.answer_ms.join(', ')} ms after the caller's last word (n=${latenciesMs.length})`;
  process.stdout.write(
    `\n${summary.seconds} s, ${answers}; ${summary.interruptions} interruptions, ${summary.underruns} gaps in the bot's speech\n`,
  );
  if (command.out) process.stdout.write(`both sides (left caller, right bot): ${command.out}\n`);
}
