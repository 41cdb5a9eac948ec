import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeEvent } from '../../src/cli/call.ts';
import { type Appliance, freePort, startAppliance } from '../../src/cli/demo/appliance-process.ts';
import { type ClipOutcome, converse } from '../../src/cli/demo/conversation.ts';
import { loadClips } from '../../src/cli/demo/load-clips.ts';
import { type ResultsReceiver, startResultsReceiver } from '../../src/cli/demo/results-receiver.ts';
import { showOutcome } from '../../src/cli/demo/show-outcome.ts';
import { followJournal, journalView } from '../../src/cli/journal-tail.ts';
import { DISPATCH_PATH } from '../../src/contracts/room-requests.ts';
import { describeError } from '../../src/platform/app-error.ts';
import { monotonicMs, sleepMs } from '../../src/platform/clock.ts';
import { MediaServer, type RoomFact } from '../../src/platform/media-server.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import { openRtpEndpoint } from './rtp-endpoint.ts';
import { SipCaller } from './sip-caller.ts';
import { startSipp } from './sipp-peer.ts';
import { type OwnStack, startStack } from './start-stack.ts';

/**
 * `trunkline demo --sip`: the conversation of the demo as a telephone call. Starts Redis, livekit-server, livekit-sip
 * and the appliance, gives the bot a number as an operator would, calls it with a SIP program, and shows what happens.
 */
const NUMBER = '+15550100';
const CALLER = '+15550111';
/** Until the number stands in the media server and the call is answered. */
const ANSWER_TIMEOUT_MS = 30_000;
const GOODBYE_TIMEOUT_MS = 20_000;
/**
 * The local engine hears these recordings through two codecs here, which costs it a word now and then; what is shown is
 * the telephone call. The demo over a socket forgives nothing.
 */
const MAY_MISHEAR = 0.25;
const ROOM_CLOSE_TIMEOUT_MS = 5_000;

const ends: (() => unknown)[] = [];
/** Ends run backwards, like the teardown of a test. */
const scope = { teardown: (end: () => unknown) => ends.push(end) };

async function play(
  options: { keep: boolean; quiet: boolean; short: boolean },
  stop: AbortSignal,
): Promise<number> {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const clips = await loadClips(options.short);
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-demo-'));
  let code = 1;
  scope.teardown(() => (options.keep || code === 1 ? say(`kept: ${folder}`) : tidy(folder)));

  say('Starting Redis, livekit-server and livekit-sip ...');
  const stack = await startStack();
  scope.teardown(() => stack.stop());
  say(`They run: media server ${stack.url}, SIP ${stack.sipAddress}.`);
  say(`Starting the appliance on a temporary folder (${folder}) ...`);
  const { appliance, receiver } = await startHouse(folder, stack, stop);
  await giveNumber(appliance);
  await numberStands(stack);
  say(`It runs, and the bot "demo" answers ${NUMBER}. Calling it from ${CALLER} over SIP.\n`);

  const startedAtMs = monotonicMs();
  const show = (text: string) => {
    if (!options.quiet && text)
      say(`${((monotonicMs() - startedAtMs) / 1000).toFixed(2).padStart(7)} s  ${text}`);
  };
  const media = await openRtpEndpoint(scope);
  const peer = await startSipp(scope, 'uac-call', {
    media,
    to: stack.sipAddress,
    fromUser: CALLER,
    toUser: NUMBER,
    headers: { 'X-Demo': 'yes' },
    hangUpAfterMs: 600_000,
  });
  let sessionId = '';
  const stopFollowing = followJournal(
    appliance.dataDir,
    (line) => {
      sessionId ||= line.sessionId;
      return line.sessionId === sessionId;
    },
    journalView(show),
  );
  scope.teardown(stopFollowing);
  await peer.until(({ status }) => status === 180, ANSWER_TIMEOUT_MS);
  show('line    rings');
  await peer.until(({ status, cseqMethod }) => status === 200 && cseqMethod === 'INVITE', ANSWER_TIMEOUT_MS);
  show('line    answered');
  const caller = new SipCaller(media, peer, (event) => show(describeEvent(event)));
  const outcomes: ClipOutcome[] = await converse(caller, clips);
  await caller.until(() => false, GOODBYE_TIMEOUT_MS);
  stop.throwIfAborted();
  stopFollowing();

  const server = new MediaServer({ url: stack.url, apiKey: stack.apiKey, apiSecret: stack.apiSecret });
  const roomsLeft = await roomsLeftOf(server);
  code = await showOutcome({
    say,
    stage: { folder, dataDir: appliance.dataDir, receiver },
    clips,
    outcomes,
    sessionId,
    mayMishear: Math.floor(clips.length * MAY_MISHEAR),
    alsoMissed: (results) => [
      ...(caller.isClosed ? [] : ['the bot ended the call and the telephone was not hung up']),
      ...(results.caller_id === CALLER ? [] : [`the caller is "${results.caller_id}" in the results`]),
      ...roomsLeft.map(({ name }) => `the room ${name} is still there after the call`),
    ],
    stop,
  });
  return code;
}

