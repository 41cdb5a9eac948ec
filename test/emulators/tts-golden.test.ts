import { createRequire } from 'node:module';
import type * as CartesiaSdk from '@cartesia/cartesia-js';
import OpenAI from 'openai';
import { SarvamAIClient } from 'sarvamai';
import t from 'tap';
import { openTts } from '../../src/providers/open-providers.ts';
import { providersOf } from '../../src/providers/vendors/all-vendors.ts';
import { readProjectFile } from '../harness/source-files.ts';
import { hear, isToneOf, openFor } from '../providers/tts/vendors.ts';
import { startCartesia } from './cartesia.ts';
import type { Emulator } from './kit/emulator.ts';
import { testAuthority } from './kit/test-authority.ts';
import { startOpenAiSpeech } from './openai-speech.ts';
import { startSarvamTts } from './sarvam-tts.ts';

/**
 * The vendors' own clients run against the emulators, and what they send is compared with what ours sends. What each
 * emulator and so each of our clients is proved by:
 */
const PROOF: Record<string, string> = {
  elevenlabs: 'documentation only: the official SDK has no client for the socket',
  cartesia: 'official SDK over TLS, traffic compared',
  sarvam: 'official SDK, traffic compared',
  openai: 'official SDK, traffic compared',
};

const TEXT = 'Your parcel comes on Tuesday, madam.';

// Its ES module cannot load `ws` and would put the key into the address, as a browser must.
const cartesiaSdk = createRequire(import.meta.url)('@cartesia/cartesia-js') as typeof CartesiaSdk;

const CARTESIA_REQUEST = {
  model_id: 'sonic-3.5',
  voice: { mode: 'id' as const, id: 'voice-1' },
  output_format: { container: 'raw' as const, encoding: 'pcm_s16le' as const, sample_rate: 8_000 as const },
  language: 'en' as const,
  add_timestamps: true,
  max_buffer_delay_ms: 0,
};

async function goldenCartesia(emulator: { httpUrl: string; apiKey: string }) {
  const client = new cartesiaSdk.Cartesia({ apiKey: emulator.apiKey, baseURL: emulator.httpUrl });
  const socket = await client.tts.websocket({
    ca: testAuthority().ca,
    headers: { 'cartesia-version': '2026-03-01' },
  } as never);
  // Without a listener its errors go uncaught.
  socket.on('error', () => undefined);
  await socket.connect();
  return socket;
}

/** Lines of the client's messages, the handshake's path, and the names of its headers. */
function sent(emulator: Emulator): { path: string; messages: string[] } {
  const lines = emulator.log.normalise({ only: 'client' });
  const path = lines.find((line) => line.startsWith('> GET ') || line.startsWith('> POST ')) ?? '';
  return { path, messages: lines.filter((line) => line.startsWith('> {') || line.startsWith('> body')) };
}

t.test('D-35 cartesia: the official SDK speaks a clause, and our client sends the same', async (t) => {
  const emulator = await startCartesia({ tls: true });
  const socket = await goldenCartesia(emulator);
  const context = socket.context({ ...CARTESIA_REQUEST, contextId: 'golden' });
  const audio: Buffer[] = [];
  const words: string[] = [];
  const request = { ...CARTESIA_REQUEST, transcript: TEXT, continue: false };
  for await (const event of context.generate(request as never)) {
    if (event.type === 'chunk') audio.push(Buffer.from(event.audio as Uint8Array));
    if (event.type === 'timestamps') words.push(...(event.word_timestamps?.words ?? []));
  }
  socket.close();
  const bytes = Buffer.concat(audio);
  const samples = Int16Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(2 * index));
  t.ok(isToneOf(samples, TEXT, 8_000));
  t.same(words, TEXT.split(' '));
  t.same(emulator.violations.list, []);

  const plain = await startCartesia();
  const { tts, close } = await openFor('cartesia', plain);
  t.ok(isToneOf((await hear(tts, TEXT)).samples, TEXT, 8_000));
  t.same(sent(plain), sent(emulator));
  const version = (one: Emulator) => one.log.of('in', 'handshake')[0]?.headers?.['cartesia-version'];
  t.equal(version(plain), version(emulator));
  await close();
  await emulator.close();
});

t.test(
  'D-35 cartesia: the official SDK streams pieces, flushes and cancels without a trespass',
  async (t) => {
    const emulator = await startCartesia({ tls: true, voice: { speed: 2 } });
    const socket = await goldenCartesia(emulator);
    const streamed = socket.context({ ...CARTESIA_REQUEST, contextId: 'streamed' });
    await streamed.push({ transcript: 'One piece ' });
    await streamed.flush();
    await streamed.push({ transcript: 'and another.' });
    await streamed.no_more_inputs();
    const types = new Set<string>();
    const flushes: unknown[] = [];
    for await (const event of streamed.receive()) {
      types.add(event.type);
      if (event.type === 'flush_done') flushes.push((event as { flush_id?: unknown }).flush_id);
    }
    t.same([...types].sort(), ['chunk', 'done', 'flush_done', 'timestamps']);
    t.same(flushes, [1]);

    const cancelled = socket.context({ ...CARTESIA_REQUEST, contextId: 'cancelled' });
    await cancelled.push({ transcript: 'This one is stopped in the middle of what it has to say.' });
    for await (const event of cancelled.receive()) if (event.type === 'chunk') break;
    await cancelled.cancel();
    const cancel = await emulator.log.waitFor(({ text }) => text?.includes('"cancel"') ?? false);
    socket.close();

    const plain = await startCartesia({ voice: { speed: 2 } });
    const { tts, close } = await openFor('cartesia', plain);
    const stop = new AbortController();
    await hear(tts, TEXT, { signal: stop.signal, onBlock: () => stop.abort() });
    const ours = await plain.log.waitFor(({ text }) => text?.includes('"cancel"') ?? false);
    t.same(ours.json, { ...(cancel.json as object), context_id: 'c1' });
    t.same(emulator.violations.list, []);
    await close();
    await emulator.close();
  },
);

