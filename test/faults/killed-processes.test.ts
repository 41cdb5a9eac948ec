import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { type DiallerCall, placeCall } from '../../src/cli/dialler-client.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { readWav } from '../../src/platform/wav.ts';
import { Appliance } from '../harness/appliance.ts';
import { BareLoop } from '../harness/bare-loop.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { FrameAudit, NO_FAULTS } from '../harness/frame-audit.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { placeWhenFree } from '../harness/place-call.ts';
import { until } from '../harness/wait.ts';

/**
 * The kills that systemd, the kernel or a bug would bring, with the same signals: a slot, main, a slot that stands
 * still. Calls that were not hit must not notice, calls that were hit must leave what there was.
 */
t.setTimeout(280_000);
const SLOTS = 4;
/** Beyond the 20 ms between frames; the goal for a loss of main (D-2). */
const GAP_MS = 25;
/** What the caller's own buffer covers, less what the line needs of it. */
const AUDIBLE_GAP_MS = 160;
/** A frame waits for two processes to be woken and to be served, each as long as a process that does nothing may. */
const WAITS_PER_FRAME = 4;
const idle = new BareLoop(t);
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: String(SLOTS) });
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});

const TURN = 'the caller said something';
const OPENING = 'Good morning.';
const LONG_REPLY = 'and so on '.repeat(60).trim();

interface LiveCall {
  call: DiallerCall;
  audit: FrameAudit;
  pid: number;
}

/** A call in mid-conversation: the caller has spoken one turn, and the bot is in the middle of a long reply. */
async function callInFullSwing(): Promise<LiveCall> {
  const busyBefore = new Set(await busyPids());
  plane.config = () => ({
    status: 200,
    body: plane.scriptedBot({
      opening_message: OPENING,
      stt: { provider: 'scripted', script: [TURN] },
      llm: { provider: 'scripted', rules: [], fallback: { reply: LONG_REPLY } },
    }),
  });
  const audit = new FrameAudit();
  const call = await placeWhenFree({ url: `${appliance.callUrl}scripted`, onAudio: audit.onAudio });
  const pid = (await busyPids()).find((candidate) => !busyBefore.has(candidate)) ?? -1;
  await call.answerAfter(0);
  const spoken = await call.say(humanSpeech('cards/001.wav'));
  await call.event('bot_started', 60_000, spoken.voiceEndedAtMs);
  return { call, audit, pid };
}

async function busyPids(): Promise<number[]> {
  const workers = (await appliance.health())?.workers ?? [];
  return workers.flatMap((worker) => (worker.state === 'busy' && worker.pid ? [worker.pid] : []));
}

/** The one result of a call. */
async function resultOf(call: DiallerCall): Promise<CallResults> {
  const result = await plane.resultOf(call.sessionId);
  const all = plane.results.filter(({ session_id: id }) => id === call.sessionId);
  if (all.length > 1) throw new Error('the result came more than once');
  return result;
}

/** The repaired recording of a salvaged call: readable, stereo, with sound on both sides. */
function loudSides(result: CallResults): { seconds: number; left: number; right: number } {
  const wav = readWav(readFileSync(join(appliance.dataDir, 'recordings', result.recording_key ?? 'none')));
  const loudest = (side: number) =>
    wav.samples.reduce((most, value, i) => (i % 2 === side ? Math.max(most, Math.abs(value)) : most), 0);
  return { seconds: wav.samples.length / 2 / 8000, left: loudest(0), right: loudest(1) };
}

t.test(
  'R30 a slot killed in mid-call: the other calls show no gap, the dead one leaves all it had',
  async (t) => {
    const others = [await callInFullSwing(), await callInFullSwing()];
    const victim = await callInFullSwing();
    await wait(1200);
    const killedAtMs = performance.now();
    process.kill(victim.pid, 'SIGKILL');
    t.equal((await victim.call.closed).code, 1006, 'its caller is let go at once');
    const result = await resultOf(victim.call);
    await wait(1500);
    for (const other of others) {
      t.notOk(other.call.isClosed);
      t.same(other.audit.faults, NO_FAULTS, 'no frame missing');
      const gapMs = other.audit.longestGapMs(killedAtMs - 500, performance.now());
      const machineMs = WAITS_PER_FRAME * idle.latestMs(killedAtMs - 500, performance.now());
      t.comment(
        `longest gap around the kill: ${gapMs.toFixed(1)} ms, the machine's: ${machineMs.toFixed(1)} ms`,
      );
      t.ok(gapMs < AUDIBLE_GAP_MS + machineMs, 'none so late that a caller with a 200 ms lead could hear it');
    }
    t.equal(result.disconnected_by, 'error', 'R106');
    t.ok(result.events.some((event) => event.event === 'slot_died'));
    t.same(
      result.transcript.map((entry) => entry.text).slice(0, 2),
      [OPENING, TURN],
      'RT-66 the transcript so far',
    );
    const sides = loudSides(result);
    const livedSeconds = (killedAtMs - victim.call.startedAtMs) / 1000;
    t.ok(
      sides.seconds > livedSeconds - 1.5,
      `RT-65 ${sides.seconds} s of ${livedSeconds.toFixed(1)} s are kept`,
    );
    t.ok(sides.left > 1000 && sides.right > 100, 'with both sides on it');
    await Promise.all(others.map((other) => other.call.hangUp()));
    for (const other of others) t.equal((await resultOf(other.call)).disconnected_by, 'customer');
    await appliance.until((health) => health.fleet_available === SLOTS);
    t.same(appliance.spooled, []);
  },
);

