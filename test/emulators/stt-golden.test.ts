import t from 'tap';
import { goldenDeepgram, goldenFlux } from './golden-deepgram.ts';
import { GOLDEN_TEXT } from './golden-run.ts';
import { goldenSarvam, goldenSarvamLegacy } from './golden-sarvam-stt.ts';
import { goldenSoniox } from './golden-soniox.ts';
import { goldenTranscription } from './golden-transcription.ts';
import type { ScriptStep } from './kit/script.ts';
import { deepgramScenes, fluxScenes, sarvamScenes, sonioxScenes } from './stt-scenes.ts';

/** The vendors' own SDKs against the emulators: if an emulator were wrong, its own vendor's client would show it. */

t.test('D-35 deepgram: the SDK runs a whole session at the emulator without a violation', async (t) => {
  const run = await goldenDeepgram({
    model: 'nova-3',
    language: 'multi',
    encoding: 'linear16',
    sample_rate: 8000,
    interim_results: 'true',
    endpointing: 300,
    utterance_end_ms: 1000,
    vad_events: 'true',
  });
  t.same(run.violations, []);
  t.same(run.lines, [
    '> GET /v1/listen?encoding=linear16&endpointing=300&interim_results=true&language=multi&model=nova-3&sample_rate=8000&utterance_end_ms=1000&vad_events=true',
    '> authorization: Token ***',
    '> audio',
    '> {"type":"KeepAlive"}',
    '> {"type":"Finalize"}',
    '> {"type":"CloseStream"}',
  ]);
  const finals = run.received.filter((message) => message.is_final).map((message) => transcriptOf(message));
  t.equal(finals.filter(Boolean).join(' '), GOLDEN_TEXT);
  const spoken = run.received.find((message) => message.speech_final);
  t.match(spoken, { type: 'Results', start: 0 });
  t.ok(run.received.some((message) => message.type === 'SpeechStarted'));
  t.ok(run.received.some((message) => message.is_final === false && transcriptOf(message) !== ''));
});

t.test('D-35 flux: the SDK runs turns, a Configure and the end without a violation', async (t) => {
  const run = await goldenFlux({
    model: 'flux-general-en',
    encoding: 'linear16',
    sample_rate: 8000,
    eot_threshold: 0.7,
    eager_eot_threshold: 0.4,
    keyterm: ['Termin', 'please'],
  });
  t.same(run.violations, []);
  t.same(run.lines, [
    '> GET /v2/listen?eager_eot_threshold=0.4&encoding=linear16&eot_threshold=0.7&keyterm=Termin&keyterm=please&model=flux-general-en&sample_rate=8000',
    '> authorization: Token ***',
    '> audio',
    '> {"thresholds":{"eot_threshold":0.8},"type":"Configure"}',
    '> {"type":"CloseStream"}',
  ]);
  const turns = run.received.filter((message) => message.type === 'TurnInfo' && message.event !== 'Update');
  t.same(
    turns.map((message) => message.event),
    ['StartOfTurn', 'EagerEndOfTurn', 'EndOfTurn'],
  );
  t.match(turns.at(-1), { transcript: GOLDEN_TEXT, trigger: 'model', turn_index: 0 });
  t.equal(turns.at(-1)?.transcript, turns.at(-2)?.transcript);
  t.same(
    run.received.map((message) => message.sequence_id),
    run.received.map((_, index) => index),
    'every message has the next sequence_id',
  );
});

t.test('D-35 sarvam realtime: the SDK runs vad and manual sessions without a violation', async (t) => {
  const vad = await goldenSarvam({ language_code: 'hi-IN', sample_rate: '8000', encoding: 'linear16' });
  t.same(vad.violations, []);
  t.same(vad.lines, [
    '> GET /speech-to-text-realtime/ws?encoding=linear16&language_code=hi-IN&sample_rate=8000',
    '> api-subscription-key: ***',
    '> json audio',
    '> {"event":"ping"}',
    '> {"event":"config.update","prompt":"dates and names"}',
    '> {"event":"end"}',
  ]);
  const events = vad.received.map((message) => String(message.event));
  t.same(
    events.filter((event, index) => event !== events[index - 1]),
    [
      'session.begin',
      'vad.speech_start',
      'transcript.partial',
      'vad.speech_end',
      'transcript.final',
      'pong',
      'config.updated',
      'session.end',
    ],
  );
  t.match(vad.received[0], { config: { turn_detection: 'vad', sample_rate: 8000 } });

  const manual = await goldenSarvam(
    { language_code: 'auto', sample_rate: '8000', endpointing: 'manual', return_timestamps: 'true' },
    ['speak', 'finalize', 'close'],
  );
  t.same(manual.violations, []);
  t.match(manual.lines.slice(2), [
    '> {"event":"speech_start"}',
    '> json audio',
    '> {"event":"speech_end"}',
    '> {"event":"flush"}',
    '> {"event":"end"}',
  ]);
  t.match(
    manual.received.find((message) => message.event === 'transcript.final'),
    { text: GOLDEN_TEXT, language: 'hi-IN', start_s: 0, utterance_idx: 0 },
  );
});

