import type { ProviderClock } from '../../src/providers/contract/provider-clock.ts';
import { CartesiaSession } from './cartesia-session.ts';
import { type Emulator, type Handshake, type Refusal, startEmulator } from './kit/emulator.ts';
import type { Violations } from './kit/violations.ts';
import { DEFAULT_TONE_VOICE, type ToneVoice } from './speech-tone.ts';

export interface CartesiaOptions {
  apiKey?: string;
  clock?: ProviderClock;
  tls?: boolean;
  voice?: Partial<ToneVoice>;
  /** Whether word times come before or behind the chunk that holds the words. */
  timestamps?: 'before' | 'behind';
  /** Active contexts that the plan allows. */
  maxContexts?: number;
}

export interface CartesiaEmulator extends Emulator {
  readonly apiKey: string;
  readonly voice: ToneVoice;
}

const VERSIONS = ['2025-04-16', '2026-03-01', '2026-08-14'];
/** A socket without a message for so long is closed (Cartesia's documentation). */
const IDLE_MS = 300_000;

/** Cartesia's text-to-speech socket (D-35). */
export async function startCartesia(options: CartesiaOptions = {}): Promise<CartesiaEmulator> {
  const apiKey = options.apiKey ?? 'sk_car_test_1234567890';
  const voice: ToneVoice = { ...DEFAULT_TONE_VOICE, ...options.voice };
  const emulator: Emulator = await startEmulator({
    vendor: 'cartesia',
    secrets: [apiKey],
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.tls ? { tls: true } : {}),
    sockets: [
      {
        path: '/tts/websocket',
        admit: (request) => admit(request, apiKey, emulator.violations),
        session: (socket, request) => {
          const session = new CartesiaSession({
            socket,
            voice,
            clock: emulator.clock,
            violations: emulator.violations,
            version: request.headers['cartesia-version'] ?? '',
            timestamps: options.timestamps ?? 'before',
            maxContexts: options.maxContexts ?? 15,
            idleMs: IDLE_MS,
          });
          socket.onText((json) => session.receive(json));
          socket.onBinary(() => emulator.violations.add('cartesia: a binary frame'));
          socket.onClose(() => session.end());
        },
      },
    ],
  });
  return Object.assign(emulator, { apiKey, voice });
}

function admit(request: Handshake, apiKey: string, violations: Violations): Refusal | undefined {
  const { headers } = request;
  const given = headers['x-api-key'] ?? /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  if (given !== apiKey) return cartesiaRefusal(401, 'unauthorized', 'Invalid API key');
  const version = headers['cartesia-version'];
  const problems = [...new Set(request.query.keys())].map((key) => `cartesia: unknown query key ${key}`);
  if (version === undefined || !VERSIONS.includes(version)) {
    problems.push(`cartesia: the header Cartesia-Version is missing or unknown: ${version}`);
  }
  if (problems.length === 0) return undefined;
  violations.add(...problems);
  return cartesiaRefusal(400, 'invalid_request', problems.join('; '));
}

/** The vendor's error document before the upgrade. */
export function cartesiaRefusal(status: number, code: string, message: string): Refusal {
  return {
    status,
    body: { error_code: code, title: 'Request refused', message, request_id: 'req_emulated' },
  };
}
