import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findEngine } from '../../src/platform/engine-programs.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import { dieWithUs } from './die-with-us.ts';
import { mediaAddress, type SipMessage, SipTrace } from './sip-messages.ts';
import { freePorts } from './stack-ports.ts';
import type { Test } from './use-stack.ts';

export interface SippOptions {
  /** Its port stands in the SDP, and it is told where the other side wants audio. An {@link RtpEndpoint} fits. */
  media?: { port: number; sendTo(address: string): void };
  /** From ringing to the final answer. */
  ringMs?: number;
  /** Until this side hangs up by itself; without it the other side has a minute to do so. */
  hangUpAfterMs?: number;
  /** Of a caller: whom it calls, `host:port`. */
  to?: string;
  /** Of a caller: its own number and the one that it calls. */
  fromUser?: string;
  toUser?: string;
  /** More header lines: on a caller's INVITE, on the final answer of someone called. */
  headers?: Record<string, string>;
  /** More header lines on the BYE of this side, such as Reason. */
  byeHeaders?: Record<string, string>;
  /** Of a caller that gives up: how long after it first rang. */
  cancelAfterMs?: number;
  /** Between the steps of a transfer that was accepted. */
  transferMs?: number;
  /** Calls that are taken or placed before the program ends. */
  calls?: number;
}

/** A running sipp: a telephone that does what its scenario says, and nothing else. */
export interface SippPeer {
  address: string;
  port: number;
  /** Grows as they come. */
  messages: SipMessage[];
  /** The first message like this, also one that came already. Throws when none comes within the time. */
  until(what: (message: SipMessage) => boolean, timeoutMs?: number): Promise<SipMessage>;
  /** Resolves when sipp has ended; exit code 0 says that every call went as written. */
  finished: Promise<{ exitCode: number | null; messages: SipMessage[]; output: string }>;
  stop(): Promise<void>;
}

interface Scenario {
  parts: readonly string[];
  values?: Record<string, string>;
}

const refuse = (status: string, reason: string): Scenario => ({
  parts: ['uas-ring', 'uas-refuse'],
  values: { status, reason },
});
/** A transferred call is over; who does not hear a BYE hangs up soon. livekit-sip takes a second or two to send it. */
const SOON = { hangUpAfterMs: '5000' };

/** The parts of `test/stack/sipp/` that make a scenario, in their order. */
const SCENARIOS = {
  'uas-answer': { parts: ['uas-ring', 'uas-answer', 'end-of-call'] },
  'uas-486': refuse('486', 'Busy Here'),
  'uas-603': refuse('603', 'Decline'),
  'uas-480': refuse('480', 'Temporarily Unavailable'),
  'uas-408': refuse('408', 'Request Timeout'),
  'uas-404': refuse('404', 'Not Found'),
  'uas-503': refuse('503', 'Service Unavailable'),
  'uas-ring-forever': { parts: ['uas-ring', 'uas-wait-for-cancel'] },
  'uas-late-bye': { parts: ['uas-ring', 'uas-answer', 'late-bye'] },
  'uas-no-rtp': { parts: ['uas-ring', 'uas-answer', 'end-of-call'] },
  'uas-refer-accept': { parts: ['uas-ring', 'uas-answer', 'refer-accept', 'end-of-call'], values: SOON },
  'uas-refer-refuse': { parts: ['uas-ring', 'uas-answer', 'refer-refuse', 'end-of-call'] },
  'uas-refer-busy': { parts: ['uas-ring', 'uas-answer', 'refer-busy', 'end-of-call'] },
  'uas-refer-silent': { parts: ['uas-ring', 'uas-answer', 'refer-silent', 'end-of-call'], values: SOON },
  'uas-refer-taken': { parts: ['uas-ring', 'uas-answer', 'refer-taken', 'end-of-call'], values: SOON },
  'uac-call': { parts: ['uac-invite', 'uac-talk', 'end-of-call'] },
  'uac-cancel': { parts: ['uac-invite', 'uac-cancel'] },
  'uac-refer-accept': { parts: ['uac-invite', 'uac-talk', 'refer-accept', 'end-of-call'], values: SOON },
  'uac-refer-refuse': { parts: ['uac-invite', 'uac-talk', 'refer-refuse', 'end-of-call'] },
  'uac-refer-busy': { parts: ['uac-invite', 'uac-talk', 'refer-busy', 'end-of-call'] },
} as const satisfies Record<string, Scenario>;

export type SippScenario = keyof typeof SCENARIOS;

/** One for SIP, and behind it those of sipp's own media, which it insists on having. */
const PORTS = 5;
/** sipp flushes each message to a file, which is read this often. */
const LOOK_EVERY_MS = 10;
/** A test ends its telephones; this is longer than the longest bench. */
const LIFETIME_S = 7_200;
const DEFAULTS = {
  ringMs: '300',
  hangUpAfterMs: '60000',
  cancelAfterMs: '500',
  transferMs: '300',
  fromUser: '+15550000001',
  toUser: '+15550000002',
  to: '127.0.0.1:5060',
};

