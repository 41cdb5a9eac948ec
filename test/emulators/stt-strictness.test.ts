import t from 'tap';
import { WebSocket } from 'ws';
import { HandClock } from '../harness/hand-clock.ts';
import { startTranscription } from './openai-transcription.ts';
import { connect, frames, open, RAW_WORDS } from './raw-client.ts';
import { startSarvamStt } from './sarvam-stt.ts';
import { startSoniox } from './soniox.ts';

/** The emulators refuse what the vendors refuse; each refusal leaves a violation that a client's test would fail on. */

const SARVAM = 'language_code=hi-IN&sample_rate=8000&encoding=linear16';

t.test('D-35 sarvam realtime: keys, queries and events that the vendor refuses are refused', async (t) => {
  const emulator = await open(t, startSarvamStt());
  const url = `${emulator.wsUrl}/speech-to-text-realtime/ws`;
  const key = { 'api-subscription-key': emulator.key };
  t.equal(await connect(`${url}?${SARVAM}`).status, 401);
  const wrong = connect(`${url}?${SARVAM}`, { 'api-subscription-key': 'wrong' });
  t.match(await wrong.closed, { code: 1003 });
  t.match(wrong.messages[0], { event: 'error', is_fatal: true });
  const bad = [
    'sample_rate=8000',
    'language_code=od-IN',
    'language_code=hi-IN&sample_rate=44100',
    `${SARVAM}&vad=1`,
  ];
  emulator.violations.take();
  for (const query of bad) {
    const client = connect(`${url}?${query}`, key);
    t.match(await client.closed, { code: 4000 }, query);
    t.equal(emulator.violations.take().length, 1);
  }
  const client = connect(`${url}?language_code=or-IN&sample_rate=8000`, key);
  await client.until((message) => message.event === 'session.begin');
  const trespasses = [
    '{"event":"flush"}',
    '{"event":"speech_start"}',
    '{"event":"audio_input","audio":"%%%%"}',
    '{"event":"audio_input","audio":"AAAA","extra":1}',
    '{"event":"surprise"}',
    '{"event":"config.update","stream_type":"simulated"}',
  ];
  for (const text of trespasses) client.socket.send(text);
  client.socket.send('{"event":"ping"}');
  await client.until((message) => message.event === 'pong');
  t.equal(emulator.violations.take().length, trespasses.length);
  t.match(
    client.messages.filter((message) => message.event === 'error'),
    [
      { code: 'invalid_config', is_fatal: false },
      { code: 'invalid_config', is_fatal: false },
      { code: 'invalid_config', is_fatal: false },
      { code: 'invalid_config', is_fatal: false },
    ],
  );
  client.socket.send(Buffer.alloc(320));
  t.match(await client.closed, { code: 4000 });
  emulator.violations.take();
  const knobs = connect(`${url}?${SARVAM}&endpointing=manual&threshold=0.4`, key);
  await knobs.until((message) => message.event === 'session.begin');
  t.match(emulator.counters(), { ignored_parameters: 1 });
  knobs.socket.terminate();
  const browser = connect(`${url}?${SARVAM}`, {}, [`api-subscription-key.${emulator.key}`]);
  await browser.until((message) => message.event === 'session.begin');
  t.equal(browser.socket.protocol, `api-subscription-key.${emulator.key}`, 'the subprotocol is echoed');
  browser.socket.terminate();
});

t.test('D-35 sarvam: a quiet socket is closed with 1008 unless it pings', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await open(t, startSarvamStt({ clock }));
  const url = `${emulator.wsUrl}/speech-to-text-realtime/ws?${SARVAM}`;
  const client = connect(url, { 'api-subscription-key': emulator.key });
  await client.until((message) => message.event === 'session.begin');
  await clock.advance(50_000);
  client.socket.send('{"event":"ping"}');
  await client.until((message) => message.event === 'pong');
  await clock.advance(55_000);
  t.equal(client.socket.readyState, WebSocket.OPEN);
  await clock.advance(5_001);
  t.match(await client.closed, { code: 1008 });
});

t.test('D-35 sarvam legacy: the wrapper, the rate in it and flush are checked', async (t) => {
  const emulator = await open(t, startSarvamStt({ hearing: { words: RAW_WORDS } }));
  const url = `${emulator.wsUrl}/speech-to-text/ws`;
  const key = { 'api-subscription-key': emulator.key };
  t.equal(await connect(`${url}?language_code=hi-IN`, key).status, 422);
  t.equal(await connect(`${url}?language-code=or-IN`, key).status, 422);
  t.equal(await connect(`${url}?language-code=hi-IN`, { 'api-subscription-key': 'wrong' }).status, 403);
  emulator.violations.take();
  const client = connect(`${url}?language-code=unknown&sample_rate=8000&input_audio_codec=pcm_s16le`, key);
  await client.status;
  const say = (data: string, rate: number) =>
    client.socket.send(JSON.stringify({ audio: { data, sample_rate: rate, encoding: 'audio/wav' } }));
  say('AAAA', 8_000);
  client.socket.send('{"type":"flush"}');
  for (const frame of frames('one two', 600, 50)) say(frame.toString('base64'), 16_000);
  const data = await client.until((message) => message.type === 'data');
  t.match(data, { data: { transcript: 'one two', language_code: 'hi-IN', timestamps: null } });
  t.match(emulator.violations.take(), [/sample_rate/, /flush_signal/]);
  t.match(client.messages[0], { type: 'error' });
  client.socket.terminate();
});

