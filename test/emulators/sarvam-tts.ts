import type { ProviderClock } from '../../src/providers/contract/provider-clock.ts';
import {
  type Admission,
  type Emulator,
  type Handshake,
  type Refusal,
  startEmulator,
} from './kit/emulator.ts';
import { checkQuery, type Fields } from './kit/field-rules.ts';
import type { Violations } from './kit/violations.ts';
import { sarvamKey } from './sarvam-door.ts';
import { SARVAM_VOICE_MODELS, SarvamTtsSession } from './sarvam-tts-session.ts';
import { DEFAULT_TONE_VOICE, type ToneVoice } from './speech-tone.ts';

export interface SarvamTtsOptions {
  apiKey?: string;
  clock?: ProviderClock;
  tls?: boolean;
  voice?: Partial<ToneVoice>;
}

export interface SarvamTtsEmulator extends Emulator {
  readonly apiKey: string;
  readonly voice: ToneVoice;
  /** What the vendor takes without effect, such as a pitch for a model that has none. */
  readonly flagged: string[];
}

const QUERY: Fields = {
  model: { type: 'string', oneOf: SARVAM_VOICE_MODELS },
  send_completion_event: { type: 'boolean' },
};
/** Without a message for so long the socket is closed (Sarvam's documentation). */
const IDLE_MS = 60_000;

/** Sarvam's text-to-speech socket (D-35). */
export async function startSarvamTts(options: SarvamTtsOptions = {}): Promise<SarvamTtsEmulator> {
  const apiKey = options.apiKey ?? 'sarvam-test-key-1234567890';
  const voice: ToneVoice = { ...DEFAULT_TONE_VOICE, ...options.voice };
  const flagged: string[] = [];
  const emulator: Emulator = await startEmulator({
    vendor: 'sarvam tts',
    secrets: [apiKey],
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.tls ? { tls: true } : {}),
    sockets: [
      {
        path: '/text-to-speech/ws',
        admit: (request) => admit(request, apiKey, emulator.violations),
        session: (socket, request) => {
          const session = new SarvamTtsSession({
            socket,
            voice,
            flagged,
            clock: emulator.clock,
            violations: emulator.violations,
            model: request.query.get('model') ?? 'bulbul:v3',
            completionEvent: request.query.get('send_completion_event') === 'true',
            idleMs: IDLE_MS,
          });
          socket.onText((json) => session.receive(json));
          socket.onBinary(() => emulator.violations.add('sarvam tts: a binary frame'));
          socket.onClose(() => session.end());
        },
      },
    ],
  });
  return Object.assign(emulator, { apiKey, voice, flagged });
}

function admit(request: Handshake, apiKey: string, violations: Violations): Refusal | Admission | undefined {
  const key = sarvamKey(request, violations);
  if ('status' in key) return key;
  if (key.given !== apiKey) return sarvamRefusal(403, 'invalid_api_key_error', 'Invalid API key');
  const problems = checkQuery(request.query, QUERY);
  if (problems.length === 0) return key;
  violations.add(...problems);
  return sarvamRefusal(400, 'invalid_request_error', problems.join('; '));
}

export function sarvamRefusal(status: number, code: string, message: string): Refusal {
  return { status, body: { error: { code, message, request_id: 'req_emulated' } } };
}