/** Starts sipp; someone to be called is ready to be called when this resolves. It ends with the test. */
export async function startSipp(
  t: Test,
  scenario: SippScenario,
  options: SippOptions = {},
): Promise<SippPeer> {
  const engine = findEngine('sipp');
  const path = process.env.STACK_SIPP ?? engine?.path;
  if (!path) throw new Error('sipp is not installed; run "node setup.mjs stack"');
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-sipp-'));
  const port = await freePorts(PORTS);
  const silent = await openSilentPort();
  const calls = options.calls ?? 1;
  writeFileSync(
    join(folder, 'scenario.xml'),
    scenarioText(SCENARIOS[scenario], options, options.media?.port ?? silent.port),
  );
  const traceFile = join(folder, 'messages.log');
  writeFileSync(traceFile, '');
  const isCaller = scenario.startsWith('uac-');
  const args = [
    ...(isCaller ? [options.to ?? DEFAULTS.to] : []),
    ...['-sf', join(folder, 'scenario.xml'), '-i', '127.0.0.1', '-p', String(port), '-mi', '127.0.0.1'],
    ...['-m', String(calls), '-l', String(calls), '-timeout', `${LIFETIME_S}s`, '-timeout_error', '-nostdin'],
    ...['-mp', String(port + 1), '-trace_msg', '-message_file', traceFile],
    ...['-trace_err', '-error_file', join(folder, 'errors.log'), '-cid_str', `%u-%p-${port}@127.0.0.1`],
  ];
  const program = dieWithUs(path, args);
  const child = spawn(program.path, program.args, {
    cwd: folder,
    env: { ...process.env, ...engine?.env, TERM: 'dumb' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const running = watch(child, traceFile, options.media);
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await running.finished;
    silent.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  t.teardown(stop);
  const finished = running.finished.then((exitCode) => ({
    exitCode,
    messages: running.messages,
    output: exitCode === 0 ? '' : `${textOf(join(folder, 'errors.log'))}\n${running.output().slice(-2000)}`,
  }));
  if (!isCaller) await listening(port, child);
  return {
    address: `127.0.0.1:${port}`,
    port,
    messages: running.messages,
    until: running.until,
    finished,
    stop,
  };
}

/** Reads the trace while sipp runs, and tells the media where to send. */
function watch(child: ChildProcess, traceFile: string, media: SippOptions['media']) {
  const messages: SipMessage[] = [];
  const trace = new SipTrace();
  const file = openSync(traceFile, 'r');
  const piece = Buffer.alloc(65_536);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-20_000);
    });
  }
  const look = () => {
    for (let bytes = readSync(file, piece); bytes > 0; bytes = readSync(file, piece)) {
      for (const message of trace.take(Buffer.from(piece.subarray(0, bytes)))) {
        messages.push(message);
        const address = message.direction === 'received' ? mediaAddress(message.body) : null;
        if (address) media?.sendTo(address);
      }
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  const finished = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', (code) => resolve(code));
  }).then((code) => {
    clearInterval(timer);
    look();
    closeSync(file);
    return code;
  });
  let isOver = false;
  void finished.then(() => {
    isOver = true;
  });
  const until = async (what: (message: SipMessage) => boolean, timeoutMs = 60_000) => {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const over = isOver || performance.now() > deadline;
      const found = messages.find(what);
      if (found) return found;
      if (over) {
        const seen = messages.map((message) => `${message.direction} ${message.startLine}`).join('\n');
        throw new Error(`no such SIP message${isOver ? ', and sipp has ended' : ''}; there were:\n${seen}`);
      }
      await wait(LOOK_EVERY_MS);
    }
  };
  return { messages, finished, until, output: () => output };
}

function scenarioText(scenario: Scenario, options: SippOptions, mediaPort: number): string {
  const given = Object.entries(options)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) => [name, String(value)]);
  const values: Record<string, string> = {
    ...DEFAULTS,
    ...scenario.values,
    ...Object.fromEntries(given),
    headers: headerLines(options.headers),
    byeHeaders: headerLines(options.byeHeaders),
    sdp: sdp(mediaPort),
  };
  const parts = scenario.parts.map((name) =>
    readFileSync(projectPath(`test/stack/sipp/${name}.xml`), 'utf8')
      // A placeholder that stands for nothing takes its line along, which would end the headers.
      .replace(/^\{\{(\w+)\}\}\n/gm, (_, key: string) => (values[key] ? `${values[key]}\n` : ''))
      .replace(/\{\{(\w+)\}\}/g, (_, key: string) => values[key] ?? ''),
  );
  // sipp refuses a scenario with a variable that is remembered and not used.
  const remembered = new Set([...parts.join('').matchAll(/assign_to="(\w+)"/g)].map((match) => match[1]));
  const references = remembered.size > 0 ? `<Reference variables="${[...remembered].join(',')}"/>` : '';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<scenario name="peer">\n${parts.join('')}${references}\n</scenario>\n`;
}

function sdp(mediaPort: number): string {
  return [
    'v=0',
    'o=peer 1 1 IN IP4 127.0.0.1',
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    `m=audio ${mediaPort} RTP/AVP 0 101`,
    'a=rtpmap:0 PCMU/8000',
    'a=rtpmap:101 telephone-event/8000',
    'a=fmtp:101 0-16',
    'a=ptime:20',
    'a=sendrecv',
  ].join('\n');
}

function headerLines(headers: Record<string, string> = {}): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** A port for calls without media of their own: what comes is thrown away. */
async function openSilentPort(): Promise<{ port: number; close(): void }> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  socket.unref();
  return { port: socket.address().port, close: () => socket.close() };
}

/** Waits until somebody has the UDP port, as the kernel lists it. */
async function listening(port: number, child: ChildProcess): Promise<void> {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const deadline = performance.now() + 60_000;
  while (!readFileSync('/proc/net/udp', 'latin1').includes(local)) {
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`sipp does not listen on port ${port} (exit code ${child.exitCode})`);
    await wait(LOOK_EVERY_MS);
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