t.test('D-35 soniox: the first frame, later frames and their order are checked', async (t) => {
  const emulator = await open(t, startSoniox({ maxStreams: 2 }));
  const url = `${emulator.wsUrl}/transcribe-websocket`;
  const config = {
    api_key: emulator.key,
    model: 'stt-rt-v5',
    audio_format: 'pcm_s16le',
    sample_rate: 8_000,
    num_channels: 1,
  };
  const refused = async (frame: string | Buffer, code: unknown) => {
    const client = connect(url);
    await client.status;
    client.socket.send(frame);
    await client.closed;
    t.match(
      client.messages,
      [{ error_code: code, error_message: String }],
      typeof frame === 'string' ? frame : 'audio first',
    );
  };
  await refused(Buffer.alloc(320), 400);
  await refused(JSON.stringify({ ...config, surprise: 1 }), 400);
  await refused(JSON.stringify({ ...config, max_endpoint_delay_ms: 400 }), 400);
  await refused(JSON.stringify({ ...config, language_hints: ['hi-IN'] }), 400);
  await refused(JSON.stringify({ ...config, sample_rate: undefined }), 400);
  await refused(JSON.stringify({ ...config, api_key: 'wrong' }), 401);
  t.equal(emulator.violations.take().length, 6);

  const streams = [connect(url), connect(url)];
  // A null is as good as nothing: official clients send some.
  const nulls = { translation: null, language_hints: null, context: { text: null, terms: null } };
  for (const stream of streams) {
    await stream.status;
    stream.socket.send(JSON.stringify({ ...config, ...nulls }));
  }
  await emulator.log.waitFor(() => emulator.log.messages('in').filter((json) => json.api_key).length >= 7);
  await refused(JSON.stringify(config), 429);
  t.same(emulator.violations.take(), [], 'a limit is nobody’s mistake');
  streams[0]?.socket.send('{"type":"finalise"}');
  t.match(await streams[0]?.closed, { code: 1000 });
  t.equal(emulator.violations.take().length, 1);
  streams[1]?.socket.send('');
  streams[1]?.socket.send(Buffer.alloc(320));
  t.match(await streams[1]?.closed, { code: 1000 });
  t.match(streams[1]?.messages.at(-1), { finished: true });
  t.match(emulator.violations.take(), [/after the end of audio/]);
});

t.test(
  'D-35 soniox: a quiet stream ends after 20 s, and errors may carry their code as a text',
  async (t) => {
    const clock = new HandClock(1_000);
    const emulator = await open(t, startSoniox({ clock, codesAsText: true }));
    const client = connect(`${emulator.wsUrl}/transcribe-websocket`);
    await client.status;
    client.socket.send(JSON.stringify({ api_key: emulator.key, model: 'stt-rt-v5' }));
    await emulator.log.waitFor((entry) => entry.kind === 'text');
    await clock.advance(19_000);
    client.socket.send('{"type":"keepalive"}');
    await emulator.log.waitFor((entry) => entry.text?.includes('keepalive') ?? false);
    await clock.advance(19_000);
    t.equal(client.socket.readyState, WebSocket.OPEN);
    await clock.advance(1_001);
    await client.closed;
    t.match(client.messages, [{ error_code: '408' }]);
  },
);

t.test('D-35 openai transcription: forms that the vendor refuses are refused', async (t) => {
  const emulator = await startTranscription({ models: ['whisper-1'] });
  t.teardown(() => emulator.close());
  const url = `${emulator.httpUrl}/v1/audio/transcriptions`;
  const headers = { authorization: `Bearer ${emulator.key}` };
  const form = (fields: Record<string, string>, file: Blob | null = new Blob([new Uint8Array(2_000)])) => {
    const body = new FormData();
    if (file) body.append('file', file, 'audio.wav');
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    return body;
  };
  const send = async (body: FormData | string, more: Record<string, string> = headers) => {
    const response = await fetch(url, { method: 'POST', headers: more, body });
    await response.arrayBuffer();
    return response.status;
  };
  t.equal(await send(form({ model: 'whisper-1' }), {}), 401);
  t.equal(await send('{}'), 400);
  t.equal(await send(form({})), 400);
  t.equal(await send(form({ model: 'whisper-1', surprise: '1' })), 400);
  t.equal(await send(form({ model: 'whisper-1', language: 'de-DE' })), 400);
  t.equal(await send(form({ model: 'whisper-1' }, null)), 400);
  t.equal(await send(form({ model: 'whisper-9' })), 404);
  t.equal(await send(form({ model: 'whisper-1' })), 400);
  t.match(emulator.violations.take().at(-1), /no WAV file/);
});
