import t from 'tap';
import { startElevenLabs } from '../../emulators/elevenlabs.ts';
import { toneWords } from '../../emulators/speech-tone.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { until } from '../../harness/wait.ts';
import { failureOf, hear, isToneOf, openFor, startVoice } from './vendors.ts';

const TEXT = 'Your parcel comes on Tuesday, madam.';
const NEXT = 'Is that all right?';

t.test('R8 elevenlabs: word times and the end are read in either spelling of the vendor', async (t) => {
  for (const startKey of ['charStartTimesMs', 'charsStartTimesMs'] as const) {
    for (const contextKey of ['contextId', 'context_id'] as const) {
      const emulator = await startElevenLabs({
        // Words lie across chunks, and every chunk counts from its own start.
        voice: { chunkMs: 130, oddChunks: true },
        quirks: {
          startKey,
          durationKey: startKey === 'charStartTimesMs' ? 'charDurationsMs' : 'charsDurationsMs',
          contextKey,
          finalKey: contextKey === 'contextId' ? 'isFinal' : 'is_final',
          extras: true,
        },
      });
      const { tts, close } = await openFor('elevenlabs', emulator);
      for (const text of [TEXT, NEXT]) {
        const { samples, words, error } = await hear(tts, text);
        t.equal(error, undefined);
        t.ok(isToneOf(samples, text, 8_000));
        const expected = toneWords(text);
        t.same(
          words.map((word) => word.text),
          expected.map((word) => word.text),
        );
        for (const [index, word] of words.entries()) {
          t.ok(
            Math.abs(word.startMs - (expected[index]?.startMs ?? 0)) <= 2,
            `${word.text} begins at ${word.startMs}`,
          );
          t.ok(
            Math.abs(word.endMs - (expected[index]?.endMs ?? 0)) <= 2,
            `${word.text} ends at ${word.endMs}`,
          );
        }
      }
      t.same(emulator.violations.list, []);
      await close();
    }
  }
});

t.test(
  'R8 elevenlabs: no clause is lost where the vendor loses texts to a close that follows at once',
  async (t) => {
    const emulator = await startElevenLabs({ quirks: { closeOvertakes: true } });
    const { tts, close } = await openFor('elevenlabs', emulator);
    for (const text of [TEXT, NEXT]) {
      const { samples, error } = await hear(tts, text);
      t.equal(error, undefined);
      t.ok(isToneOf(samples, text, 8_000), text);
    }
    t.same(emulator.violations.list, []);
    await close();
  },
);

t.test('R8 elevenlabs: a bot without word timing asks for none', async (t) => {
  const { emulator, tts, close } = await startVoice('elevenlabs', { settings: { word_timing: false } });
  const { words, samples } = await hear(tts, TEXT);
  t.same(words, []);
  t.ok(isToneOf(samples, TEXT, 8_000));
  t.same(Object.fromEntries(emulator.log.of('in', 'handshake')[0]?.query ?? []).sync_alignment, 'false');
  await close();
});

t.test('R8 elevenlabs: one socket per call, one context per clause, no id twice', async (t) => {
  const { emulator, tts, close } = await startVoice('elevenlabs', {
    settings: { stability: 0.4, similarity_boost: 0.8, style: 0, speaker_boost: false, speed: 1.1, seed: 7 },
  });
  for (const text of [TEXT, NEXT, TEXT]) await hear(tts, text);
  await tts.close();
  const sent = emulator.log.messages('in');
  t.equal(emulator.counters().handshakes, 1);
  const settings = { stability: 0.4, similarity_boost: 0.8, style: 0, use_speaker_boost: false, speed: 1.1 };
  const clause = (text: string, context_id: string) => [
    { text: ' ', context_id, voice_settings: settings },
    { text: `${text} `, context_id, flush: true },
    { context_id, close_context: true },
  ];
  t.same(sent, [...clause(TEXT, 'c1'), ...clause(NEXT, 'c2'), ...clause(TEXT, 'c3'), { close_socket: true }]);
  t.same(emulator.violations.list, []);
  await close();
});

