import { type IncomingMessage, request } from 'node:http';
import t from 'tap';
import { WebSocket } from 'ws';
import { HandClock } from '../harness/hand-clock.ts';
import { startCartesia } from './cartesia.ts';
import { startElevenLabs } from './elevenlabs.ts';
import type { Emulator } from './kit/emulator.ts';
import { startOpenAiSpeech } from './openai-speech.ts';
import { startSarvamTts } from './sarvam-tts.ts';
import { samplesOf } from './speech-tone.ts';

/** A client without manners: what the documents forbid must be refused, or the conformance tests would prove little. */
type Message = Record<string, unknown>;

class RawClient {
  readonly messages: Message[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  private readonly socket: WebSocket;
  private news: () => void = () => undefined;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      this.messages.push(JSON.parse(String(data)));
      this.news();
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  send(...messages: Message[]): void {
    for (const message of messages) this.socket.send(JSON.stringify(message));
  }

  /** The first message that fits, past or to come. */
  async until(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.messages.find(fits);
      if (found) return found;
      await new Promise<void>((resolve) => {
        this.news = resolve;
      });
    }
  }

  close(): void {
    this.socket.terminate();
  }
}

/** The open socket, or the status and body of the refusal. */
function dial(
  url: string,
  headers: Record<string, string>,
): Promise<RawClient | { status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    const client = new RawClient(socket);
    socket.on('open', () => resolve(client));
    socket.on('error', reject);
    socket.on('unexpected-response', (_, response: IncomingMessage) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        body += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
  });
}

async function open(url: string, headers: Record<string, string>): Promise<RawClient> {
  const client = await dial(url, headers);
  if (!(client instanceof RawClient)) throw new Error(`refused with ${client.status}: ${client.body}`);
  return client;
}

const trespass = (emulator: Emulator) => emulator.violations.take().join('; ');

const ELEVEN_PATH = '/v1/text-to-speech/voice-1/multi-stream-input';
const INIT = (context_id: string) => ({ text: ' ', context_id });

t.test('D-35 elevenlabs: what the documents do not know is refused before the socket opens', async (t) => {
  const emulator = await startElevenLabs({ knownVoice: 'voice-1' });
  const key = { 'xi-api-key': emulator.apiKey };
  const good = 'output_format=pcm_8000';
  const cases: [string, Record<string, string>, number, RegExp][] = [
    [`${ELEVEN_PATH}?${good}`, {}, 401, /invalid_api_key/],
    [`${ELEVEN_PATH}?${good}`, { 'xi-api-key': 'other' }, 401, /invalid_api_key/],
    [`${ELEVEN_PATH}?${good}&speed=2`, key, 400, /unknown key speed/],
    [`${ELEVEN_PATH}?output_format=pcm_12345`, key, 400, /output_format is not one of/],
    [ELEVEN_PATH, key, 400, /output_format is missing/],
    [`${ELEVEN_PATH}?${good}&inactivity_timeout=181`, key, 400, /above 180/],
    [`${ELEVEN_PATH}?${good}&language_code=hi-IN`, key, 400, /ISO 639-1/],
    [`${ELEVEN_PATH}?${good}&model_id=eleven_multilingual_v2&language_code=hi`, key, 400, /language_code/],
    [`${ELEVEN_PATH.replace('voice-1', 'voice-2')}?${good}`, key, 404, /voice_not_found/],
    ['/v1/text-to-speech/voice-1/stream', key, 404, /not found/],
  ];
  for (const [path, headers, status, body] of cases) {
    const answer = await dial(emulator.wsUrl + path, headers);
    t.match(answer, { status, body }, path);
  }
  await emulator.close();
});

t.test(
  'D-35 elevenlabs: a context is used as the documents say, or the socket closes with 1008',
  async (t) => {
    const emulator = await startElevenLabs({ voice: { speed: 1 } });
    const url = `${emulator.wsUrl}${ELEVEN_PATH}?output_format=pcm_8000&auto_mode=true&sync_alignment=true`;
    const text = (context_id: string) => ({ text: 'Some words ', context_id });
    const cases: [Message[], RegExp][] = [
      [['a', 'b', 'c', 'd', 'e', 'f'].map(INIT), /Maximum simultaneous contexts/],
      [[INIT('a'), { ...text('a'), voice_settings: { speed: 1 } }], /voice_settings stand behind/],
      [
        [
          { text: '', context_id: 'a' },
          { ...INIT('a'), voice_settings: { speed: 1 } },
        ],
        /keep-alive before/,
      ],
      [
        [INIT('a'), text('a'), { context_id: 'a', close_context: true }, text('a')],
        /closed and is used again/,
      ],
      [[{ ...INIT('a'), colour: 'blue' }], /unknown key colour/],
      [[{ ...INIT('a'), voice_settings: { speed: 1.3 } }], /speed is above 1.2/],
      [[{ text: 'Some words ' }], /without context_id/],
    ];
    for (const [messages, expected] of cases) {
      const client = await open(url, { 'xi-api-key': emulator.apiKey });
      client.send(...messages);
      t.match(await client.closed, { code: 1008 }, String(expected));
      t.match(client.messages.at(-1), { error: String, code: 1008 });
      t.match(trespass(emulator), expected);
    }
    const client = await open(url, { 'xi-api-key': emulator.apiKey });
    client.send(INIT('a'), { text: 'half a wo', context_id: 'a' });
    await client.until(({ audio }) => typeof audio === 'string');
    t.match(trespass(emulator), /auto_mode: a text ends inside a word/);
    client.send({ text: '', context_id: 'a' }, { close_socket: true });
    t.match(await client.closed, { code: 1000 });
    t.equal(trespass(emulator), '', 'a keep-alive of an open context is allowed');
    await emulator.close();
  },
);

