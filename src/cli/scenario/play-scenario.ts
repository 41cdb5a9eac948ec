import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../../contracts/limits.ts';
import { monotonicMs } from '../../platform/clock.ts';
import { CallRefused } from '../call-refused.ts';
import { type DiallerCall, type DiallerOptions, placeCall } from '../dialler-client.ts';
import type { DiallerEvent } from '../dialler-events.ts';
import { makeSound } from './caller-sounds.ts';
import { MarkTeller } from './mark-teller.ts';
import type { CallerTraits, Scenario, Step, TransferAnswer, When, Wire } from './scenario-format.ts';
import { seededNoise } from './seeded-noise.ts';

/** What was done and heard, on the line's own clock: a frame is 20 ms of both sides. */
export interface PlayedCall {
  sessionId: string;
  /** Null where the call began; else why it did not. */
  refusal: { code: number; reason: string } | null;
  steps: PlayedStep[];
  events: DiallerEvent[];
  spoken: Int16Array;
  heard: Int16Array;
  startedAtMs: number;
  readyAtMs: number;
  closed: { atMs: number; code: number; reason: string };
  /** The caller ended the call; else the far end did. */
  callerClosed: boolean;
}

export interface PlayedStep {
  /** First frame of the step's sound, and the frame behind its last one. */
  fromFrame: number;
  toFrame: number;
  /** False when the call was over before it, or its moment never came. */
  played: boolean;
}

export interface PlayOptions {
  url: string;
  wire: Wire;
  /** Paths in the scenario are relative to this folder. */
  folder: string;
  headers?: Record<string, string>;
  onEvent?: (event: DiallerEvent) => void;
  /** Told as soon as the line is open. */
  onOpen?: (call: DiallerCall) => void;
}

/** A moment that a step waits for and that does not come within this is given up, and the step with it. */
const MOMENT_TIMEOUT_MS = 45_000;
/** After the last step, a bot that is to hang up by itself has this long. */
const CLOSE_TIMEOUT_MS = 60_000;
const DTMF_GAP_MS = 120;

/** Places the call and acts it out. Never rejects for what the far end does; that is for the judge. */
export async function playScenario(scenario: Scenario, options: PlayOptions): Promise<PlayedCall> {
  const sounds: Int16Array[] = [];
  for (const step of scenario.steps) sounds.push(await makeSound(step.action, options.folder));
  const startedAtMs = monotonicMs();
  const stage: Stage = { call: undefined, spokenStart: 0, callerClosed: false };
  let call: DiallerCall;
  try {
    call = await placeCall(diallerOptions(scenario, options, stage));
  } catch (error) {
    if (!(error instanceof CallRefused)) throw error;
    return refused(error, startedAtMs);
  }
  stage.call = call;
  const readyAtMs = monotonicMs();
  options.onOpen?.(call);
  const steps: PlayedStep[] = [];
  let last: PlayedStep = { fromFrame: 0, toFrame: 0, played: true };
  for (const [index, step] of scenario.steps.entries()) {
    const isThere = !call.isClosed && (await moment(call, step.when, last));
    if (isThere) last = await act(call, step, sounds[index] as Int16Array, stage);
    steps.push(isThere ? last : { fromFrame: frames(call), toFrame: frames(call), played: false });
    await watchAfter(call, step);
  }
  if (!call.isClosed) {
    if (scenario.expect.closedBy === 'bot') await call.until(() => call.isClosed, CLOSE_TIMEOUT_MS);
    else await moment(call, { kind: 'after_bot', quietMs: 700 }, last);
  }
  stage.callerClosed ||= !call.isClosed;
  const closed = await call.hangUp('the conversation is over');
  return {
    sessionId: call.sessionId,
    refusal: null,
    steps,
    events: call.events,
    spoken: call.spoken.samples.slice(),
    heard: call.heard.samples.slice(),
    startedAtMs,
    readyAtMs,
    closed: { atMs: closed.atMs, code: closed.code, reason: closed.reason },
    callerClosed: stage.callerClosed,
  };
}

interface Stage {
  call: DiallerCall | undefined;
  /** Frame at which the step's sound began. */
  spokenStart: number;
  callerClosed: boolean;
}

function diallerOptions(scenario: Scenario, options: PlayOptions, stage: Stage): DiallerOptions {
  const { caller } = scenario;
  const marks = new MarkTeller(caller.marks, (message) => stage.call?.send(message));
  const mixIn = lineSounds(caller, stage);
  return {
    url: options.url,
    ...(options.wire === 'partner' ? { dialect: 'partner' } : { framing: options.wire }),
    ...(options.headers ? { headers: options.headers } : {}),
    connected: { call_direction: 'inbound', ...caller.fields },
    marks: marks.leavesMarks ? 'leave' : 'echo',
    clearedMarks: caller.marks === 'cleared_too' ? 'echo' : 'forget',
    ...(mixIn ? { mixIn } : {}),
    onEvent: (event) => {
      if (event.type === 'caller_started' && stage.call) stage.spokenStart = frames(stage.call);
      if (event.type === 'mark_played') marks.played(event.name);
      if (event.type === 'transfer') answerTransfer(caller.transfer, stage);
      options.onEvent?.(event);
    },
  };
}

/** What the line itself adds to the caller's side: noise, and the bot coming back. */
function lineSounds(caller: CallerTraits, stage: Stage): ((frame: Int16Array) => void) | null {
  const { noiseDbfs, echo } = caller;
  if (noiseDbfs === null && echo === null) return null;
  const noise = seededNoise(1);
  return (frame) => {
    const { call } = stage;
    if (echo && call) addEcho(frame, call, echo);
    if (noiseDbfs !== null) noise(frame, noiseDbfs);
  };
}

