import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { providersOf } from '../../../src/providers/vendors/all-vendors.ts';
import { scaledClock } from '../../emulators/kit/emulator-clock.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { until } from '../../harness/wait.ts';
import {
  ALL_VENDORS,
  failureOf,
  hear,
  isToneOf,
  never,
  openFor,
  SOCKET_VENDORS,
  startVoice,
  VENDORS,
} from './vendors.ts';

const TEXT = 'One clause of some length to be spoken.';
const NEXT = 'And the one behind it.';

const REFUSALS = [
  { status: 400, class: 'config' },
  { status: 401, class: 'auth' },
  { status: 402, class: 'quota' },
  { status: 403, class: 'auth' },
  { status: 404, class: 'config' },
  { status: 429, class: 'rate_limit', headers: { 'retry-after': '7' }, retryAfterMs: 7_000 },
  { status: 500, class: 'transient' },
  { status: 503, class: 'transient' },
];

for (const name of ALL_VENDORS) {
  t.test(`R8 ${name}: a clause is heard to the sample, also where chunks tear samples apart`, async (t) => {
    for (const oddChunks of [false, true]) {
      const { emulator, tts, close } = await startVoice(name, { voice: { oddChunks } });
      for (const text of [TEXT, NEXT]) {
        const heard = await hear(tts, text);
        t.equal(heard.error, undefined);
        t.ok(isToneOf(heard.samples, text, tts.sampleRate), `${heard.samples.length} samples`);
      }
      t.equal((await hear(tts, ' … ')).samples.length, 0, 'what has no sound is not sent');
      t.same(emulator.violations.list, []);
      await close();
    }
  });

  t.test(
    `R8 ${name}: a refusal tells its class at once, is not tried again, and spoils nothing`,
    async (t) => {
      const { emulator, tts, close } = await startVoice(name);
      for (const { status, headers, retryAfterMs, ...expected } of REFUSALS) {
        const before = emulator.counters();
        emulator.control.next({ status, ...(headers ? { headers } : {}), body: { error: 'refused' } });
        const { error, samples } = await hear(tts, TEXT);
        t.match(failureOf(error), {
          code: 'provider_failed',
          provider: name,
          family: 'tts',
          status,
          ...expected,
        });
        if (retryAfterMs) t.equal(failureOf(error).retryAfterMs, retryAfterMs);
        t.equal(samples.length, 0);
        t.notMatch(String(error), String(emulator.apiKey), 'the key is in no message');
        t.notMatch(String(error), /127\.0\.0\.1/, 'nor is the address');
        const after = emulator.counters();
        t.equal(after.refused + after.requests - before.refused - before.requests, 1, 'one attempt');
      }
      t.ok(isToneOf((await hear(tts, TEXT)).samples, TEXT, tts.sampleRate));
      await close();
    },
  );

  t.test(`R8 ${name}: a wrong key is refused as such`, async (t) => {
    const { emulator, tts, close } = await startVoice(name, { settings: { api_key: 'wrong-key' } });
    t.match(failureOf((await hear(tts, TEXT)).error), { class: 'auth' });
    const logged = JSON.stringify(emulator.log.entries.map(({ path, query }) => [path, query]));
    t.notMatch(logged, /wrong-key/, 'no key stands in an address');
    await close();
  });

  t.test(`R8 ${name}: a reset line and a server that is not TLS are transient`, async (t) => {
    const plain = await startVoice(name);
    plain.emulator.control.next({ reset: true });
    t.match(failureOf((await hear(plain.tts, TEXT)).error), { code: 'provider_failed', class: 'transient' });
    await plain.close();

    const secure = await startVoice(name, { tls: true });
    secure.emulator.control.next({ tlsFailure: true });
    t.match(
      failureOf((await hear(secure.tts, TEXT)).error),
      { class: 'transient' },
      'no TLS at the other end',
    );
    t.match(failureOf((await hear(secure.tts, TEXT)).error), { class: 'transient' }, 'an unknown authority');
    t.equal(secure.emulator.counters().handshakes, 0);
    await secure.close();
  });

  t.test(`R8 ${name}: a clause that is stopped gives its own reason and nothing more`, async (t) => {
    const { emulator, tts, close } = await startVoice(name, { voice: { speed: 4 } });
    const reason = new Error('interrupted');
    for (const when of ['before', 'first block']) {
      const stop = new AbortController();
      if (when === 'before') stop.abort(reason);
      const { error, samples } = await hear(tts, TEXT, {
        signal: stop.signal,
        onBlock: () => {
          t.notOk(stop.signal.aborted, 'no block behind the abort');
          stop.abort(reason);
        },
      });
      t.equal(error, reason);
      t.ok(isToneOf(samples, TEXT, tts.sampleRate, 'part'));
    }
    t.ok(
      isToneOf((await hear(tts, NEXT)).samples, NEXT, tts.sampleRate),
      'the next clause is whole and alone',
    );
    t.same(emulator.violations.list, []);
    await close();
  });

  t.test(`R8 ${name}: warming opens the connection that the first clause uses`, async (t) => {
    const { emulator, tts, close } = await startVoice(name);
    await tts.warm?.();
    await tts.warm?.();
    const before = emulator.counters();
    t.equal(name === 'openai' ? before.requests : before.handshakes, name === 'openai' ? 2 : 1);
    const ports = emulator.log.entries.length;
    await hear(tts, TEXT);
    const sent = emulator.log.entries.slice(ports);
    t.ok(sent.some((entry) => entry.direction === 'in' && entry.connection === (name === 'openai' ? 2 : 0)));
    await close();
  });

  t.test(`R8 ${name}: first audio is there as soon as the vendor sends it`, async (t) => {
    const { emulator, tts, close } = await startVoice(name, { voice: { firstAudioMs: 30 } });
    const lateMs: number[] = [];
    for (let round = 0; round < 10; round++) {
      const from = emulator.log.entries.length;
      let heardAtMs = 0;
      await hear(tts, NEXT, {
        onBlock: () => {
          heardAtMs ||= emulator.clock.nowMs();
        },
      });
      const first = emulator.log.entries
        .slice(from)
        .find(
          ({ direction, kind, bytes, text }) =>
            direction === 'out' && (kind === 'chunk' || (text?.length ?? 0) > 500) && (bytes ?? 1) > 0,
        );
      lateMs.push(heardAtMs - (first?.atMs ?? 0));
    }
    // The machine may be busy in any one round; what the client itself adds shows in the quickest.
    t.ok(Math.min(...lateMs) < 20, `${Math.min(...lateMs)} ms`);
    await close();
  });

  t.test(`R8 ${name}: a closed voice speaks no more and leaves nothing open`, async (t) => {
    const { emulator, tts, close } = await startVoice(name, { voice: { speed: 1 } });
    const speaking = hear(tts, TEXT, { onBlock: () => void tts.close() });
    t.match(failureOf((await speaking).error), { class: 'transient' });
    await tts.close();
    t.match(failureOf((await hear(tts, TEXT)).error), { class: 'transient' });
    await until(() => emulator.counters().openSockets === 0, 'the end of every socket');
    await close();
  });

  t.test(`R8 ${name}: a call that is over leaves no socket, no timer and no listener`, async (t) => {
    const clock = new HandClock(1_000);
    const { emulator, tts, close } = await startVoice(name, { clock, voice: { firstAudioMs: 0 } });
    const stop = new AbortController();
    await tts.warm?.();
    await hear(tts, TEXT, { signal: stop.signal });
    emulator.control.next({ status: 503 });
    await hear(tts, NEXT, { signal: stop.signal });
    t.equal(getEventListeners(stop.signal, 'abort').length, 0);
    await tts.close();
    await until(() => emulator.counters().openSockets === 0, 'the end of every socket');
    t.equal(clock.pendingTimers, 0);
    const goodbyes = emulator.log.entries.filter(
      ({ direction, kind }) => direction === 'in' && kind === 'close',
    );
    for (const goodbye of goodbyes) t.match(String(goodbye.code), /^(1000|1005)$/, 'closed in peace');
    await close();
  });

  t.test(`R8 ${name}: two hundred calls leave no memory behind`, async (t) => {
    const {
      emulator,
      close,
      tts: first,
    } = await startVoice(name, { voice: { firstAudioMs: 0, msPerChar: 5 } });
    await first.close();
    const call = async () => {
      const { tts } = await openFor(name, emulator);
      await hear(tts, NEXT);
      await tts.close();
      // What the emulator remembers of each call is not the client's.
      emulator.log.clear();
      emulator.control.sockets.length = 0;
    };
    for (let round = 0; round < 50; round++) await call();
    const heapBefore = usedHeap();
    for (let round = 0; round < 150; round++) await call();
    const grownKb = (usedHeap() - heapBefore) / 1_024;
    t.ok(grownKb < 4_000, `${Math.round(grownKb)} KB more`);
    t.same(emulator.violations.list, []);
    await close();
  });
}

