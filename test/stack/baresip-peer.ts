import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findEngine } from '../../src/platform/engine-programs.ts';
import { wavHeader } from '../../src/platform/wav.ts';
import { dieWithUs } from './die-with-us.ts';
import { freePorts } from './stack-ports.ts';
import type { Test } from './use-stack.ts';

export interface BaresipOptions {
  /** 8 kHz, said again and again with a pause of a second, for as long as a call lasts. */
  speech?: Int16Array;
  /** Whether it picks up by itself, which it does by default. */
  answer?: 'auto' | 'manual';
  /** The user part of its address. */
  user?: string;
}

/** What baresip tells of itself: CALL_INCOMING, CALL_RINGING, CALL_ESTABLISHED, CALL_CLOSED and others. */
export interface BaresipEvent {
  type: string;
  peerUri: string;
  /** The reason of an end, such as '486 Busy Here'. */
  param: string;
  atMs: number;
}

/** A real softphone, PCMU, that does what it is told at the moment when it is told. */
export interface BaresipPeer {
  address: string;
  port: number;
  /** Grows as they come. */
  events: BaresipEvent[];
  dial(uri: string): Promise<void>;
  accept(): Promise<void>;
  hangUp(): Promise<void>;
  sendDigits(digits: string): Promise<void>;
  /** The first event of this type, also one that came already. Throws when none comes within the time. */
  until(eventType: string, timeoutMs?: number): Promise<BaresipEvent>;
  /** What the last call sounded like here, 8 kHz. */
  heard(): Int16Array;
  stop(): Promise<void>;
}

const RATE_HZ = 8_000;
/** The source is a file that ends; a call of a test is shorter than this. */
const SOURCE_SECONDS = 240;
const LOOK_EVERY_MS = 10;
const START_TIMEOUT_MS = 60_000;
const COMMAND_TIMEOUT_MS = 30_000;
/** Keys are sent with a pause, since baresip ends a key when the next one is pressed. */
const KEY_MS = 160;

/** Starts baresip with its configuration in a temporary folder; it ends with the test. */
export async function startBaresip(t: Test, options: BaresipOptions = {}): Promise<BaresipPeer> {
  const engine = findEngine('baresip');
  const path = process.env.STACK_BARESIP ?? engine?.path;
  if (!path) throw new Error('baresip is not installed; run "node setup.mjs stack"');
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-baresip-'));
  // It listens with TLS on the next port, whether one wants that or not.
  const port = await freePorts(3);
  const controlPort = port + 2;
  writeConfiguration(folder, { port, controlPort, root: engine?.root ?? '', ...options });
  const program = dieWithUs(path, ['-f', folder]);
  const child = spawn(program.path, program.args, {
    cwd: folder,
    env: { ...process.env, ...engine?.env, TERM: 'dumb' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-20_000);
    });
  }
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  t.teardown(stop);
  const control = new Control(await reach(controlPort, child, () => output));
  return {
    address: `127.0.0.1:${port}`,
    port,
    events: control.events,
    dial: (uri) => control.command('dial', uri),
    accept: () => control.command('accept'),
    hangUp: () => control.command('hangup'),
    async sendDigits(digits) {
      for (const key of digits) {
        await control.command('sndcode', key);
        await wait(KEY_MS);
      }
    },
    async until(eventType, timeoutMs = 60_000) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const event = control.events.find(({ type }) => type === eventType);
        if (event) return event;
        if (performance.now() > deadline || child.exitCode !== null) {
          const seen = control.events.map(({ type, param }) => `${type} ${param}`).join(', ');
          throw new Error(`baresip told of no ${eventType}; it told: ${seen || 'nothing'}\n${output}`);
        }
        await wait(LOOK_EVERY_MS);
      }
    },
    heard: () => heardIn(folder),
    stop,
  };
}

