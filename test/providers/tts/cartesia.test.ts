import t from 'tap';
import { startCartesia } from '../../emulators/cartesia.ts';
import { toneWords } from '../../emulators/speech-tone.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { failureOf, hear, isToneOf, openFor, startVoice } from './vendors.ts';

const TEXT = 'Your parcel comes on Tuesday, madam.';
const NEXT = 'Is that all right?';

t.test('R8 cartesia: word times are right whether they come before or behind their chunk', async (t) => {
  for (const timestamps of ['before', 'behind'] as const) {
    const emulator = await startCartesia({ timestamps, voice: { chunkMs: 130, oddChunks: true } });
    const { tts, close } = await openFor('cartesia', emulator);
    for (const text of [TEXT, NEXT]) {
      const { samples, words, error } = await hear(tts, text);
      t.equal(error, undefined);
      t.ok(isToneOf(samples, text, 8_000));
      const rounded = words.map(({ startMs, endMs, ...word }) => ({
        ...word,
        startMs: Math.round(startMs),
        endMs: Math.round(endMs),
      }));
      t.same(rounded, toneWords(text));
    }
    t.same(emulator.violations.list, []);
    await close();
  }
});

t.test('R8 cartesia: a clause is one message with everything the vendor wants', async (t) => {
  const { emulator, tts, close } = await startVoice('cartesia', {
    settings: { language: 'hi-IN', speed: 1.2, volume: 1.5, emotion: 'calm', word_timing: false },
  });
  await hear(tts, TEXT);
  await hear(tts, NEXT);
  t.same(emulator.log.of('in', 'handshake')[0]?.headers?.['cartesia-version'], '2026-03-01');
  const clause = (transcript: string, context_id: string) => ({
    model_id: 'sonic-3.5',
    transcript,
    voice: { mode: 'id', id: 'voice-1' },
    output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 8_000 },
    context_id,
    continue: false,
    language: 'hi',
    add_timestamps: false,
    max_buffer_delay_ms: 0,
    generation_config: { speed: 1.2, volume: 1.5, emotion: 'calm' },
  });
  t.same(emulator.log.messages('in'), [clause(TEXT, 'c1'), clause(NEXT, 'c2')]);
  t.equal(emulator.counters().handshakes, 1);
  t.same(emulator.violations.list, []);
  await close();
});

t.test('R8 cartesia: newer versions of the interface get the voice in their own form', async (t) => {
  const { emulator, tts, close } = await startVoice('cartesia', { settings: { api_version: '2026-08-14' } });
  t.ok(isToneOf((await hear(tts, TEXT)).samples, TEXT, 8_000));
  t.same(emulator.log.messages('in')[0]?.voice, { id: 'voice-1' });
  t.same(emulator.violations.list, []);
  await close();
});

t.test('R8 cartesia: chunks of two contexts that come by turns are told apart', async (t) => {
  const { emulator, tts, close } = await startVoice('cartesia', { voice: { speed: 4 } });
  await tts.warm?.();
  const [one, two] = await Promise.all([hear(tts, TEXT), hear(tts, NEXT)]);
  t.ok(isToneOf(one.samples, TEXT, 8_000));
  t.ok(isToneOf(two.samples, NEXT, 8_000));
  const owners = emulator.log.messages('out').map((message) => message.context_id);
  t.ok(owners.indexOf('c2') < owners.lastIndexOf('c1') && owners.indexOf('c1') < owners.lastIndexOf('c2'));
  await close();
});

t.test('R8 cartesia: a stopped clause is cancelled, and what still comes of it is not heard', async (t) => {
  const { emulator, tts, close } = await startVoice('cartesia', { voice: { speed: 2 } });
  const stop = new AbortController();
  const stopped = await hear(tts, TEXT, { signal: stop.signal, onBlock: () => stop.abort() });
  t.ok(isToneOf(stopped.samples, TEXT, 8_000, 'part'));
  const next = await hear(tts, NEXT);
  t.ok(isToneOf(next.samples, NEXT, 8_000));
  t.same(
    next.words.map((word) => word.text),
    NEXT.split(' '),
  );
  t.same(emulator.log.messages('in')[1], { context_id: 'c1', cancel: true });
  const owners = emulator.log.messages('out').map((message) => message.context_id);
  t.ok(owners.lastIndexOf('c1') > owners.indexOf('c2'), 'the old context went on while the new one spoke');
  t.same(emulator.violations.list, []);
  await close();
});

