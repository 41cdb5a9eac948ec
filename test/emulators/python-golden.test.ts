import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { projectRoot } from '../../src/platform/project-paths.ts';
import { startAnthropic } from './anthropic.ts';
import { startCartesia } from './cartesia.ts';
import { startDeepgram } from './deepgram.ts';
import { startFlux } from './deepgram-flux.ts';
import { startElevenLabs } from './elevenlabs.ts';
import { startGemini } from './gemini.ts';
import { GOLDEN_KEY, GOLDEN_TEXT, GOLDEN_WORDS, goldenFrames } from './golden-run.ts';
import { TEST_KEY } from './llm/llm-emulator.ts';
import { textOfTokens } from './llm/tokens.ts';
import { startOpenAi } from './openai.ts';
import { startSarvamStt } from './sarvam-stt.ts';
import { startSarvamTts } from './sarvam-tts.ts';
import { startSoniox } from './soniox.ts';
import { samplesOf } from './speech-tone.ts';

/**
 * The vendors' own clients for Python against the emulators. They are written by others than the clients for
 * JavaScript, or at another time: where both pass, one of them that is stale has not taught its emulator a mistake.
 */
t.setTimeout(280_000);

type Message = Record<string, unknown>;

const CLIENTS = join(projectRoot, '.cache/python-clients');
const TEXT = 'Your parcel comes on Tuesday, madam.';
const ELEVEN_PATH = '/v1/text-to-speech/voice-1/multi-stream-input?output_format=pcm_8000&auto_mode=true';
const hearing = { key: GOLDEN_KEY, hearing: { words: GOLDEN_WORDS } };
const frames = (ms: number, silenceMs: number) =>
  goldenFrames(8_000, ms, silenceMs).map((frame) => frame.toString('base64'));
const SLOTS = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
const HELLO = { role: 'user', content: 'Good morning.' };

const [deepgram, flux, sarvam, sarvamTts, soniox, elevenlabs, cartesia, openai, anthropic, gemini] =
  await Promise.all([
    startDeepgram(hearing),
    startFlux({ ...hearing, connectedAfterMs: 50 }),
    startSarvamStt(hearing),
    startSarvamTts(),
    startSoniox(hearing),
    startElevenLabs(),
    startCartesia(),
    startOpenAi(),
    startAnthropic(),
    startGemini(),
  ]);
t.teardown(() =>
  Promise.all(
    [deepgram, flux, sarvam, sarvamTts, soniox, elevenlabs, cartesia, openai, anthropic, gemini].map(
      (emulator) => emulator.close(),
    ),
  ),
);