const CLOSES = [
  { code: 1000, class: 'transient' },
  { code: 1008, class: 'config' },
  { code: 1011, class: 'transient' },
  { code: 1012, class: 'transient' },
  { code: 4000, class: 'transient' },
];

for (const name of SOCKET_VENDORS) {
  const slow = { speed: 4 };

  t.test(
    `R8 ${name}: a connection that ends in the middle fails the clause once, and the next is spoken`,
    async (t) => {
      const { emulator, tts, close } = await startVoice(name, {
        voice: slow,
        settings: { warm_spare: false },
      });
      const socket = () => emulator.control.latest();
      const faults: [string, () => void, string][] = [
        ...CLOSES.map(({ code, ...rest }): [string, () => void, string] => [
          `close ${code}`,
          () => socket().close(code, 'ordered'),
          // What ElevenLabs calls a violation is disorder among the contexts of a socket.
          name === 'elevenlabs' && code === 1008 ? 'transient' : rest.class,
        ]),
        ['cut', () => socket().cut(), 'transient'],
        ['reset', () => socket().reset(), 'transient'],
        ['half a frame', () => socket().cutInFrame(), 'transient'],
        ['half a JSON text', () => socket().sendHalfJson(), 'transient'],
        ['an oversized frame', () => socket().sendOversized(), 'transient'],
      ];
      for (const [what, order, failureClass] of faults) {
        let ordered = false;
        const { error, samples } = await hear(tts, TEXT, {
          onBlock: () => {
            if (!ordered) order();
            ordered = true;
          },
        });
        t.match(failureOf(error), { code: /^provider_/, class: failureClass, family: 'tts' }, what);
        t.ok(samples.length > 0 && isToneOf(samples, TEXT, tts.sampleRate, 'part'), `${what}: a beginning`);
      }
      t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, tts.sampleRate));
      t.same(emulator.violations.list, []);
      await close();
    },
  );

  t.test(`R8 ${name}: messages that mean nothing are passed over`, async (t) => {
    const { emulator, tts, close } = await startVoice(name, { voice: slow });
    let blocks = 0;
    const { error, samples } = await hear(tts, TEXT, {
      onBlock: () => {
        const socket = emulator.control.connection(0);
        if (blocks++ === 0) for (const message of UNKNOWN) socket.sendUnknown(message);
      },
    });
    t.equal(error, undefined);
    t.ok(isToneOf(samples, TEXT, tts.sampleRate));
    await close();
  });

  t.test(`R8 ${name}: a doubled end of one clause does not end the next`, async (t) => {
    const { emulator, tts, close } = await startVoice(name, { settings: { warm_spare: false } });
    await hear(tts, TEXT);
    const next = hear(tts, NEXT);
    emulator.control.connection(0).duplicateLast();
    t.ok(isToneOf((await next).samples, NEXT, tts.sampleRate));
    t.equal(emulator.counters().handshakes, 1);
    await close();
  });

  t.test(`R8 ${name}: a socket that nobody answers on is found dead`, async (t) => {
    // Pings go every 10 s and two may be missed; all of it takes 0.75 s on this clock.
    const { emulator, tts, close } = await startVoice(name, { clock: scaledClock(40) });
    await hear(tts, TEXT);
    emulator.control.connection(0).goSilent();
    const { error } = await hear(tts, NEXT);
    t.match(failureOf(error), { code: 'provider_timeout', class: 'transient' });
    t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, tts.sampleRate));
    await close();
  });

  t.test(`R8 ${name}: a handshake that takes too long is given up`, async (t) => {
    const { emulator, tts, close } = await startVoice(name, { clock: scaledClock(20) });
    emulator.control.next({ never: true });
    t.match(failureOf((await hear(tts, TEXT)).error), { code: 'provider_timeout', class: 'transient' });
    emulator.control.next({ never: true });
    const stop = new AbortController();
    const waiting = hear(tts, TEXT, { signal: stop.signal });
    stop.abort(new Error('gone'));
    t.match((await waiting).error, { message: 'gone' }, 'a caller who leaves does not wait for it');
    await close();
  });

  t.test(`R8 ${name}: the base_url keeps its prefix, and settings out of range name their key`, async (t) => {
    const { emulator, close } = await startVoice(name);
    const wrong: [string, unknown][] = [
      ['sample_rate', 12_345],
      ['voice', ''],
      ['model', 'a b'],
      ['base_url', 'ftp://host'],
      [name === 'sarvam' ? 'pace' : 'speed', 9],
      ['language', '??'],
    ];
    for (const [key, value] of wrong) {
      await t.rejects(
        openFor(name, emulator, { [key]: value }),
        { code: 'bad_provider_config', message: new RegExp(`^tts\\.${key} `) },
        key,
      );
    }
    await t.rejects(openFor(name, { ...emulator, apiKey: null }), { message: /^tts\.api_key is missing/ });
    const { tts } = await openFor(name, emulator, { base_url: `${emulator.wsUrl}/proxy` });
    t.match(failureOf((await hear(tts, TEXT)).error), { class: 'config', status: 404 });
    const asked = emulator.log.of('in', 'handshake').at(-1);
    t.match(asked?.path, /^\/proxy\//);
    await tts.close();
    await close();
  });
}

t.test('every voice over the network has its tests', async (t) => {
  const cloud = providersOf('tts').flatMap(({ models }) => models?.provider ?? []);
  t.same(Object.keys(VENDORS).sort(), cloud.sort());
  t.notOk(never.aborted);
});

const UNKNOWN: unknown[] = [
  { type: 'SomethingNew', detail: { since: 2027 } },
  { type: 'audio', data: null },
  { contextId: 'nobody', audio: 'AAAA', isFinal: true },
  { type: 'chunk', context_id: 'nobody', data: 'AAAA' },
  { type: 'done', context_id: 'nobody' },
  { type: 'timestamps', context_id: 'nobody', word_timestamps: 7 },
  [],
  null,
  'text',
  42,
];

function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