async function startHouse(
  folder: string,
  stack: OwnStack,
  stop: AbortSignal,
): Promise<{ appliance: Appliance; receiver: ResultsReceiver }> {
  const controlPort = await freePort();
  const receiver = await startResultsReceiver(`http://127.0.0.1:${controlPort}`);
  scope.teardown(() => receiver.close());
  const appliance = await startAppliance({
    folder,
    controlPort,
    baseUrl: receiver.url,
    slots: 2,
    program: projectPath('dist/src/cli/trunkline.js'),
    env: {
      LIVEKIT_URL: stack.wsUrl,
      LIVEKIT_API_KEY: stack.apiKey,
      LIVEKIT_API_SECRET: stack.apiSecret,
    },
    stop,
  });
  scope.teardown(() => appliance.stop());
  scope.teardown(await stack.sendWebhooksTo(`${appliance.fleetUrl}${DISPATCH_PATH}`));
  return { appliance, receiver };
}

/** As docs/operating.md has it: the one-time link makes the first admin, who makes a trunk and maps a number of it to the bot. */
async function giveNumber(appliance: Appliance): Promise<void> {
  const token = /setup#token=(\S+)/.exec(readFileSync(appliance.logFile, 'utf8'))?.[1] ?? '';
  const email = 'demo@example.com';
  const password = 'a demo needs no secret at all';
  const api = `${appliance.controlUrl}/api/v1`;
  await post(`${api}/auth/setup`, { token, email, name: 'Demo', password }, {});
  const { access_token: bearer } = await post(`${api}/auth/login`, { email, password, mode: 'token' }, {});
  const headers = { authorization: `Bearer ${String(bearer)}` };
  const trunk = await post(`${api}/trunks`, { name: 'Demo telephone', direction: 'inbound' }, headers);
  await post(
    `${api}/numbers`,
    { number: NUMBER, bot_id: 'demo', label: 'Demo', trunk_id: trunk.id },
    headers,
  );
}

/** The bot closes its room when the telephone is hung up; what is still there a while later is left behind. */
async function roomsLeftOf(server: MediaServer): Promise<RoomFact[]> {
  const endAtMs = monotonicMs() + ROOM_CLOSE_TIMEOUT_MS;
  for (;;) {
    const rooms = await server.listRooms();
    if (rooms.length === 0 || monotonicMs() > endAtMs) return rooms;
    await sleepMs(200);
  }
}

/** The control plane brings the number to the media server; until then a call would be refused. */
async function numberStands(stack: OwnStack): Promise<void> {
  const { sip } = new MediaServer({ url: stack.url, apiKey: stack.apiKey, apiSecret: stack.apiSecret });
  const endAtMs = monotonicMs() + ANSWER_TIMEOUT_MS;
  while (monotonicMs() < endAtMs) {
    const trunks = await sip.listSipInboundTrunk();
    const rules = await sip.listSipDispatchRule();
    if (rules.length > 0 && trunks.some((trunk) => trunk.numbers.includes(NUMBER))) return;
    await sleepMs(200);
  }
  throw new Error('the number did not reach the media server; see the log of the appliance');
}

async function post(
  url: string,
  body: Record<string, unknown>,
  headers: Record<string, string>,
): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${new URL(url).pathname} answered ${answer.status}: ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

async function tidy(folder: string): Promise<void> {
  await rm(join(folder, 'data'), { recursive: true, force: true });
  await rm(join(folder, 'appliance.log'), { force: true });
}

const EXIT_INTERRUPTED = 130;
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort());
const { values } = parseArgs({
  options: {
    keep: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
  },
});
let exitCode = 1;
const aborted = new Promise<number>((resolve) => {
  stopping.signal.addEventListener('abort', () => resolve(EXIT_INTERRUPTED));
});
try {
  exitCode = await Promise.race([play(values, stopping.signal), aborted]);
} catch (error) {
  process.stderr.write(`trunkline demo: ${describeError(error)}\n`);
}
for (const end of ends.reverse()) await end();
process.exit(stopping.signal.aborted ? EXIT_INTERRUPTED : exitCode);