const sonioxKey = { key: GOLDEN_KEY, url: soniox.wsUrl };
const orders = {
  deepgram: {
    url: deepgram.wsUrl,
    key: GOLDEN_KEY,
    frames: frames(20, 600),
    settings: {
      model: 'nova-3',
      language: 'multi',
      encoding: 'linear16',
      sample_rate: 8_000,
      interim_results: true,
      endpointing: 300,
      utterance_end_ms: 1_000,
      smart_format: true,
      keyterm: ['Termin', 'please'],
    },
  },
  flux: {
    url: flux.wsUrl,
    key: GOLDEN_KEY,
    frames: frames(80, 1_500),
    settings: {
      model: 'flux-general-multi',
      encoding: 'linear16',
      sample_rate: 8_000,
      eot_threshold: 0.7,
      keyterm: ['Termin'],
      language_hint: ['hi'],
    },
  },
  sarvam: {
    url: sarvam.wsUrl,
    key: GOLDEN_KEY,
    frames: frames(50, 700),
    settings: {
      model: 'saaras:v4',
      language_code: 'hi-IN',
      encoding: 'linear16',
      sample_rate: '8000',
      return_timestamps: 'true',
      keyterms: '["New Delhi","Termin"]',
    },
  },
  sarvam_legacy: {
    url: sarvam.wsUrl,
    key: GOLDEN_KEY,
    frames: frames(50, 700),
    settings: {
      model: 'saaras:v4',
      language_code: 'hi-IN',
      sample_rate: '8000',
      input_audio_codec: 'pcm_s16le',
      vad_signals: 'true',
      flush_signal: 'true',
      keyterms: '["New Delhi"]',
    },
  },
  sarvam_tts: {
    url: sarvamTts.wsUrl,
    key: sarvamTts.apiKey,
    text: TEXT,
    settings: { model: 'bulbul:v4-flash', language: 'en-IN', speaker: 'simran_en_customer' },
  },
  soniox: {
    ...sonioxKey,
    frames: frames(100, 900),
    settings: {
      model: 'stt-rt-v5',
      audio_format: 'pcm_s16le',
      sample_rate: 8_000,
      num_channels: 1,
      language_hints: ['hi', 'en'],
      enable_endpoint_detection: true,
      max_endpoint_delay_ms: 1_000,
    },
  },
  elevenlabs: { url: `${elevenlabs.wsUrl}${ELEVEN_PATH}`, key: elevenlabs.apiKey, text: TEXT },
  cartesia: {
    url: cartesia.wsUrl,
    key: cartesia.apiKey,
    settings: {
      context_id: 'golden',
      model_id: 'sonic-3.5',
      transcript: TEXT,
      continue: false,
      // The client speaks a newer version of the interface than ours, in which a voice has no mode.
      voice: { id: 'voice-1' },
      output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 8_000 },
      language: 'en',
      add_timestamps: true,
    },
  },
  openai: {
    url: openai.url,
    key: TEST_KEY,
    settings: {
      model: 'gpt-6-luna',
      messages: [HELLO],
      tools: [{ type: 'function', function: { name: 'find_slots', parameters: SLOTS, strict: false } }],
      reasoning_effort: 'none',
    },
  },
  anthropic: {
    url: anthropic.url,
    key: TEST_KEY,
    settings: {
      model: 'claude-haiku-5-5',
      max_tokens: 200,
      system: 'You are a receptionist.',
      messages: [
        HELLO,
        {
          role: 'assistant',
          content: [
            { type: 'redacted_thinking', data: 'c2VjcmV0' },
            { type: 'text', text: 'Yes?' },
          ],
        },
        HELLO,
      ],
      tools: [{ name: 'find_slots', input_schema: SLOTS }],
      thinking: { type: 'adaptive', display: 'summarized' },
    },
  },
  gemini: {
    url: gemini.url,
    key: TEST_KEY,
    version: 'v1beta',
    settings: {
      model: 'gemini-3.5-flash-lite',
      text: 'Good morning.',
      system: 'You are a receptionist.',
      long_system: textOfTokens(5_000),
      tool: { name: 'find_slots', description: 'Finds free appointments.', parameters_json_schema: SLOTS },
    },
  },
};

if (!existsSync(CLIENTS)) throw new Error('the set-up installs them: node setup.mjs test --only python');
const results = await runClients(orders);

t.test('D-35 deepgram: the client for Python runs a whole session without a violation', (t) => {
  const finals = heard(t, 'deepgram', deepgram).filter((message) => message.is_final);
  t.equal(finals.map(transcriptOf).filter(Boolean).join(' '), GOLDEN_TEXT);
  t.end();
});

t.test('D-35 flux: the client for Python runs a turn, and reads why a Configure failed', (t) => {
  const messages = heard(t, 'flux', flux, [/eot_threshold/]);
  t.match(
    messages.find(({ event }) => event === 'EndOfTurn'),
    { transcript: GOLDEN_TEXT },
  );
  const answers = messages.filter(({ type }) => String(type).startsWith('Configure'));
  t.match(answers, [
    { type: 'ConfigureSuccess' },
    { type: 'ConfigureFailure', code: 'INVALID_CONFIGURATION', description: String },
  ]);
  t.end();
});

t.test('D-35 sarvam: the client for Python asks both sockets for saaras:v4 with its terms', (t) => {
  const realtime = heard(t, 'sarvam', sarvam).find(({ event }) => event === 'transcript.final');
  t.equal(realtime?.text, GOLDEN_TEXT);
  const legacy = heard(t, 'sarvam_legacy', sarvam).find(({ type }) => type === 'data');
  t.match(legacy, { data: { transcript: GOLDEN_TEXT } });
  t.end();
});