t.test('D-35 sarvam legacy: the SDK runs an utterance without a violation', async (t) => {
  const run = await goldenSarvamLegacy({
    'language-code': 'hi-IN',
    sample_rate: '8000',
    input_audio_codec: 'pcm_s16le',
    vad_signals: 'true',
    flush_signal: 'true',
  });
  t.same(run.violations, []);
  t.same(run.lines, [
    '> GET /speech-to-text/ws?flush_signal=true&input_audio_codec=pcm_s16le&language-code=hi-IN&sample_rate=8000&vad_signals=true',
    '> api-subscription-key: ***',
    '> sec-websocket-protocol: api-subscription-key.***',
    '> json audio',
    '> {"type":"flush"}',
    '> close 1000',
  ]);
  t.match(run.received, [
    { type: 'events', data: { signal_type: 'START_SPEECH' } },
    { type: 'events', data: { signal_type: 'END_SPEECH', occured_at: Number } },
    { type: 'data', data: { transcript: GOLDEN_TEXT } },
  ]);
});

t.test('D-35 soniox: the SDK runs endpoint, finalize and the end of audio without a violation', async (t) => {
  const run = await goldenSoniox({
    model: 'stt-rt-v5',
    audio_format: 'pcm_s16le',
    sample_rate: 8000,
    num_channels: 1,
    language_hints: ['hi', 'en'],
    enable_endpoint_detection: true,
    max_endpoint_delay_ms: 1000,
  });
  t.same(run.violations, []);
  t.same(
    run.lines.filter((line) => !line.startsWith('> close')),
    [
      '> GET /transcribe-websocket',
      '> {"api_key":"***","audio_format":"pcm_s16le","enable_endpoint_detection":true,"language_hints":["hi","en"],"max_endpoint_delay_ms":1000,"model":"stt-rt-v5","num_channels":1,"sample_rate":8000}',
      '> audio',
      '> {"type":"keepalive"}',
      '> {"type":"finalize"}',
      '> text ""',
    ],
  );
  const tokens = run.received.flatMap(
    (message) => (message.tokens ?? []) as { text: string; is_final: boolean }[],
  );
  const finals = tokens.filter((token) => token.is_final).map((token) => token.text);
  t.equal(finals.join(''), GOLDEN_TEXT, 'final tokens come once and carry their own spaces');
  t.ok(run.received.at(-1)?.finished, 'the end of audio is confirmed');
  t.notOk(run.received.some((message) => 'error' in message));
});

t.test(
  'D-35 openai transcription: the SDK sends a file and reads its text without a violation',
  async (t) => {
    const run = await goldenTranscription({ model: 'whisper-1', language: 'de', response_format: 'json' });
    t.same(run.violations, []);
    t.same(run.lines, [
      '> POST /v1/audio/transcriptions',
      '> authorization: Bearer ***',
      '> content-type: multipart/form-data; boundary=*',
      '> form file=audio.wav&language=de&model=whisper-1&response_format=json',
    ]);
    t.match(run.received, [{ text: GOLDEN_TEXT }]);
  },
);

/** What a scene says, without the fields that only the wire has. */
function said(scene: readonly ScriptStep[]): Record<string, unknown>[] {
  return scene.flatMap((step) => ('emit' in step ? [step.emit as Record<string, unknown>] : []));
}

const FLUX = { model: 'flux-general-en', encoding: 'linear16', sample_rate: 8000 };
const NOVA = { model: 'nova-3', encoding: 'linear16', sample_rate: 8000, interim_results: 'true' };

t.test('D-35 deepgram: the SDK takes every scene as it is', async (t) => {
  for (const [name, scene] of Object.entries(deepgramScenes)) {
    const run = await goldenDeepgram(NOVA, undefined, scene);
    t.same(run.violations, [], name);
    const expected = said(scene);
    const twice = scene.some((step) => 'fault' in step) ? [...expected, expected.at(-1)] : expected;
    t.same(run.received, twice, name);
  }
});

t.test('D-35 flux: the SDK takes every scene as it is', async (t) => {
  for (const [name, scene] of Object.entries(fluxScenes)) {
    const run = await goldenFlux(FLUX, undefined, scene);
    t.same(run.violations, [], name);
    t.same(run.received.slice(1), said(scene), name);
    t.same(
      run.received.map((message) => message.sequence_id),
      run.received.map((_, index) => index),
      `${name}: in sequence`,
    );
  }
});

t.test('D-35 sarvam realtime: the SDK takes every scene as it is', async (t) => {
  for (const [name, scene] of Object.entries(sarvamScenes)) {
    const run = await goldenSarvam({ language_code: 'hi-IN', sample_rate: '8000' }, undefined, scene);
    t.same(run.violations, [], name);
    t.same(run.received.slice(1), said(scene), name);
  }
});

t.test('D-35 soniox: the SDK takes every scene, and shows its errors', async (t) => {
  const config = { model: 'stt-rt-v5', audio_format: 'pcm_s16le', sample_rate: 8000, num_channels: 1 };
  for (const [name, scene] of Object.entries(sonioxScenes)) {
    const run = await goldenSoniox(config, undefined, scene);
    t.same(run.violations, [], name);
    const errors = said(scene).filter((message) => 'error_code' in message);
    const results = run.received.filter((message) => message.tokens && !message.finished);
    t.equal(results.length, said(scene).length - errors.length, name);
    t.equal(run.received.filter((message) => 'error' in message).length, errors.length, name);
  }
});

function transcriptOf(message: Record<string, unknown>): string {
  const channel = message.channel as { alternatives?: { transcript: string }[] } | undefined;
  return channel?.alternatives?.[0]?.transcript ?? '';
}
