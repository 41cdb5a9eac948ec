import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { RoomServiceClient, WebhookReceiver } from 'livekit-server-sdk';
import t from 'tap';
import { humanSpeech } from '../harness/human-speech.ts';
import { until } from '../harness/wait.ts';
import { startBaresip } from '../stack/baresip-peer.ts';
import { describeFound, findAudio } from '../stack/correlate.ts';
import { findLeftovers } from '../stack/leftovers.ts';
import { openRtpEndpoint } from '../stack/rtp-endpoint.ts';
import { inboundRouteTo } from '../stack/sip-routes.ts';
import { startSipp } from '../stack/sipp-peer.ts';
import type { StackAddresses } from '../stack/start-stack.ts';
import { ownStack, uniqueNumber, uniqueRoom, useStack } from '../stack/use-stack.ts';

const COMMAND = fileURLToPath(
  new URL(`../stack/stack-command.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
);

t.test('the media stack takes rooms and tells of them by webhooks that prove who sent them', async (t) => {
  const stack = await useStack(t);
  const name = uniqueRoom(t, stack, 'webhooks');
  const receiver = new WebhookReceiver(stack.apiKey, stack.apiSecret);
  const told: string[] = [];
  const server = createServer((request, answer) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.once('end', async () => {
      answer.end();
      // The token in the header holds a hash of the body, so that a changed one is refused here.
      const event = await receiver.receive(body, request.headers.authorization);
      if (event.room?.name === name) told.push(event.event);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const stopTelling = await stack.sendWebhooksTo(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  );
  t.teardown(stopTelling);

  const rooms = new RoomServiceClient(stack.url, stack.apiKey, stack.apiSecret);
  await rooms.createRoom({ name });
  t.equal((await rooms.listRooms([name])).length, 1, 'the room is there');
  await rooms.deleteRoom(name);
  await until(() => told.includes('room_finished'), 'both webhooks came');
  t.same(told, ['room_started', 'room_finished']);
});

t.test('a telephone and a softphone hear each other, speech and keys', async (t) => {
  const speech = humanSpeech('goforward.raw');
  const softphone = await startBaresip(t, { speech, user: 'desk' });
  const media = await openRtpEndpoint(t);
  const telephone = await startSipp(t, 'uac-call', {
    media,
    to: softphone.address,
    toUser: 'desk',
    headers: { 'X-Ticket': '17' },
  });
  await softphone.until('CALL_ESTABLISHED');
  await media.play(speech);
  await softphone.sendDigits('12#');
  await media.until((endpoint) => endpoint.digits() === '12#');
  await media.sendDigits('9');
  t.equal((await softphone.until('CALL_DTMF_START')).param, '9');

  const [there, here] = [findAudio(speech, softphone.heard()), findAudio(speech, media.heard())];
  t.comment(`softphone: ${describeFound(there)}`);
  t.comment(`telephone: ${describeFound(here)}`);
  t.ok(there.share > 0.7 && here.share > 0.7, 'both heard the recording');
  t.ok(Math.abs(here.levelDbfs - here.knownLevelDbfs) < 3, 'at its level');
  await softphone.hangUp();
  const { exitCode, messages, output } = await telephone.finished;
  t.equal(exitCode, 0, output);
  const invite = messages.find(({ method }) => method === 'INVITE');
  t.same(invite?.headers['x-ticket'], ['17'], 'the header that was asked for was sent');
});

t.test(
  'speech is recognised by its shape: delayed, quieter and noisy, but not another recording',
  async (t) => {
    const speech = humanSpeech('goforward.raw');
    const other = humanSpeech('something.raw');
    const delayed = new Int16Array(speech.length + 16_000);
    let noise = 1;
    for (let index = 0; index < delayed.length; index++) {
      noise = (noise * 48_271) % 2_147_483_647;
      delayed[index] = (speech[index - 8_000] ?? 0) / 4 + ((noise % 41) - 20);
    }
    const found = findAudio(speech, delayed);
    t.comment(describeFound(found));
    t.ok(Math.abs(found.lagMs - 1000) < 2, 'where it begins');
    t.equal(found.share, 1, 'all of it');
    t.ok(Math.abs(found.knownLevelDbfs - found.levelDbfs - 12) < 1, 'how much quieter');
    const wrong = findAudio(other, delayed);
    t.comment(describeFound(wrong));
    t.ok(wrong.share < 0.3 && wrong.correlation < 0.4, 'and what was never said is not found');
  },
);

t.test('a killed media server comes back on its ports, and so does the SIP service', async (t) => {
  const stack = await ownStack(t);
  const rooms = new RoomServiceClient(stack.url, stack.apiKey, stack.apiSecret);
  await rooms.createRoom({ name: 'before' });
  await stack.killServer();
  await t.rejects(rooms.listRooms(), 'it is gone');
  await stack.startServer();
  await rooms.createRoom({ name: 'after' });
  t.equal((await rooms.listRooms(['after'])).length, 1, 'it takes rooms again');
  await stack.killSip();
  await stack.startSip();
  const number = uniqueNumber();
  await inboundRouteTo(t, stack, { number, room: 'after' });
  const caller = await startSipp(t, 'uac-cancel', { to: stack.sipAddress, toUser: number });
  await caller.until(({ status }) => status === 180);
  t.equal((await caller.finished).exitCode, 0, 'a call rings and can be taken back');
});

t.test('a room and a call that were left behind are named by the servers themselves', async (t) => {
  const stack = await ownStack(t);
  const rooms = new RoomServiceClient(stack.url, stack.apiKey, stack.apiSecret);
  await rooms.createRoom({ name: 'forgotten' });
  const number = uniqueNumber();
  await inboundRouteTo(t, stack, { number, room: 'unanswered' });
  const caller = await startSipp(t, 'uac-call', { to: stack.sipAddress, toUser: number });
  await caller.until(({ status }) => status === 180);
  await until(async () => (await rooms.listRooms(['unanswered'])).length > 0, 'its room is there');
  const left = await findLeftovers(stack, { roomsMs: 0, callsMs: 2_000 });
  t.match(left.rooms.join('; '), /forgotten: nobody/);
  t.match(left.rooms.join('; '), /unanswered: .*\(SIP\)/);
  t.match(left.calls, /"inbound": 1/);

  const clean = await ownStack(t);
  t.same(await findLeftovers(clean), { rooms: [], calls: '' }, 'and a clean stack is called clean');
});

for (const [how, end] of [
  ['its parent is killed', 'kill'],
  ['its standard input ends', 'input'],
] as const) {
  t.test(`nothing of a stack is left when ${how}`, async (t) => {
    const child = spawn(process.execPath, [COMMAND], { stdio: ['pipe', 'pipe', 'inherit'] });
    t.teardown(() => child.kill('SIGKILL'));
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const addresses = JSON.parse(line) as StackAddresses;
    const programs = childrenOf(child.pid ?? 0);
    t.equal(programs.length, 3, 'Redis, livekit-server and livekit-sip run');
    if (end === 'kill') child.kill('SIGKILL');
    else child.stdin.end();
    await until(() => programs.every((pid) => !isRunning(pid)), 'all three are gone');
    await until(() => child.exitCode !== null || child.signalCode !== null, 'the command has ended');
    if (end === 'input') t.notOk(existsSync(addresses.logsFolder), 'the folder is gone too');
  });
}

/** Processes whose parent is this one, as the kernel lists them. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)?.[1] === String(parent));
}

/** A process that nobody has reaped yet is over all the same. */
function isRunning(pid: number): boolean {
  const state = statOf(pid)?.[0];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** State and parent of a process; they stand behind its name, which may hold anything. */
function statOf(pid: number): string[] | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? null;
  } catch {
    return null;
  }
}
