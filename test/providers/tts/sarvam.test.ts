import t from 'tap';
import { startSarvamTts } from '../../emulators/sarvam-tts.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { until } from '../../harness/wait.ts';
import { failureOf, hear, isToneOf, openFor, startVoice } from './vendors.ts';

const TEXT = 'Your parcel comes on Tuesday, madam.';
const NEXT = 'Is that all right?';

t.test('R8 sarvam: the config comes first, under both names of the language', async (t) => {
  const { emulator, tts, close } = await startVoice('sarvam', { settings: { warm_spare: false } });
  await hear(tts, TEXT);
  await hear(tts, NEXT);
  const config = {
    target_language_code: 'en-IN',
    language_code: 'en-IN',
    speaker: 'shubh',
    model: 'bulbul:v3',
    speech_sample_rate: 8_000,
    output_audio_codec: 'linear16',
    pace: 1,
    temperature: 0.6,
    min_buffer_size: 50,
    max_chunk_length: 150,
  };
  t.same(emulator.log.messages('in'), [
    { type: 'config', data: config },
    { type: 'text', data: { text: TEXT } },
    { type: 'flush' },
    { type: 'text', data: { text: NEXT } },
    { type: 'flush' },
  ]);
  t.same(emulator.log.of('in', 'handshake')[0]?.query, [
    ['model', 'bulbul:v3'],
    ['send_completion_event', 'true'],
  ]);
  t.equal(emulator.counters().handshakes, 1);
  t.same(emulator.violations.list, []);
  t.same(emulator.log.of('in', 'handshake')[0]?.headers?.['sec-websocket-protocol'], undefined);
  await close();
});

t.test('R8 sarvam: each model gets the settings that it knows, and languages their code', async (t) => {
  const emulator = await startSarvamTts();
  const cases: [Record<string, unknown>, Record<string, unknown>][] = [
    [
      { model: 'bulbul:v2', language: 'hi', pitch: 0.1, loudness: 1.5, temperature: 0.5, pace: 2.5 },
      {
        language_code: 'hi-IN',
        speaker: 'anushka',
        pitch: 0.1,
        loudness: 1.5,
        pace: 2.5,
        temperature: undefined,
      },
    ],
    [
      { language: 'or-IN', voice: 'Ritu', pitch: 0.1, loudness: 1.5, temperature: 0.3, speed: 1.5 },
      {
        language_code: 'od-IN',
        speaker: 'ritu',
        pitch: undefined,
        loudness: undefined,
        pace: 1.5,
        temperature: 0.3,
      },
    ],
    [
      { model: 'bulbul:v4-flash', language: 'hi-IN', pitch: 0.4, loudness: 0.2, temperature: 0.3 },
      {
        speaker: 'shubh_enhi_ads',
        model: 'bulbul:v4-flash',
        pitch: 0.4,
        loudness: 0.2,
        pace: 1,
        temperature: undefined,
      },
    ],
  ];
  for (const [settings, expected] of cases) {
    const { tts } = await openFor('sarvam', emulator, { ...settings, warm_spare: false });
    await hear(tts, NEXT);
    const config = emulator.log.messages('in').findLast(({ type }) => type === 'config');
    for (const [key, value] of Object.entries(expected)) {
      t.same((config?.data as Record<string, unknown> | undefined)?.[key], value, key);
    }
    await tts.close();
  }
  t.same(emulator.violations.list, []);
  t.same(emulator.flagged, []);
  await t.rejects(openFor('sarvam', emulator, { model: 'bulbul:v4-flash', pitch: 0.6 }), {
    message: /^tts\.pitch must/,
  });
  for (const language of ['fr-FR', null]) {
    await t.rejects(openFor('sarvam', emulator, { language }), {
      message: /^tts\.language must be one of bn-IN/,
    });
  }
  await emulator.close();
});

t.test(
  'R8 sarvam: a stopped clause costs its socket, and the warm spare takes the next within 300 ms',
  async (t) => {
    const { emulator, tts, close } = await startVoice('sarvam', { voice: { speed: 2 } });
    const tookMs: number[] = [];
    for (let round = 0; round < 3; round++) {
      const stop = new AbortController();
      let onFirstBlock = () => {};
      const firstBlock = new Promise<void>((resolve) => {
        onFirstBlock = resolve;
      });
      const stopped = hear(tts, TEXT, { signal: stop.signal, onBlock: () => onFirstBlock() });
      await firstBlock;
      await emulator.control.opened(round + 2);
      const stoppedMs = emulator.clock.nowMs();
      stop.abort(new Error('barge-in'));
      t.ok(isToneOf((await stopped).samples, TEXT, 8_000, 'part'));
      t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, 8_000), 'nothing of the old socket is heard');
      const fits = (text: unknown) => JSON.stringify(text).includes(NEXT);
      const asked = emulator.log.of('in', 'text').findLast(({ json }) => fits(json));
      t.equal(asked?.connection, round + 1, 'the spare was asked');
      tookMs.push((asked?.atMs ?? Number.POSITIVE_INFINITY) - stoppedMs);
      await emulator.log.waitFor((entry) => entry.kind === 'close' && entry.connection === round);
    }
    // The machine may be busy in any one round.
    t.ok(Math.min(...tookMs) < 300, `${Math.min(...tookMs)} ms`);
    t.same(emulator.violations.list, []);
    await close();
  },
);