t.test(
  'R8 elevenlabs: a context is closed when its first audio has come, or when nobody wants it',
  async (t) => {
    const { emulator, tts, close } = await startVoice('elevenlabs', {
      voice: { firstAudioMs: 150, speed: 4 },
    });
    await hear(tts, TEXT);
    const sent = emulator.log.entries.map(({ json }) => json as Record<string, unknown> | undefined);
    const firstAudioAt = sent.findIndex((message) => typeof message?.audio === 'string');
    const closedAt = sent.findIndex((message) => message?.close_context === true);
    t.ok(
      firstAudioAt >= 0 && closedAt > firstAudioAt,
      `closed at ${closedAt}, first audio at ${firstAudioAt}`,
    );
    t.equal(sent.filter((message) => message?.close_context === true).length, 1);

    const isAbout = (json: unknown, what: 'flush' | 'close_context') => {
      const message = (json ?? {}) as Record<string, unknown>;
      return message.context_id === 'c2' && message[what] === true;
    };
    const stop = new AbortController();
    const speaking = hear(tts, NEXT, { signal: stop.signal });
    await emulator.log.waitFor(({ json }) => isAbout(json, 'flush'));
    stop.abort();
    await speaking;
    await emulator.log.waitFor(({ json }) => isAbout(json, 'close_context'));
    t.same(emulator.violations.list, []);
    await close();
  },
);

t.test('R8 elevenlabs: audio of a stopped context that comes late is not heard', async (t) => {
  const { emulator, tts, close } = await startVoice('elevenlabs', { voice: { speed: 2 } });
  const stop = new AbortController();
  const stopped = await hear(tts, TEXT, { signal: stop.signal, onBlock: () => stop.abort() });
  t.ok(isToneOf(stopped.samples, TEXT, 8_000, 'part'));
  const next = await hear(tts, NEXT);
  t.ok(isToneOf(next.samples, NEXT, 8_000));
  t.same(
    next.words.map((word) => word.text),
    NEXT.split(' '),
  );
  const owners = emulator.log.messages('out').map((message) => message.contextId);
  t.ok(owners.lastIndexOf('c1') > owners.indexOf('c2'), 'the old context went on while the new one spoke');
  t.same(emulator.violations.list, []);
  await close();
});

t.test(
  'R8 elevenlabs: clauses at the same time do not mix, and a sixth never reaches the vendor',
  async (t) => {
    const { emulator, tts, close } = await startVoice('elevenlabs', { voice: { speed: 4 } });
    await tts.warm?.();
    const texts = [
      'Number one.',
      'Number two.',
      'Number three.',
      'Number four.',
      'Number five.',
      'Number six.',
    ];
    const heard = await Promise.all(texts.map((text) => hear(tts, text)));
    for (const [index, text] of texts.slice(0, 5).entries()) {
      t.ok(isToneOf(heard[index]?.samples ?? new Int16Array(), text, 8_000), text);
    }
    t.match(failureOf(heard[5]?.error), { class: 'rate_limit', provider: 'elevenlabs' });
    t.same(emulator.violations.list, []);
    await close();
  },
);

t.test('R8 RT-58 elevenlabs: a stopped context counts until the vendor says that it is over', async (t) => {
  const { emulator, tts, close } = await startVoice('elevenlabs', { voice: { speed: 1 } });
  for (let cut = 0; cut < 5; cut++) {
    const stop = new AbortController();
    await hear(tts, TEXT, { signal: stop.signal, onBlock: () => stop.abort() });
  }
  const next = await hear(tts, NEXT);
  t.equal(next.error, undefined);
  t.ok(isToneOf(next.samples, NEXT, 8_000), 'the sixth is spoken over a socket of its own');
  t.equal(emulator.counters().handshakes, 2);
  t.same(emulator.violations.list, [], 'and no socket has a sixth context');
  await tts.close();
  await until(() => emulator.counters().openSockets === 0, 'both sockets are closed');
  await close();
});

t.test('R8 elevenlabs: a socket that the vendor gives up is dialled again', async (t) => {
  const disorder = 'voice_settings field must be provided in the first message';
  for (const how of ['close', 'message'] as const) {
    const { emulator, tts, troubles, close } = await startVoice('elevenlabs');
    await tts.warm?.();
    const socket = emulator.control.latest();
    socket.scripted = true;
    socket.onText(() => {
      if (how === 'message') socket.send({ message: disorder, error: 'policy_violation', code: 1008 });
      socket.close(1008, disorder);
    });
    t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, 8_000), how);
    t.equal(emulator.counters().handshakes, 2);
    t.match(troubles, [{ event: 'provider_reconnected', after: 'policy' }]);
    await close();
  }
});