function addEcho(frame: Int16Array, call: DiallerCall, echo: { delayMs: number; lossDb: number }): void {
  const from = call.spoken.samples.length - Math.round((echo.delayMs * LINE_RATE_HZ) / 1000);
  const gain = 10 ** (-echo.lossDb / 20);
  const heard = call.heard.samples;
  for (let at = 0; at < frame.length; at++) {
    const value = (frame[at] as number) + gain * (heard[from + at] ?? 0);
    frame[at] = Math.max(-32_768, Math.min(32_767, Math.round(value)));
  }
}

function answerTransfer(how: TransferAnswer, stage: Stage): void {
  if (how.answer === 'none') return;
  setTimeout(() => {
    const { call } = stage;
    if (!call || call.isClosed) return;
    if (how.answer === 'close') {
      // A dialler that moves its leg closes without a word.
      stage.callerClosed = true;
      call.close();
      return;
    }
    call.send({
      event: 'transfer_result',
      status: how.answer,
      ...(how.reason === undefined ? {} : { reason: how.reason }),
      ...(how.sipCode === undefined ? {} : { sip_code: how.sipCode }),
    });
  }, how.afterMs);
}

/** Waits for a step's moment; false when it does not come. */
async function moment(call: DiallerCall, when: When, last: PlayedStep): Promise<boolean> {
  const sinceFrame = last.toFrame;
  switch (when.kind) {
    case 'at':
      return call.until(() => frames(call) * FRAME_MS >= when.ms, when.ms + MOMENT_TIMEOUT_MS);
    case 'after_step':
      return call.until(() => (frames(call) - sinceFrame) * FRAME_MS >= when.ms, when.ms + MOMENT_TIMEOUT_MS);
    case 'into_bot':
      return call.until(() => heardMs(call, sinceFrame) >= when.ms, MOMENT_TIMEOUT_MS);
    case 'after_bot':
      return call.until(
        () => heardMs(call, sinceFrame) > 0 && !call.botIsSpeaking && call.quietMs >= when.quietMs,
        MOMENT_TIMEOUT_MS,
      );
  }
}

/** How long the bot has been audible since a frame; short pauses between its words count. */
function heardMs(call: DiallerCall, sinceFrame: number): number {
  const sinceMs = call.lineStartedAtMs + sinceFrame * FRAME_MS;
  const started = call.events.find(
    (event) => event.type === 'bot_started' && event.atMs >= sinceMs - FRAME_MS,
  );
  const speaking = started ?? lastStart(call);
  if (!speaking) return 0;
  return Math.max(0, monotonicMs() - Math.max(speaking.atMs, sinceMs)) || 0;
}

/** The stretch of the bot's voice that is going on now, though it began earlier. */
function lastStart(call: DiallerCall): DiallerEvent | undefined {
  const last = call.events.findLast(({ type }) => type === 'bot_started' || type === 'bot_stopped');
  return last?.type === 'bot_started' ? last : undefined;
}

async function act(call: DiallerCall, step: Step, sound: Int16Array, stage: Stage): Promise<PlayedStep> {
  const { action } = step;
  const fromFrame = frames(call);
  switch (action.kind) {
    case 'say':
    case 'sound': {
      await call.say(sound, action.kind === 'say' ? nameOf(step) : action.sound);
      return {
        fromFrame: stage.spokenStart,
        toFrame: stage.spokenStart + Math.ceil(sound.length / FRAME_SAMPLES),
        played: true,
      };
    }
    case 'dtmf':
      for (const digit of action.digits) {
        call.send({ event: 'dtmf', dtmf: { digit } });
        await call.until(() => false, DTMF_GAP_MS);
      }
      break;
    case 'hang_up':
      stage.callerClosed = true;
      await call.hangUp(action.reason);
      break;
    case 'drop':
      stage.callerClosed = true;
      call.drop();
      await call.closed;
      break;
    case 'stop_sending':
      call.lineHeld = true;
      await call.until(() => false, action.ms);
      call.lineHeld = false;
      break;
    case 'wait':
      await call.until(() => false, action.ms);
      break;
    case 'send':
      call.send(action.message);
      break;
  }
  return { fromFrame, toFrame: frames(call), played: true };
}

/** What a step expects of the time after it must have time to happen before the next step. */
async function watchAfter(call: DiallerCall, step: Step): Promise<void> {
  const { quietForMs, goOnForMs } = step.expect;
  const ms = Math.max(quietForMs ?? 0, goOnForMs ?? 0);
  if (ms > 0) await call.until(() => false, ms);
}

function nameOf(step: Step): string {
  if (step.action.kind !== 'say') return step.action.kind;
  return step.action.pieces
    .map((piece) => (piece.kind === 'words' ? piece.text : piece.kind === 'file' ? piece.path : '...'))
    .join(' ')
    .slice(0, 80);
}

/** Frames of the caller that are out: the place on the line's clock. */
function frames(call: DiallerCall): number {
  return Math.floor(call.spoken.samples.length / FRAME_SAMPLES);
}

function refused(error: CallRefused, startedAtMs: number): PlayedCall {
  const atMs = monotonicMs();
  const empty = new Int16Array(0);
  return {
    sessionId: '',
    refusal: { code: error.status, reason: error.body },
    steps: [],
    events: [],
    spoken: empty,
    heard: empty,
    startedAtMs,
    readyAtMs: atMs,
    closed: { atMs, code: error.status, reason: error.body },
    callerClosed: false,
  };
}
