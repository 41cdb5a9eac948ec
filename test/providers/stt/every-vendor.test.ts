import t from 'tap';
import { speakTones } from '../../emulators/kit/tone-words.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { until } from '../../harness/wait.ts';
import { Caller, rejection, WORDS } from './caller.ts';
import { VENDORS } from './vendors.ts';

/** More audio than any system takes before it pushes back: 48 MB. */
const FLOOD_SECONDS = 3_000;

/** What holds for every streaming engine alike: failures told once with their class, and nothing left behind. */
for (const vendor of VENDORS) {
  t.test(`R8 ${vendor.name}: without a key it is refused, and the key stands in no address`, async (t) => {
    const emulator = await vendor.start();
    t.teardown(() => emulator.close());
    const failed = Caller.calls(vendor.config(emulator, { api_key: null }), emulator.clock).then(
      async (caller) => {
        const failure = await caller.failure();
        await caller.session.close();
        return failure;
      },
      (error: Error & { details?: unknown }) => error,
    );
    // Soniox takes its key in the first message, which without one is not a whole message.
    t.match((await failed).details, { class: vendor.name === 'soniox' ? 'config' : 'auth' });
    t.not(emulator.violations.take().length, 0, 'the vendor noticed');
    const caller = await Caller.calls(vendor.config(emulator), emulator.clock);
    const handshake = emulator.log.entries.filter((entry) => entry.kind === 'handshake').at(-1);
    t.notMatch(JSON.stringify([handshake?.path, handshake?.query]), /\*\*\*/);
    await caller.session.close();
    t.same(emulator.violations.list, []);
  });

  t.test(`R8 ${vendor.name}: a refused handshake is told with class, status and Retry-After`, async (t) => {
    const emulator = await vendor.start();
    t.teardown(() => emulator.close());
    const key = 'a-key-that-nobody-may-see';
    for (const [status, expected] of [
      [302, 'config'],
      [400, 'config'],
      [401, 'auth'],
      [402, 'quota'],
      [403, 'auth'],
      [404, 'config'],
      [422, 'config'],
      [429, 'rate_limit'],
      [500, 'transient'],
      [503, 'transient'],
    ] as const) {
      const handshakes = emulator.log.entries.filter((entry) => entry.kind === 'handshake').length;
      emulator.control.next({
        status,
        headers: { 'retry-after': '7', location: emulator.wsUrl },
        body: `no, not with ${key} at wss://some.host/path?key=${key} ${'x'.repeat(40_000)}`,
      });
      const failure = await rejection(
        Caller.calls(vendor.config(emulator, { api_key: key }), emulator.clock),
      );
      t.equal(failure.code, 'provider_failed');
      t.match(failure.details, { family: 'stt', class: expected, status, retryAfterMs: 7_000 });
      t.notOk(JSON.stringify([failure.message, failure.details]).includes(key), 'the key is not shown');
      t.notMatch(failure.message, /wss?:\/\//);
      t.ok(failure.message.length < 500, 'a long answer is cut');
      const now = emulator.log.entries.filter((entry) => entry.kind === 'handshake').length;
      t.equal(now, handshakes + 1, 'nobody tried again and no redirect was followed');
    }
  });

  t.test(
    `R8 ${vendor.name}: no answer, a reset, a line that is not TLS and a strange certificate`,
    async (t) => {
      const emulator = await vendor.start();
      t.teardown(() => emulator.close());
      const dial = (more: Record<string, unknown> = {}) =>
        rejection(Caller.calls(vendor.config(emulator, more), emulator.clock));
      emulator.control.next({ never: true });
      const late = await dial({ timeout_ms: 500 });
      t.equal(late.code, 'provider_timeout');
      t.match(late.details, { class: 'transient', status: null });
      emulator.control.next({ slowMs: 1_500 });
      t.equal((await dial({ timeout_ms: 500 })).code, 'provider_timeout', 'too slow is too late');
      emulator.control.next({ reset: true });
      t.match((await dial()).details, { class: 'transient', status: null });
      t.match((await dial({ base_url: 'ws://127.0.0.1:1' })).details, { class: 'transient', status: null });
      const secure = await vendor.start({ tls: true });
      t.teardown(() => secure.close());
      t.match(
        (await dial({ base_url: secure.wsUrl })).details,
        { class: 'transient' },
        'an unknown authority',
      );
      secure.control.next({ tlsFailure: true });
      t.match((await dial({ base_url: secure.httpUrl })).details, { class: 'transient' });
      await until(() => emulator.counters().openSockets === 0, 'the end of every socket');
    },
  );

  t.test(`R8 ${vendor.name}: a session that breaks says so once, and its flush fails`, async (t) => {
    const emulator = await vendor.start({ clock: new HandClock(1_000) });
    t.teardown(() => emulator.close());
    const faults: [string, (connection: ReturnType<typeof emulator.control.latest>) => void, string][] = [
      ['close 1000', (connection) => connection.close(1000), 'transient'],
      ['cut', (connection) => connection.cut(), 'transient'],
      ['reset', (connection) => connection.reset(), 'transient'],
      ['close 1011', (connection) => connection.close(1011), 'transient'],
      ['close 1012', (connection) => connection.close(1012), 'transient'],
      ['half json', (connection) => connection.sendHalfJson(), 'transient'],
      ['cut in frame', (connection) => connection.cutInFrame(), 'transient'],
      ['oversized', (connection) => connection.sendOversized(2_000_000), 'transient'],
    ];
    for (const [what, act, expected] of faults) {
      const caller = await Caller.at(emulator, vendor.config(emulator));
      await caller.say('yes please');
      // Nothing more is answered, so that the flush waits for something that will not come.
      emulator.control.latest().scripted = true;
      const flushed = caller.flush().then(
        () => null,
        (error: { code?: string }) => error,
      );
      act(emulator.control.latest());
      const failure = await caller.failure();
      t.match(failure.details, { family: 'stt', class: expected }, what);
      const rejected = await flushed;
      // An engine that detects turns gives what it has at once.
      if (!caller.stt.detectsTurns) t.match(rejected?.code, /^provider_/, what);
      t.match((await rejection(caller.flush())).message, /session is over/);
      caller.session.feed(new Int16Array(160));
      await caller.session.close();
      await caller.session.close();
      t.equal(caller.failures.length, 1, `${what} is told once`);
    }
    await until(() => emulator.counters().openSockets === 0, 'the end of every socket');
  });

  t.test(
    `R8 ${vendor.name}: who gives up a turn gets his own reason, and the next turn is whole`,
    async (t) => {
      const clock = new HandClock(1_000);
      const emulator = await vendor.start({ clock });
      t.teardown(() => emulator.close());
      const caller = await Caller.at(emulator, vendor.config(emulator));
      t.equal((await rejection(caller.session.flush(AbortSignal.abort(new Error('gone'))))).message, 'gone');
      await caller.say('good morning');
      const connection = emulator.control.latest();
      // Nothing is answered until the turn was given up.
      connection.scripted = true;
      const giveUp = new AbortController();
      const given = caller.session.flush(giveUp.signal).then(
        () => null,
        (error: Error) => error,
      );
      giveUp.abort(new Error('too late for this turn'));
      if (!caller.stt.detectsTurns) t.equal((await given)?.message, 'too late for this turn');
      await until(() => emulator.audio(0).samples >= caller.fedSamples - 640, 'the audio at the vendor');
      await caller.pause(1_200);
      await until(() => emulator.audio(0).samples >= caller.fedSamples - 640, 'the pause at the vendor');
      connection.scripted = false;
      await caller.say('yes please');
      await caller.pause(1_200);
      if (caller.stt.detectsTurns) {
        await until(() => caller.ended.length > 0, 'the end of the turn');
        t.equal(caller.ended.at(-1)?.text, 'yes please');
      } else {
        await until(() => caller.finals.some((piece) => piece.text.includes('please')), 'the words');
        t.equal((await caller.flush()).text, 'yes please');
      }
      await caller.hangUp(clock);
      await until(() => clock.pendingTimers === 0, 'the end of every timer');
    },
  );

  t.test(`R8 ${vendor.name}: a message of a kind that nobody knows is passed over`, async (t) => {
    const emulator = await vendor.start();
    t.teardown(() => emulator.close());
    const caller = await Caller.calls(vendor.config(emulator), emulator.clock);
    const connection = emulator.control.latest();
    connection.sendUnknown();
    connection.sendUnknown([]);
    connection.sendUnknown(null);
    connection.sendUnknown('text');
    connection.sendBinary(Buffer.from('{"type":"binary"}'));
    await caller.say('yes');
    await caller.pause(1_200);
    await until(() => caller.finals.some((piece) => piece.text.includes('yes')), 'the words');
    t.same(caller.failures, []);
    await caller.session.close();
  });

  t.test(`R8 ${vendor.name}: a line that went dead is noticed by missed pongs`, async (t) => {
    const clock = new HandClock(1_000);
    const emulator = await vendor.start({ clock });
    t.teardown(() => emulator.close());
    const caller = await Caller.at(emulator, vendor.config(emulator));
    // Audio flows all the time, so that no idle rule of the vendor ends it first.
    emulator.control.latest().goSilent();
    const startMs = clock.nowMs();
    for (let round = 0; round < 500 && caller.failures.length === 0; round++) {
      await caller.pause(20);
      await clock.advance(100, 100);
    }
    const failure = await caller.failure();
    t.equal(failure.code, 'provider_timeout');
    t.match(failure.details, { class: 'transient' });
    const afterMs = clock.nowMs() - startMs;
    t.ok(afterMs >= 20_000 && afterMs <= 31_000, `noticed after ${afterMs} ms`);
    await caller.session.close();
    await until(() => clock.pendingTimers <= 1, 'the end of our timers');
  });

  t.test(
    `R8 ${vendor.name}: audio arrives complete, in order, in real time and at its own rate`,
    async (t) => {
      for (const sampleRate of [8_000, 16_000]) {
        const clock = new HandClock(1_000);
        const emulator = await vendor.start({ clock });
        t.teardown(() => emulator.close());
        const caller = await Caller.at(emulator, vendor.config(emulator), sampleRate);
        const audio = speakTones('good morning i would like a table for two', WORDS, sampleRate);
        await caller.feed(audio, () => clock.advance(20, 20));
        await caller.feed(new Int16Array(sampleRate), () => clock.advance(20, 20));
        await until(() => emulator.audio(0).samples >= caller.fedSamples - sampleRate * 0.08, 'the audio');
        const truth = emulator.audio(0);
        t.ok(truth.realTimeRatio > 0.9 && truth.realTimeRatio < 1.1, `${truth.realTimeRatio} of real time`);
        t.equal(truth.byteOrderSuspect, false);
        await until(
          () =>
            caller.finals
              .map((piece) => piece.text)
              .join(' ')
              .includes('two'),
          'the words',
        );
        const text = caller.finals.map((piece) => piece.text.trim()).filter(Boolean);
        t.equal(text.join(' '), 'good morning i would like a table for two');
        await caller.session.close();
        await until(() => clock.pendingTimers === 0, 'the end of every timer');
        t.same(emulator.violations.list, []);
      }
    },
  );

  t.test(`R8 ${vendor.name}: what a line does not take is kept for 2 s, then the oldest goes`, async (t) => {
    const clock = new HandClock(1_000);
    const emulator = await vendor.start({ clock });
    t.teardown(() => emulator.close());
    const caller = await Caller.at(emulator, vendor.config(emulator));
    const connection = emulator.control.latest();
    connection.goSilent();
    // The system takes some megabytes before it pushes back; the clock stands still meanwhile.
    const flood = new Int16Array(8_000);
    for (let second = 0; second < FLOOD_SECONDS; second++) {
      caller.session.feed(flood);
      caller.fedSamples += flood.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.same(caller.failures, []);
    connection.wake();
    await until(() => caller.reports.length > 0, 'the report of what was dropped');
    t.match(caller.reports, [{ event: 'provider_audio_dropped', family: 'stt' }]);
    const droppedMs = Number(caller.reports[0]?.dropped_ms);
    await caller.pause(200);
    await until(
      () => emulator.audio(0).samples >= caller.fedSamples - droppedMs * 8 - 640,
      'all that was not dropped',
    );
    const heardMs = (emulator.audio(0).samples * 1_000) / 8_000;
    const fedMs = caller.fedSamples / 8;
    t.ok(
      Math.abs(heardMs + droppedMs - fedMs) <= 80,
      `${heardMs} heard + ${droppedMs} dropped of ${fedMs} ms`,
    );
    await caller.say('no thank you');
    await caller.pause(1_200);
    await until(() => caller.finals.some((piece) => piece.text.includes('you')), 'the words after it');
    const upto = caller.finals.find((piece) => piece.text.includes('you'))?.uptoSample;
    if (upto !== null && upto !== undefined)
      t.ok(upto > caller.fedSamples - 16_000 && upto <= caller.fedSamples, `${upto} of ${caller.fedSamples}`);
    await caller.session.close();
    await until(() => clock.pendingTimers === 0, 'the end of every timer');
  });
}