t.test('R8 elevenlabs: a socket that was idle too long is opened again without a word', async (t) => {
  const clock = new HandClock(1_000);
  const { emulator, tts, troubles, close } = await startVoice('elevenlabs', {
    clock,
    voice: { firstAudioMs: 0 },
    settings: { inactivity_timeout: 20 },
  });
  await hear(tts, TEXT);
  await clock.advance(25_000, 1_000);
  await emulator.log.waitFor(({ kind, direction }) => kind === 'close' && direction === 'in');
  t.match(emulator.log.of('out', 'close')[0], { code: 1008, reason: 'no new text within 20 seconds' });
  t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, 8_000));
  t.equal(emulator.counters().handshakes, 2);
  t.same(troubles, []);
  await close();
});

t.test('R8 elevenlabs: by default the socket stays for a caller who thinks for three minutes', async (t) => {
  const clock = new HandClock(1_000);
  const { emulator, tts, close } = await startVoice('elevenlabs', { clock, voice: { firstAudioMs: 0 } });
  await tts.warm?.();
  await clock.advance(175_000, 1_000);
  t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, 8_000));
  t.equal(emulator.counters().handshakes, 1);
  await close();
});

t.test('R8 elevenlabs: an idle close that crosses a clause costs a new socket and no word', async (t) => {
  const { emulator, tts, troubles, close } = await startVoice('elevenlabs');
  await hear(tts, TEXT);
  const socket = emulator.control.connection(0);
  socket.scripted = true;
  socket.onText(() => socket.close(1008, 'no new text within 180 seconds'));
  t.ok(isToneOf((await hear(tts, NEXT)).samples, NEXT, 8_000));
  t.equal(emulator.counters().handshakes, 2);
  t.match(troubles, [{ event: 'provider_reconnected', provider: 'elevenlabs', family: 'tts' }]);
  t.same(emulator.violations.list, []);
  await close();
});

t.test('R8 elevenlabs: the vendor’s own names of errors become classes', async (t) => {
  const { emulator, tts, close } = await startVoice('elevenlabs');
  const refusals: [number, string, string][] = [
    [401, 'invalid_api_key', 'auth'],
    [401, 'quota_exceeded', 'quota'],
    [403, 'only_for_creator+', 'auth'],
    [404, 'voice_not_found', 'config'],
    [429, 'too_many_concurrent_requests', 'rate_limit'],
    [429, 'system_busy', 'rate_limit'],
  ];
  for (const [status, vendorCode, failureClass] of refusals) {
    emulator.control.next({ status, body: { detail: { status: vendorCode, message: 'says the vendor' } } });
    const { error } = await hear(tts, TEXT);
    t.match(failureOf(error), { status, vendorCode, class: failureClass });
    t.match(error, { message: /says the vendor/ });
  }
  const frames: [string, string][] = [
    ['quota_exceeded', 'quota'],
    ['something_new', 'config'],
  ];
  for (const [vendorCode, failureClass] of frames) {
    await tts.warm?.();
    const socket = emulator.control.latest();
    socket.scripted = true;
    socket.onText(() => socket.send({ message: 'no', error: vendorCode, code: 4001 }));
    t.match(failureOf((await hear(tts, TEXT)).error), { vendorCode, class: failureClass });
  }
  const closes: [number, string, string][] = [
    [1008, 'quota_exceeded: no characters left', 'quota'],
    [1003, 'something else', 'config'],
    [1011, 'system_busy', 'rate_limit'],
  ];
  for (const [code, reason, failureClass] of closes) {
    await tts.warm?.();
    const socket = emulator.control.latest();
    socket.scripted = true;
    socket.onText(() => socket.close(code, reason));
    t.match(failureOf((await hear(tts, TEXT)).error), { status: code, class: failureClass }, reason);
  }
  await close();
});

t.test('R8 elevenlabs: a language goes only to models that take one', async (t) => {
  const emulator = await startElevenLabs();
  for (const [model, code] of [
    ['eleven_flash_v2_5', 'hi'],
    ['eleven_multilingual_v2', undefined],
  ]) {
    const { tts } = await openFor('elevenlabs', emulator, { model, language: 'hi-IN' });
    await hear(tts, NEXT);
    const query = Object.fromEntries(emulator.log.of('in', 'handshake').at(-1)?.query ?? []);
    t.equal(query.language_code, code);
    t.equal(query.output_format, 'pcm_8000');
    await tts.close();
  }
  t.same(emulator.violations.list, []);
  await t.rejects(openFor('elevenlabs', emulator, { voice: null }), {
    message: /^tts\.voice must name a voice/,
  });
  await t.rejects(openFor('elevenlabs', emulator, { region_host: 'evil.example' }), {
    message: /^tts\.region_host /,
  });
  await emulator.close();
});