/** The control connection: JSON objects, each as a netstring ("<length>:<object>,"). */
class Control {
  readonly events: BaresipEvent[] = [];
  private readonly socket: Socket;
  private readonly answers = new Map<string, (ok: boolean, data: string) => void>();
  private rest = Buffer.alloc(0);
  private nextToken = 1;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (piece) => this.take(piece));
    socket.on('error', () => undefined);
  }

  command(command: string, params = ''): Promise<void> {
    const token = String(this.nextToken++);
    const text = JSON.stringify({ command, params, token });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => done(false, 'no answer'), COMMAND_TIMEOUT_MS);
      const done = (ok: boolean, data: string) => {
        clearTimeout(timer);
        this.answers.delete(token);
        if (ok) resolve();
        else reject(new Error(`baresip did not take the command ${command}: ${data}`));
      };
      this.answers.set(token, done);
      this.socket.write(`${Buffer.byteLength(text)}:${text},`);
    });
  }

  private take(piece: Buffer): void {
    this.rest = Buffer.concat([this.rest, piece]);
    for (;;) {
      const colon = this.rest.indexOf(':');
      const end = colon + 1 + Number(this.rest.toString('latin1', 0, Math.max(0, colon)));
      if (colon < 0 || this.rest.length < end + 1) return;
      this.read(JSON.parse(this.rest.toString('utf8', colon + 1, end)) as Record<string, unknown>);
      this.rest = this.rest.subarray(end + 1);
    }
  }

  private read(message: Record<string, unknown>): void {
    if (message.response) {
      this.answers.get(String(message.token))?.(message.ok === true, String(message.data ?? ''));
    } else if (message.event) {
      this.events.push({
        type: String(message.type),
        peerUri: String(message.peeruri ?? ''),
        param: String(message.param ?? ''),
        atMs: performance.now(),
      });
    }
  }
}

async function reach(port: number, child: ChildProcess, output: () => string): Promise<Socket> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const socket = await new Promise<Socket | null>((resolve) => {
      const attempt = connect({ host: '127.0.0.1', port }, () => resolve(attempt));
      attempt.once('error', () => resolve(null));
    });
    if (socket) return socket;
    if (performance.now() > deadline || child.exitCode !== null) {
      throw new Error(
        `baresip does not answer on its control port (exit code ${child.exitCode})\n${output()}`,
      );
    }
    await wait(LOOK_EVERY_MS);
  }
}

function writeConfiguration(
  folder: string,
  options: BaresipOptions & { port: number; controlPort: number; root: string },
): void {
  const modules = ['/usr/lib/baresip/modules', '/usr/lib/x86_64-linux-gnu/baresip/modules']
    .map((path) => options.root + path)
    .find((path) => existsSync(path));
  const lines = [
    `module_path ${modules ?? '/usr/lib/baresip/modules'}`,
    `sip_listen 127.0.0.1:${options.port}`,
    'call_local_timeout 120',
    'call_max_calls 4',
    // The far end is heard by the filter that writes a file; the player only has to exist.
    'audio_player aubridge,nowhere',
    `audio_source aufile,${join(folder, 'speech.wav')}`,
    'audio_alert aubridge,nowhere',
    'audio_buffer 20-160',
    'rtp_stats no',
    `snd_path ${folder}`,
    `ctrl_tcp_listen 127.0.0.1:${options.controlPort}`,
    ...['g711', 'aubridge', 'aufile', 'sndfile'].map((name) => `module ${name}.so`),
    ...['account', 'menu', 'ctrl_tcp'].map((name) => `module_app ${name}.so`),
  ];
  writeFileSync(join(folder, 'config'), `${lines.join('\n')}\n`);
  const user = options.user ?? 'softphone';
  const account = `<sip:${user}@127.0.0.1:${options.port}>;regint=0;answermode=${options.answer ?? 'auto'};audio_codecs=PCMU/8000`;
  writeFileSync(join(folder, 'accounts'), `${account}\n`);
  const samples = new Int16Array(SOURCE_SECONDS * RATE_HZ);
  const speech = options.speech ?? new Int16Array(0);
  for (let at = 0; speech.length > 0 && at + speech.length <= samples.length; at += speech.length + RATE_HZ) {
    samples.set(speech, at);
  }
  const header = wavHeader({ sampleRate: RATE_HZ, channels: 1 }, samples.byteLength);
  writeFileSync(join(folder, 'speech.wav'), Buffer.concat([header, Buffer.from(samples.buffer)]));
}

/** The newest file of decoded audio; its header tells no length while the call lasts. */
function heardIn(folder: string): Int16Array {
  const name = readdirSync(folder)
    .filter((file) => /^dump-.*-dec\.wav$/.test(file))
    .sort()
    .at(-1);
  if (!name) return new Int16Array(0);
  const file = readFileSync(join(folder, name));
  const data = file.indexOf('data', 12, 'latin1');
  if (data < 0) return new Int16Array(0);
  const samples = new Int16Array(Math.max(0, file.length - data - 8) >> 1);
  for (let index = 0; index < samples.length; index++)
    samples[index] = file.readInt16LE(data + 8 + index * 2);
  return samples;
}