t.test(
  'main killed in mid-call and started again: calls go on, capacity is right, results arrive once',
  async (t) => {
    const live = [await callInFullSwing(), await callInFullSwing()];
    const killedAtMs = performance.now();
    await appliance.signalMain('SIGKILL');
    await wait(1000);
    await appliance.launch();
    const health = await appliance.until((health) => health.fleet_available === SLOTS - 2);
    const adoptedAfterMs = performance.now() - killedAtMs - 1000;
    t.comment(`the new main served and had adopted both calls after ${adoptedAfterMs.toFixed(0)} ms`);
    t.equal(
      health.workers?.filter((worker) => worker.state === 'orphan').length,
      2,
      'both are shown as orphans',
    );
    t.equal(health.fleet_total, SLOTS, 'and no slot was forked in their place');
    const full = [await callInFullSwing(), await callInFullSwing()];
    const refused = await placeCall({ url: `${appliance.callUrl}scripted` }).catch((error) => error);
    t.match(refused, { status: 429 }, 'R33 with the orphans the host is full');
    for (const { call, audit } of live) {
      t.notOk(call.isClosed, 'the old calls still run');
      t.same(audit.faults, NO_FAULTS);
      const gapMs = audit.longestGapMs(killedAtMs - 100, killedAtMs + 900);
      const machineMs = WAITS_PER_FRAME * idle.latestMs(killedAtMs - 100, killedAtMs + 900);
      t.comment(
        `longest gap around the kill: ${gapMs.toFixed(1)} ms, the machine's: ${machineMs.toFixed(1)} ms`,
      );
      t.ok(gapMs <= GAP_MS + machineMs, `no gap over ${GAP_MS} ms but what the machine adds`);
    }
    const everyone = [...live, ...full];
    await Promise.all(everyone.map(({ call }) => call.hangUp()));
    for (const { call } of everyone) t.equal((await resultOf(call)).disconnected_by, 'customer');
    await appliance.until((health) => health.fleet_available === SLOTS);
    await wait(500);
    t.equal(
      new Set(plane.results.map((result) => result.session_id)).size,
      plane.results.length,
      'R173 each once',
    );
  },
);

t.test('R31 a call that ends while main is away leaves its spool, and the next main delivers', async (t) => {
  const { call, pid } = await callInFullSwing();
  await appliance.signalMain('SIGKILL');
  await call.hangUp();
  await until(() => !isRunning(pid), 'the slot leaves with its call');
  t.equal(appliance.spooled.length, 1, 'and its folder waits');
  t.notOk(plane.results.some((result) => result.session_id === call.sessionId));
  await appliance.launch();
  t.equal((await resultOf(call)).disconnected_by, 'customer');
  t.same(appliance.spooled, []);
});

t.test('main and a slot killed together: the next main salvages', async (t) => {
  const { call, pid } = await callInFullSwing();
  await wait(1200);
  process.kill(pid, 'SIGKILL');
  await appliance.signalMain('SIGKILL');
  await appliance.launch();
  const result = await resultOf(call);
  t.equal(result.disconnected_by, 'error');
  t.ok(loudSides(result).seconds > 2);
});

t.test('RT-74 a slot that stands still is found, killed, salvaged and replaced', async (t) => {
  const { call, pid } = await callInFullSwing();
  const stoppedAtMs = performance.now();
  process.kill(pid, 'SIGSTOP');
  await call.closed;
  const foundAfterMs = performance.now() - stoppedAtMs;
  t.comment(`found and killed after ${(foundAfterMs / 1000).toFixed(1)} s`);
  const machineMs = idle.latestMs(stoppedAtMs, performance.now());
  t.ok(foundAfterMs > 3_500 && foundAfterMs < 12_000 + 10 * machineMs);
  const result = await resultOf(call);
  t.equal(result.disconnected_by, 'error');
  t.ok(result.events.some((event) => event.event === 'slot_hung'));
  await appliance.until((health) => health.fleet_available === SLOTS);
});

t.test('RT-74 an orphan that stands still is found as well', async (t) => {
  const { call, pid } = await callInFullSwing();
  await appliance.signalMain('SIGKILL');
  process.kill(pid, 'SIGSTOP');
  await appliance.launch();
  await call.closed;
  t.equal((await resultOf(call)).disconnected_by, 'error');
  await appliance.until((health) => health.fleet_available === SLOTS);
});

t.test('SIGTERM drains: no new calls, live ones go on to their end, then main leaves with 0', async (t) => {
  const { call } = await callInFullSwing();
  const gone = appliance.signalMain('SIGTERM');
  await appliance.until((health) => health.status === 'draining');
  const refused = await placeCall({ url: `${appliance.callUrl}scripted` }).catch((error) => error);
  t.match(refused, { status: 503 });
  await wait(500);
  t.notOk(call.isClosed);
  await call.hangUp();
  t.equal(await gone, 0);
  await appliance.launch();
  t.equal((await resultOf(call)).disconnected_by, 'customer');
});

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