t.test('R8 sarvam: without a spare the next clause opens its own socket', async (t) => {
  const { emulator, tts, close } = await startVoice('sarvam', {
    voice: { speed: 2 },
    settings: { warm_spare: false },
  });
  const stop = new AbortController();
  await hear(tts, TEXT, { signal: stop.signal, onBlock: () => stop.abort() });
  t.equal(emulator.counters().handshakes, 1);
  t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, 8_000));
  t.equal(emulator.counters().handshakes, 2);
  await close();
});

t.test('R8 sarvam: clauses at the same time have sockets of their own, and a fifth is refused', async (t) => {
  const { emulator, tts, close } = await startVoice('sarvam', { voice: { speed: 4 } });
  await tts.warm?.();
  const texts = ['Number one.', 'Number two.', 'Number three.', 'Number four.', 'Number five.'];
  const heard = await Promise.all(texts.map((text) => hear(tts, text)));
  for (const [index, text] of texts.slice(0, 4).entries()) {
    t.ok(isToneOf(heard[index]?.samples ?? new Int16Array(), text, 8_000), text);
  }
  t.match(failureOf(heard[4]?.error), { class: 'rate_limit', provider: 'sarvam' });
  await until(() => emulator.counters().openSockets <= 3, 'the end of a socket too many');
  t.same(emulator.violations.list, []);
  await close();
});

t.test('R8 sarvam: pings keep a silent call’s sockets open', async (t) => {
  const clock = new HandClock(1_000);
  const { emulator, tts, close } = await startVoice('sarvam', {
    clock,
    voice: { firstAudioMs: 0 },
    settings: { warm_spare: false },
  });
  await hear(tts, TEXT);
  for (let minute = 1; minute <= 3; minute++) {
    await clock.advance(60_000, 1_000);
    await emulator.log.waitFor(() => pings() >= 3 * minute - 1);
  }
  t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, 8_000));
  t.equal(emulator.counters().handshakes, 1);
  t.same(emulator.violations.list, []);
  await close();

  function pings(): number {
    return emulator.log.messages('in').filter(({ type }) => type === 'ping').length;
  }
});

t.test('R8 sarvam: a socket that the vendor closed in a pause is replaced without a word', async (t) => {
  const clock = new HandClock(1_000);
  const { emulator, tts, troubles, close } = await startVoice('sarvam', {
    clock,
    voice: { firstAudioMs: 0 },
    settings: { warm_spare: false },
  });
  await hear(tts, TEXT);
  emulator.control.connection(0).close(1000, 'idle');
  await emulator.log.waitFor(({ kind, direction }) => kind === 'close' && direction === 'in');
  t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, 8_000));
  t.same(troubles, []);
  await clock.advance(5_000, 1_000);
  const socket = emulator.control.connection(1);
  socket.scripted = true;
  socket.onText(() => socket.close(1000, 'idle'));
  t.ok(isToneOf((await hear(tts, TEXT)).samples, TEXT, 8_000), 'also where the close crosses a clause');
  t.match(troubles, [{ event: 'provider_reconnected', provider: 'sarvam' }]);
  t.equal(emulator.counters().handshakes, 3);
  await close();
});

t.test('R8 sarvam: a long clause goes in texts that the vendor takes', async (t) => {
  const { emulator, tts, close } = await startVoice('sarvam', { voice: { msPerChar: 2 } });
  const text = `${'many words '.repeat(400)}end.`;
  const { samples, error } = await hear(tts, text);
  t.equal(error, undefined);
  t.equal(samples.length, text.length * 16);
  const texts = emulator.log.messages('in').filter(({ type }) => type === 'text');
  t.equal(texts.length, 2);
  t.equal(texts.map(({ data }) => (data as { text: string }).text).join(''), text);
  t.same(emulator.violations.list, []);
  await close();
});

t.test('R8 sarvam: the vendor’s error messages and refusals become classes', async (t) => {
  const { emulator, tts, close } = await startVoice('sarvam', { settings: { warm_spare: false } });
  const errors: [unknown, string][] = [
    [429, 'rate_limit'],
    [402, 'quota'],
    [422, 'config'],
    [500, 'transient'],
    ['insufficient_quota_error', 'quota'],
    [undefined, 'transient'],
  ];
  for (const [code, failureClass] of errors) {
    await tts.warm?.();
    const socket = emulator.control.latest();
    socket.scripted = true;
    socket.onText(() => socket.send({ type: 'error', data: { message: 'says the vendor', code } }));
    const { error } = await hear(tts, TEXT);
    t.match(failureOf(error), { class: failureClass });
    t.match(error, { message: /says the vendor/ });
  }
  emulator.control.next({
    status: 429,
    body: { error: { code: 'insufficient_quota_error', message: 'empty' } },
  });
  t.match(failureOf((await hear(tts, TEXT)).error), { class: 'quota', status: 429 });
  await close();
});
