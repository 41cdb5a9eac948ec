import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bot } from '../../src/contracts/bot.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { type Control, type ControlParts, startControl } from '../../src/control/control.ts';
import { type KeyValueStore, openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { readSettings } from '../../src/platform/settings.ts';
import { tempFolder } from './temp-folder.ts';

/** A control plane on a free port and a store of its own. */
export interface RunningControl {
  control: Control;
  store: KeyValueStore;
  recordingsFolder: string;
  url: (path: string) => string;
  stop: () => Promise<void>;
}

type RunOptions = Pick<ControlParts, 'requestsPerMinute' | 'onReply' | 'outboundHttp' | 'ownSessions'> & {
  /** The data folder of an earlier one that has stopped. */
  folder?: string;
};

export async function runControl(
  env: Record<string, string> = {},
  clock?: () => string,
  { folder = tempFolder(), ...more }: RunOptions = {},
): Promise<RunningControl> {
  const recordingsFolder = join(folder, 'recordings');
  mkdirSync(recordingsFolder, { recursive: true });
  const store = openKeyValueStore(join(folder, 'store'));
  const control = await startControl({
    settings: readSettings({ CONTROL_LISTEN: '127.0.0.1:0', ...env }, folder, folder),
    store,
    logger: createLogger({ level: 'silent', role: 'test' }),
    recordingsFolder,
    ...(clock ? { clock } : {}),
    ...more,
  });
  return {
    control,
    store,
    recordingsFolder,
    url: (path) => `http://127.0.0.1:${control.port}${path}`,
    stop: async () => {
      await control.close();
      await store.close();
    },
  };
}

export function testBot(change: Partial<Bot> = {}): Bot {
  return {
    bot_id: 'clinic',
    name: 'Clinic',
    timezone: 'Asia/Kolkata',
    system_prompt:
      'You answer for a clinic.\nBe brief.\nThe caller is {{crm.name}}, today is {{system.current_date}}.',
    opening_message: 'Namaste {{call.name}}, this is the clinic.',
    stt: { provider: 'scripted' },
    llm: { provider: 'scripted' },
    tts: { provider: 'scripted' },
    vad: {},
    min_words_interruption: 1,
    re_engagement: { enabled: false },
    max_call_duration_seconds: 600,
    tools: [],
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    ...change,
  };
}

export function testResults(sessionId: string, change: Partial<CallResults> = {}): CallResults {
  return {
    session_id: sessionId,
    stream_id: 'stream-1',
    caller_id: '+911234567890',
    from_number: null,
    call_duration_seconds: 12.5,
    call_direction: 'inbound',
    disconnected_by: 'customer',
    transcript: [
      { speaker: 'bot', text: 'Namaste', timestamp: 0.4 },
      { speaker: 'customer', text: 'hello', timestamp: 2.1 },
    ],
    recording_url: null,
    recording_key: null,
    post_call_analysis: {},
    usage_metrics: [],
    events: [{ event: 'call_started', ts: 0 }],
    was_transferred: false,
    transfer_destination: null,
    transfer_target: null,
    transfer_reason: null,
    transfer_method: null,
    transfer_at: null,
    transfer_failed_reason: null,
    ...change,
  };
}

export async function postResults(
  run: RunningControl,
  results: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(run.url('/api/v1/call-results'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(results),
  });
}