t.test('D-35 cartesia: the official SDK reads the emulator’s errors', async (t) => {
  const emulator = await startCartesia({ tls: true });
  const socket = await goldenCartesia(emulator);
  const context = socket.context({ ...CARTESIA_REQUEST, contextId: 'wrong' });
  await context.send({ ...CARTESIA_REQUEST, transcript: TEXT, output_format: { container: 'raw' } } as never);
  await t.rejects(async () => {
    for await (const event of context.receive()) t.equal(event.type, 'error');
  }, /sample_rate is missing/);
  t.ok(emulator.violations.take().length > 0);
  socket.close();
  await emulator.close();
});

t.test(
  'D-35 sarvam: the official SDK speaks a clause, and our client differs in nothing it need not',
  async (t) => {
    const emulator = await startSarvamTts();
    const client = new SarvamAIClient({
      apiSubscriptionKey: emulator.apiKey,
      baseUrl: emulator.wsUrl,
    } as never);
    const socket = await withoutBrowserSocket(() =>
      client.textToSpeechStreaming.connect({
        model: 'bulbul:v2',
        send_completion_event: 'true',
        reconnectAttempts: 0,
      } as never),
    );
    const audio: Buffer[] = [];
    const done = new Promise<void>((resolve, reject) => {
      socket.on('message', (message) => {
        if (message.type === 'audio') audio.push(Buffer.from(message.data.audio, 'base64'));
        else if (message.type === 'event') resolve();
        else reject(new Error(JSON.stringify(message)));
      });
    });
    await socket.waitForOpen();
    socket.configureConnection({
      language_code: 'en-IN',
      speaker: 'anushka',
      output_audio_codec: 'linear16',
      speech_sample_rate: 8_000,
    } as never);
    socket.convert(TEXT);
    socket.flush();
    socket.ping();
    await done;
    socket.close();
    const bytes = Buffer.concat(audio);
    const samples = Int16Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(2 * index));
    t.ok(isToneOf(samples, TEXT, 8_000));
    t.same(emulator.violations.list, []);
    t.same(emulator.flagged, [], 'pitch and loudness belong to this model');

    const ours = await startSarvamTts();
    const { tts, close } = await openFor('sarvam', ours, {
      model: 'bulbul:v2',
      language: 'en-IN',
      pitch: 0,
      loudness: 1,
      warm_spare: false,
    });
    t.ok(isToneOf((await hear(tts, TEXT)).samples, TEXT, 8_000));
    t.equal(sent(ours).path, sent(emulator).path);
    const golden = emulator.log.messages('in').filter(({ type }) => type !== 'ping');
    const mine = ours.log.messages('in');
    t.same(
      mine.map(({ type }) => type),
      golden.map(({ type }) => type),
    );
    t.same(mine.slice(1), golden.slice(1), 'text and flush are the same');
    const config = (messages: Record<string, unknown>[]) => messages[0]?.data as Record<string, unknown>;
    // The SDK sends three defaults more; ours says the language in the other spelling as well, and the model again.
    const { enable_preprocessing: _, output_audio_bitrate: __, ...shared } = config(golden);
    const { target_language_code: language, model, ...same } = config(mine);
    t.same(same, shared);
    t.same([language, model], [shared.language_code, 'bulbul:v2']);
    await close();
    await emulator.close();
  },
);

t.test('D-35 openai: the official SDK speaks a clause, and our client sends the same', async (t) => {
  const emulator = await startOpenAiSpeech();
  const client = new OpenAI({ apiKey: emulator.apiKey, baseURL: emulator.baseUrl, maxRetries: 0 });
  const request = {
    model: 'tts-1',
    voice: 'alloy',
    input: TEXT,
    response_format: 'pcm' as const,
    speed: 1.25,
  };
  const answer = await client.audio.speech.create(request);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const samples = Int16Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(2 * index));
  t.ok(isToneOf(samples, TEXT, 24_000));
  const golden = sent(emulator);
  emulator.log.clear();
  const { tts, close } = await openFor('openai', emulator, { model: 'tts-1', speed: 1.25 });
  t.ok(isToneOf((await hear(tts, TEXT)).samples, TEXT, 24_000));
  t.same(sent(emulator), golden);
  t.same(emulator.violations.list, []);
  await close();
});

t.test('every vendor has its proof, and a voice that nobody knows is refused', async (t) => {
  const cloud = providersOf('tts').flatMap(({ models }) => models?.provider ?? []);
  t.same(Object.keys(PROOF).sort(), cloud.sort());
  const voices = readProjectFile('docs/providers.md').split('\n## Text-to-speech\n')[1] ?? '';
  for (const provider of cloud) {
    const row = voices.split('\n').find((line) => line.startsWith(`| \`${provider}\` |`));
    const proof = row?.split('|').at(-2)?.trim() ?? '';
    t.match(proof, /documentation only/.test(PROOF[provider] ?? '') ? /^documents/ : /^SDK/, provider);
  }
  await t.rejects(openTts({ provider: 'nobody' }), { code: 'bad_provider_config' });
});

/** The SDK prefers the socket of browsers, which sends no headers, to `ws`, which servers use. */
async function withoutBrowserSocket<T>(connect: () => Promise<T>): Promise<T> {
  const own = globalThis.WebSocket;
  Reflect.deleteProperty(globalThis, 'WebSocket');
  try {
    return await connect();
  } finally {
    Object.assign(globalThis, { WebSocket: own });
  }
}
