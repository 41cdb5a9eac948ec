import type { ScriptStep } from './kit/script.ts';

/**
 * Scenes of the vendors as data (D-35), to be played with `control.script`: the same one
 * for the vendor's SDK and for our client. Each begins when some audio came, and none closes the connection.
 */
export type Scenes = Readonly<Record<string, ScriptStep[]>>;

/** 200 ms of LINEAR16 at 8 kHz. */
const SOME_AUDIO: ScriptStep = { expectAudioBytes: 3_200 };

interface ResultFlags {
  is_final?: boolean;
  speech_final?: boolean;
  from_finalize?: boolean;
}

function deepgramResult(
  transcript: string,
  start: number,
  duration: number,
  flags: ResultFlags = {},
): ScriptStep {
  return {
    emit: {
      type: 'Results',
      channel_index: [0, 1],
      start,
      duration,
      is_final: false,
      speech_final: false,
      from_finalize: false,
      ...flags,
      channel: {
        alternatives: [
          {
            transcript,
            confidence: transcript === '' ? 0 : 0.98,
            words: transcript
              .split(' ')
              .filter(Boolean)
              .map((word, index) => ({
                word,
                start: start + index / 10,
                end: start + index / 10 + 0.1,
                confidence: 0.98,
              })),
          },
        ],
      },
      metadata: {
        request_id: '00000000-0000-4000-8000-00000000f000',
        model_uuid: '00000000-0000-4000-8000-00000000f001',
        model_info: { name: 'nova-3', version: '2026-01-01.0', arch: 'nova-3' },
      },
    },
  };
}

const SPEECH_STARTED: ScriptStep = { emit: { type: 'SpeechStarted', channel: [0], timestamp: 0.02 } };

export const deepgramScenes: Scenes = {
  'interim, interim, final, end of speech': [
    SOME_AUDIO,
    SPEECH_STARTED,
    deepgramResult('I want', 0, 0.4),
    deepgramResult('I want to', 0, 0.7),
    deepgramResult('I want to book', 0, 1, { is_final: true }),
    deepgramResult('a table', 1, 0.6, { is_final: true, speech_final: true }),
  ],
  'speech starts twice, and text comes without it': [
    SOME_AUDIO,
    SPEECH_STARTED,
    SPEECH_STARTED,
    deepgramResult('hello', 0, 0.5, { is_final: true, speech_final: true }),
    deepgramResult('again', 0.5, 0.5, { is_final: true, speech_final: true }),
  ],
  'utterance end without an end of speech': [
    SOME_AUDIO,
    deepgramResult('tomorrow', 0, 0.5),
    deepgramResult('tomorrow at five', 0, 1.2, { is_final: true }),
    { emit: { type: 'UtteranceEnd', channel: [0, 1], last_word_end: 1.1 } },
  ],
  'empty finals around a text': [
    SOME_AUDIO,
    deepgramResult('', 0, 0.5, { is_final: true }),
    deepgramResult('yes', 0.5, 0.5, { is_final: true, speech_final: true }),
    deepgramResult('', 1, 0.5, { is_final: true, speech_final: true }),
  ],
  'finalize answered': [
    SOME_AUDIO,
    deepgramResult('call me', 0, 0.6),
    { expect: { type: 'Finalize' } },
    deepgramResult('call me back', 0, 0.9, { is_final: true, from_finalize: true }),
  ],
  'finalize not answered': [
    SOME_AUDIO,
    deepgramResult('no thanks', 0, 0.6, { is_final: true, speech_final: true }),
    { expect: { type: 'Finalize' } },
  ],
  'the same final twice': [
    SOME_AUDIO,
    deepgramResult('only once', 0, 0.6, { is_final: true, speech_final: true }),
    { fault: 'duplicate' },
  ],
};

/** Numbers its messages from 1: the emulator itself sent `Connected` as 0. */
function fluxScene(
  ...events: (readonly [event: string, turn: number, transcript: string, more?: object])[]
): ScriptStep[] {
  return [
    SOME_AUDIO,
    ...events.map(([event, turn, transcript, more], index) => ({
      emit: {
        type: 'TurnInfo',
        request_id: '00000000-0000-4000-8000-00000000f002',
        sequence_id: index + 1,
        event,
        turn_index: turn,
        audio_window_start: turn,
        audio_window_end: turn + (index + 1) / 4,
        transcript,
        words: transcript
          .split(' ')
          .filter(Boolean)
          .map((word) => ({ word, confidence: 0.97 })),
        end_of_turn_confidence: event === 'EndOfTurn' ? 0.85 : event === 'EagerEndOfTurn' ? 0.5 : 0.1,
        ...(event === 'EndOfTurn' ? { trigger: 'model' } : {}),
        ...more,
      },
    })),
  ];
}