t.test('D-35 elevenlabs: a close can overtake its text, but not what is being spoken', async (t) => {
  const emulator = await startElevenLabs({ voice: { speed: 10 }, quirks: { closeOvertakes: true } });
  const url = `${emulator.wsUrl}${ELEVEN_PATH}?output_format=pcm_8000`;
  const client = await open(url, { 'xi-api-key': emulator.apiKey });
  const text = (context_id: string) => ({ text: 'Some words ', context_id, flush: true });
  const close = (context_id: string) => ({ context_id, close_context: true });
  client.send(INIT('lost'), text('lost'), close('lost'), INIT('said'), text('said'));
  await client.until(({ audio }) => typeof audio === 'string');
  client.send(close('said'));
  await client.until(({ isFinal }) => isFinal === true);
  t.same(new Set(client.messages.map(({ contextId }) => contextId)), new Set(['said']), 'not even an end');
  const bytes = client.messages.flatMap(({ audio }) =>
    typeof audio === 'string' ? [Buffer.from(audio, 'base64').length] : [],
  );
  t.equal(
    bytes.reduce((sum, more) => sum + more, 0),
    2 * samplesOf('Some words', 8_000),
    'to its end',
  );
  t.same(emulator.violations.list, []);
  client.close();
  await emulator.close();
});

t.test('D-35 elevenlabs: a socket lives 20 s without a message, and longer with keep-alives', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await startElevenLabs({ clock });
  const client = await open(`${emulator.wsUrl}${ELEVEN_PATH}?output_format=pcm_8000`, {
    'xi-api-key': emulator.apiKey,
  });
  client.send(INIT('a'));
  for (let round = 1; round <= 4; round++) {
    client.send({ text: '', context_id: 'a' });
    await emulator.log.waitFor(() => emulator.log.of('in', 'text').length === round + 1);
    await clock.advance(15_000);
  }
  t.equal(emulator.counters().openSockets, 1);
  await clock.advance(6_000);
  t.same(await client.closed, { code: 1008, reason: 'no new text within 20 seconds' });
  await emulator.close();
});

t.test(
  'D-35 elevenlabs: without auto_mode a text waits for its flush, and a cut context soon falls silent',
  async (t) => {
    const emulator = await startElevenLabs({ voice: { speed: 10 } });
    const client = await open(`${emulator.wsUrl}${ELEVEN_PATH}?output_format=pcm_8000`, {
      'xi-api-key': emulator.apiKey,
    });
    const bytesOf = (id: string) =>
      client.messages
        .filter(({ contextId, audio }) => contextId === id && typeof audio === 'string')
        .reduce((sum, { audio }) => sum + Buffer.from(String(audio), 'base64').length, 0);
    client.send(INIT('a'), { text: 'Some words ', context_id: 'a' });
    client.send(
      INIT('b'),
      { text: 'Others ', context_id: 'b', flush: true },
      { context_id: 'b', close_context: true },
    );
    await client.until(({ contextId, isFinal }) => contextId === 'b' && isFinal === true);
    t.equal(bytesOf('a'), 0);
    t.equal(bytesOf('b'), 2 * samplesOf('Others', 8_000), 'what was flushed is spoken to its end');
    client.send({ text: 'and more of them, a good deal more. ', context_id: 'a', flush: true });
    await client.until(({ contextId, audio }) => contextId === 'a' && typeof audio === 'string');
    client.send({ text: 'Never said. ', context_id: 'a' }, { context_id: 'a', close_context: true });
    await client.until(({ contextId, isFinal }) => contextId === 'a' && isFinal === true);
    t.ok(bytesOf('a') < 2 * samplesOf('Some words and more of them, a good deal more.', 8_000));
    t.same(emulator.violations.list, []);
    client.close();
    await emulator.close();
  },
);