t.test('R8 cartesia: a clause that came to its end is not cancelled', async (t) => {
  const { emulator, tts, close } = await startVoice('cartesia');
  const stop = new AbortController();
  await hear(tts, TEXT, { signal: stop.signal });
  stop.abort();
  await hear(tts, NEXT);
  t.notOk(emulator.log.messages('in').some((message) => 'cancel' in message));
  await close();
});

t.test('R8 cartesia: an error with a context ends that clause, one without ends them all', async (t) => {
  const { emulator, tts, close } = await startVoice('cartesia', { voice: { speed: 2 } });
  await tts.warm?.();
  const error = {
    type: 'error',
    title: 'Busy',
    message: 'too much at once',
    error_code: 'concurrency_limited',
    status_code: 429,
    request_id: 'req_7',
    done: true,
  };
  const socket = emulator.control.connection(0);
  let ordered = false;
  const order = (message: object) => () => {
    if (!ordered) socket.send(message);
    ordered = true;
  };
  const [failed, whole] = await Promise.all([
    hear(tts, TEXT, { onBlock: order({ ...error, context_id: 'c1' }) }),
    hear(tts, NEXT),
  ]);
  t.match(failureOf(failed.error), {
    class: 'rate_limit',
    status: 429,
    vendorCode: 'concurrency_limited',
    requestId: 'req_7',
  });
  t.ok(isToneOf(whole.samples, NEXT, 8_000));
  ordered = false;
  const both = await Promise.all([
    hear(tts, TEXT, { onBlock: order({ ...error, status_code: 500, error_code: 'internal' }) }),
    hear(tts, TEXT),
  ]);
  for (const { error } of both) t.match(failureOf(error), { class: 'transient', status: 500 });
  t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, 8_000), 'over a new socket');
  await close();
});

t.test('R8 cartesia: the vendor’s refusal of a handshake is read', async (t) => {
  const { emulator, tts, close } = await startVoice('cartesia');
  emulator.control.next({
    status: 429,
    body: { error_code: 'concurrency_limited', title: 'Busy', message: 'come later', request_id: 'req_9' },
  });
  const { error } = await hear(tts, TEXT);
  t.match(failureOf(error), {
    class: 'rate_limit',
    status: 429,
    vendorCode: 'concurrency_limited',
    requestId: 'req_9',
  });
  t.match(error, { message: /Busy: come later/ });
  await close();
});

t.test(
  'R8 cartesia: a socket closed after five idle minutes is opened again, nothing said twice',
  async (t) => {
    const clock = new HandClock(1_000);
    const { emulator, tts, troubles, close } = await startVoice('cartesia', {
      clock,
      voice: { firstAudioMs: 0 },
    });
    await hear(tts, TEXT);
    await clock.advance(310_000, 2_000);
    await emulator.log.waitFor(({ kind, direction }) => kind === 'close' && direction === 'in');
    t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, 8_000));
    t.equal(emulator.counters().handshakes, 2);
    t.same(
      emulator.log.messages('in').map((message) => message.transcript),
      [TEXT, NEXT],
    );
    t.same(troubles, []);

    const socket = emulator.control.connection(1);
    socket.scripted = true;
    socket.onText(() => socket.close(1000, 'idle'));
    t.ok(isToneOf((await hear(tts, TEXT)).samples, TEXT, 8_000), 'also where the close crosses a clause');
    t.equal(emulator.counters().handshakes, 3);
    t.match(troubles, [{ event: 'provider_reconnected' }]);
    await close();
  },
);