export const fluxScenes: Scenes = {
  'a plain turn': fluxScene(
    ['StartOfTurn', 0, 'hello'],
    ['Update', 0, 'hello there'],
    ['EndOfTurn', 0, 'hello there'],
  ),
  'eager, resumed, end': fluxScene(
    ['StartOfTurn', 0, 'I'],
    ['EagerEndOfTurn', 0, 'I want'],
    ['TurnResumed', 0, 'I want to'],
    ['Update', 0, 'I want to pay'],
    ['EndOfTurn', 0, 'I want to pay'],
  ),
  'eager, then an equal end': fluxScene(
    ['StartOfTurn', 0, 'yes'],
    ['EagerEndOfTurn', 0, 'yes please'],
    ['EndOfTurn', 0, 'yes please'],
  ),
  'two turns back to back': fluxScene(
    ['StartOfTurn', 0, 'one'],
    ['EndOfTurn', 0, 'one'],
    ['StartOfTurn', 1, 'two'],
    ['EndOfTurn', 1, 'two'],
  ),
  'an end by timeout': fluxScene(
    ['StartOfTurn', 0, 'um'],
    ['EndOfTurn', 0, 'um well', { trigger: 'timeout' }],
  ),
  'a start without words, an unknown trigger': fluxScene(
    ['StartOfTurn', 0, ''],
    ['Update', 0, 'okay'],
    ['EndOfTurn', 0, 'okay', { trigger: 'something_new' }],
  ),
  'forced by the client': [
    ...fluxScene(['StartOfTurn', 0, 'stop']),
    { expect: { type: 'ForceEndTurn' } },
    ...fluxScene(['StartOfTurn', 0, ''], ['EndOfTurn', 0, 'stop it', { trigger: 'manual' }]).slice(2),
  ],
  'an error': [
    ...fluxScene(['StartOfTurn', 0, 'hello']),
    {
      emit: {
        type: 'Error',
        sequence_id: 2,
        code: 'INTERNAL_SERVER_ERROR',
        description: 'the session cannot go on',
      },
    },
  ],
};

const sarvam = (event: string, fields: object): ScriptStep => ({
  emit: { event, utterance_idx: 0, ...fields },
});

export const sarvamScenes: Scenes = {
  'partials that grow, and a final': [
    SOME_AUDIO,
    sarvam('vad.speech_start', { confidence: 0.9 }),
    sarvam('transcript.partial', { text: 'मुझे' }),
    sarvam('transcript.partial', { text: 'मुझे कल' }),
    sarvam('vad.speech_end', {}),
    sarvam('transcript.final', { text: 'मुझे कल आना है' }),
  ],
  'a final without an end of speech': [
    SOME_AUDIO,
    sarvam('vad.speech_start', {}),
    sarvam('transcript.partial', { text: 'हाँ' }),
    sarvam('transcript.final', { text: 'हाँ जी' }),
  ],
  'an error that is not fatal': [
    SOME_AUDIO,
    { emit: { event: 'error', code: 'invalid_config', is_fatal: false, message: 'the value is refused' } },
    sarvam('vad.speech_start', {}),
    sarvam('vad.speech_end', {}),
    sarvam('transcript.final', { text: 'फिर भी' }),
  ],
  'a fatal error': [
    SOME_AUDIO,
    {
      emit: {
        event: 'error',
        code: 'backend_unavailable',
        is_fatal: true,
        message: 'try again later',
        status_code: 503,
      },
    },
    { close: 4000, reason: 'try again later' },
  ],
};

const token = (text: string, isFinal: boolean) => ({ text, confidence: 0.97, is_final: isFinal });
const tokens = (finals: string[], unsure: string[], heardMs: number): ScriptStep => ({
  emit: {
    tokens: [...finals.map((text) => token(text, true)), ...unsure.map((text) => token(text, false))],
    final_audio_proc_ms: heardMs - 100 * unsure.length,
    total_audio_proc_ms: heardMs,
  },
});

export const sonioxScenes: Scenes = {
  'tokens that change, finals once, an endpoint': [
    SOME_AUDIO,
    tokens([], ['He', 'lo'], 200),
    tokens(['He', 'llo'], [' wor'], 400),
    tokens([], [' word'], 500),
    tokens([' wor', 'ld', '<end>'], [], 900),
  ],
  'finalize with text': [
    SOME_AUDIO,
    tokens([], ['ok', 'ay'], 300),
    { expect: { type: 'finalize' } },
    tokens(['ok', 'ay', '<fin>'], [], 400),
  ],
  'finalize with nothing said': [SOME_AUDIO, { expect: { type: 'finalize' } }, tokens(['<fin>'], [], 300)],
  'it cannot continue': [
    SOME_AUDIO,
    tokens(['one'], [' two'], 400),
    {
      emit: {
        error_code: 503,
        error_message: 'Cannot continue request (code 1). Please restart the request.',
      },
    },
    { close: 1000 },
  ],
  'an error code as a text': [
    SOME_AUDIO,
    { emit: { error_code: '408', error_message: 'Request timeout.' } },
    { close: 1000 },
  ],
};