t.test('D-35 sarvam: the client for Python speaks by a voice of bulbul:v4-flash', (t) => {
  const audio = heard(t, 'sarvam_tts', sarvamTts).flatMap(({ type, data }) =>
    type === 'audio' ? [(data as { audio: string }).audio] : [],
  );
  t.equal(bytesOf(audio), 2 * samplesOf(TEXT, 8_000));
  t.end();
});

t.test('D-35 soniox: the client for Python gives its key in the header', (t) => {
  const tokens = heard(t, 'soniox', soniox).flatMap(
    ({ tokens }) => (tokens ?? []) as { text: string; is_final: boolean }[],
  );
  const finals = tokens.filter(({ is_final, text }) => is_final && !text.startsWith('<'));
  t.equal(finals.map(({ text }) => text).join(''), GOLDEN_TEXT);
  t.notOk(Object.hasOwn(soniox.log.messages('in')[0] ?? {}, 'api_key'));
  t.end();
});

t.test('D-35 elevenlabs: messages by the types of the package for Python are taken, and read', (t) => {
  const messages = heard(t, 'elevenlabs', elevenlabs);
  t.equal(
    bytesOf(messages.flatMap(({ audio }) => (typeof audio === 'string' ? [audio] : []))),
    2 * samplesOf(TEXT, 8_000),
  );
  t.match(messages.at(-1), { isFinal: true, contextId: 'golden' });
  t.end();
});

t.test('D-35 cartesia: the client for Python speaks a clause without a violation', (t) => {
  const messages = heard(t, 'cartesia', cartesia);
  const audio = messages.flatMap(({ data }) => (typeof data === 'string' ? [data] : []));
  t.equal(bytesOf(audio), 2 * samplesOf(TEXT, 8_000));
  t.match(messages.at(-1), { type: 'done' });
  t.end();
});

t.test('D-35 openai: the client for Python streams over both interfaces without a violation', (t) => {
  const said = JSON.stringify(heard(t, 'openai', openai));
  t.match(said, /chat\.completion\.chunk[\s\S]*response\.completed/);
  t.end();
});

t.test('D-35 anthropic: the client for Python asks for short thoughts and gives redacted ones back', (t) => {
  t.match(heard(t, 'anthropic', anthropic).at(-1), { stop_reason: 'end_turn', role: 'assistant' });
  t.end();
});

t.test('D-35 gemini: the client for Python names its schema as it does, and uses a cache entry', (t) => {
  const messages = heard(t, 'gemini', gemini);
  t.match(JSON.stringify(gemini.desk.served[0]?.body), /parameters_?json_?schema/i);
  t.match(messages.at(-1), { usageMetadata: { cachedContentTokenCount: Number } });
  t.end();
});

/** What a client was given. Only the trespasses that were meant may have been noted. */
function heard(
  t: Test,
  client: keyof typeof orders,
  emulator: { violations: { list: readonly string[] } },
  meant: readonly RegExp[] = [],
): Message[] {
  const { error, received = [] } = results[client] ?? {};
  t.equal(error, undefined, client);
  t.equal(emulator.violations.list.length, meant.length, emulator.violations.list.join('; '));
  t.match(emulator.violations.list, meant);
  return received;
}

function bytesOf(audio: readonly string[]): number {
  return audio.reduce((sum, piece) => sum + Buffer.from(piece, 'base64').length, 0);
}

function transcriptOf(message: Message): string {
  const channel = message.channel as { alternatives?: { transcript: string }[] } | undefined;
  return channel?.alternatives?.[0]?.transcript ?? '';
}

async function runClients(
  wanted: Record<string, unknown>,
): Promise<Record<string, { received?: Message[]; error?: string }>> {
  const child = spawn('python3', [join(projectRoot, 'test/emulators/python/golden_clients.py')], {
    // What is compiled stays for the next run.
    env: { ...process.env, PYTHONPATH: CLIENTS, PYTHONDONTWRITEBYTECODE: '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(wanted));
  const [said] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return JSON.parse(said);
}