const CARTESIA_HEADERS = (key: string) => ({ 'x-api-key': key, 'cartesia-version': '2026-03-01' });
const SAY = {
  model_id: 'sonic-3.5',
  transcript: 'Some words',
  voice: { mode: 'id', id: 'v' },
  output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 8_000 },
  context_id: 'a',
  max_buffer_delay_ms: 0,
};

t.test('D-35 cartesia: key and version are asked for, and nothing that is unknown is taken', async (t) => {
  const emulator = await startCartesia();
  const url = `${emulator.wsUrl}/tts/websocket`;
  const key = emulator.apiKey;
  const handshakes: [string, Record<string, string>, number, RegExp][] = [
    ['', { 'cartesia-version': '2026-03-01' }, 401, /unauthorized/],
    ['', { 'x-api-key': key }, 400, /Cartesia-Version is missing/],
    ['', { 'x-api-key': key, 'cartesia-version': '2020-01-01' }, 400, /unknown/],
    ['?api_key=x', CARTESIA_HEADERS(key), 400, /unknown query key/],
  ];
  for (const [query, headers, status, body] of handshakes) {
    t.match(await dial(url + query, headers), { status, body });
  }
  emulator.violations.take();
  const messages: [Message[], RegExp][] = [
    [[{ ...SAY, colour: 'blue' }], /unknown key colour/],
    [[{ ...SAY, language: 'en', locale: 'en-IN' }], /language and locale/],
    [[{ ...SAY, output_format: { ...SAY.output_format, sample_rate: 12_345 } }], /sample_rate is not one of/],
    [[{ ...SAY, voice: { id: 'v' } }], /mode is missing/],
    [
      [
        { ...SAY, continue: true },
        { ...SAY, add_timestamps: true },
      ],
      /changes a field/,
    ],
    [
      [
        { ...SAY, continue: true },
        { ...SAY, flush: true, continue: true },
      ],
      /a flush stands alone/,
    ],
    [[{ ...SAY, max_buffer_delay_ms: 5_001 }], /above 5000/],
    [[{ ...SAY, generation_config: { speed: 0.5 } }], /below 0.6/],
  ];
  for (const [sent, expected] of messages) {
    const client = await open(url, CARTESIA_HEADERS(key));
    client.send(...sent);
    const error = await client.until(({ type }) => type === 'error');
    t.match(error, { done: true, status_code: 400, context_id: 'a', message: expected });
    t.match(trespass(emulator), expected);
    client.close();
  }
  await emulator.close();
});

t.test('D-35 cartesia: a context that has ended, was cancelled or expired takes no more', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await startCartesia({ clock, voice: { firstAudioMs: 0 }, maxContexts: 2 });
  const client = await open(`${emulator.wsUrl}/tts/websocket`, CARTESIA_HEADERS(emulator.apiKey));
  const refused = async (id: string, expected: RegExp) => {
    client.send({ ...SAY, context_id: id, continue: true });
    const error = await client.until(({ type, context_id }) => type === 'error' && context_id === id);
    t.match(error, { type: 'error', message: expected });
    t.match(trespass(emulator), expected);
  };
  client.send({ ...SAY, context_id: 'ended', continue: false });
  await client.until(({ type, context_id }) => type === 'done' && context_id === 'ended');
  await refused('ended', /has ended/);
  client.send({ ...SAY, context_id: 'cancelled', continue: true }, { context_id: 'cancelled', cancel: true });
  await client.until(({ type, context_id }) => type === 'done' && context_id === 'cancelled');
  await refused('cancelled', /has cancelled/);
  client.send({ ...SAY, context_id: 'expired', continue: true, transcript: '' });
  client.send({ ...SAY, context_id: 'expired', continue: true, transcript: '', flush: true });
  await client.until(({ type, context_id }) => type === 'flush_done' && context_id === 'expired');
  await clock.advance(1_500);
  await refused('expired', /has expired/);

  for (const id of ['x', 'y', 'z']) client.send({ ...SAY, context_id: id, continue: true });
  const error = await client.until(({ error_code }) => error_code === 'concurrency_limited');
  t.match(error, { status_code: 429, context_id: 'z' });
  await clock.advance(301_000, 30_000);
  t.match(await client.closed, { code: 1000 });
  await emulator.close();
});

const SARVAM_CONFIG = { language_code: 'hi-IN', speaker: 'shubh', output_audio_codec: 'linear16' };
const config = (data: Message) => ({ type: 'config', data: { ...SARVAM_CONFIG, ...data } });
const say = (text: string) => ({ type: 'text', data: { text } });

t.test('D-35 sarvam: config first, with a language, a voice of the model, a rate and a codec', async (t) => {
  const emulator = await startSarvamTts();
  const url = `${emulator.wsUrl}/text-to-speech/ws?model=bulbul:v3&send_completion_event=true`;
  const key = { 'api-subscription-key': emulator.apiKey };
  t.match(await dial(url, {}), { status: 401 });
  t.match(await dial(url, { 'api-subscription-key': 'other' }), {
    status: 403,
    body: /invalid_api_key_error/,
  });
  t.match(await dial(`${url}&speaker=shubh`, key), { status: 400, body: /unknown key speaker/ });
  emulator.violations.take();
  const cases: [Message[], RegExp][] = [
    [[say('first')], /text before config/],
    [[{ type: 'flush' }], /flush before config/],
    [[{ type: 'config', data: { speaker: 'shubh', output_audio_codec: 'linear16' } }], /names no language/],
    [[config({ language_code: 'fr-FR' })], /language_code is not one of/],
    [[config({ speaker: 'anushka' })], /does not speak bulbul:v3/],
    [[config({ speech_sample_rate: 12_345 })], /speech_sample_rate is none of/],
    [[config({ output_audio_codec: 'vorbis' })], /output_audio_codec is not one of/],
    [[config({ pace: 2.5 })], /pace is out of range/],
    [[config({ model: 'bulbul:v2' })], /two models/],
    [[config({}), say('x'.repeat(2_501))], /more than 2500 characters/],
    [[config({}), { type: 'cancel' }], /unknown message type cancel/],
  ];
  for (const [messages, expected] of cases) {
    const client = await open(url, key);
    client.send(...messages);
    await client.until(({ type }) => type === 'error');
    t.match(client.messages[0], { type: 'error', data: { message: expected } });
    t.match(trespass(emulator), expected);
    client.close();
  }
  await emulator.close();
});

t.test(
  'D-35 sarvam: nothing is made of a short text before the flush, and the end is told only if asked',
  async (t) => {
    const clock = new HandClock(1_000);
    const emulator = await startSarvamTts({ clock, voice: { firstAudioMs: 0 } });
    const key = { 'api-subscription-key': emulator.apiKey };
    for (const asked of [true, false]) {
      const url = `${emulator.wsUrl}/text-to-speech/ws?model=bulbul:v3${asked ? '&send_completion_event=true' : ''}`;
      const client = await open(url, key);
      const from = emulator.log.of('in', 'text').length;
      client.send(
        config({ pitch: 0.2, target_language_code: 'hi-IN', speech_sample_rate: '8000' }),
        say('Short.'),
      );
      await emulator.log.waitFor(() => emulator.log.of('in', 'text').length === from + 2);
      await clock.advance(1_000);
      t.same(client.messages, []);
      client.send({ type: 'flush' });
      await client.until(({ type }) => type === 'audio');
      if (asked) await client.until(({ type }) => type === 'event');
      client.send(say('x'.repeat(50)));
      const audio = () => client.messages.filter(({ type }) => type === 'audio').length;
      const before = Math.ceil((6 * 60) / 100);
      await client.until(() => audio() > before);
      t.equal(client.messages.filter(({ type }) => type === 'event').length, asked ? 1 : 0);
      await clock.advance(61_000, 10_000);
      t.match(await client.closed, { code: 1000, reason: 'idle' });
    }
    t.same(emulator.flagged, Array(2).fill('pitch has no effect on bulbul:v3'));
    t.same(emulator.violations.list, []);
    await emulator.close();
  },
);

t.test('D-35 openai speech: unknown fields, other formats and a missing key are refused', async (t) => {
  const emulator = await startOpenAiSpeech();
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    new Promise<number>((resolve, reject) => {
      const asked = request(`${emulator.baseUrl}/audio/speech`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${emulator.apiKey}`,
          'content-type': 'application/json',
          ...headers,
        },
      });
      asked.on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      asked.on('error', reject);
      asked.end(JSON.stringify(body));
    });
  const good = { model: 'tts-1', input: 'Some words', voice: 'alloy', response_format: 'pcm' };
  t.equal(await post(good), 200);
  t.equal(await post(good, { authorization: `Token ${emulator.apiKey}` }), 401);
  t.same(emulator.violations.list, []);
  const wrong: [Message, RegExp][] = [
    [{ ...good, colour: 'blue' }, /unknown key colour/],
    [{ ...good, response_format: 'mp3' }, /response_format is not one of/],
    [{ ...good, input: 'x'.repeat(4_097) }, /longer than 4096/],
    [{ ...good, speed: 5 }, /above 4/],
    [{ model: 'tts-1' }, /input is missing/],
  ];
  for (const [body, expected] of wrong) {
    t.equal(await post(body), 400);
    t.match(trespass(emulator), expected);
  }
  await emulator.close();
});
