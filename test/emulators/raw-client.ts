import type { Test } from 'tap';
import { WebSocket } from 'ws';
import type { SttEmulator } from './kit/stt-emulator.ts';
import { silence, speakTones } from './kit/tone-words.ts';

export const RAW_WORDS: readonly string[] = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];

/** A socket without any manners of its own, to provoke an emulator with. */
export interface Client {
  socket: WebSocket;
  messages: Record<string, unknown>[];
  status: Promise<number>;
  closed: Promise<{ code: number; reason: string }>;
  until(fits: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
}

export function connect(url: string, headers: Record<string, string> = {}, protocols: string[] = []): Client {
  const socket = new WebSocket(url, protocols, { headers, perMessageDeflate: false });
  const messages: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', (data) => {
    messages.push(JSON.parse(String(data)));
    for (const look of [...waiting]) look();
  });
  socket.on('error', () => undefined);
  const status = new Promise<number>((resolve) => {
    socket.once('open', () => resolve(101));
    socket.once('unexpected-response', (_, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  const until: Client['until'] = (fits) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = messages.find(fits);
        if (!found) return;
        waiting.delete(look);
        clearTimeout(timer);
        resolve(found);
      };
      const timer = setTimeout(
        () => reject(new Error(`nothing fits in ${JSON.stringify(messages)}`)),
        15_000,
      );
      waiting.add(look);
      look();
    });
  return { socket, messages, status, closed, until };
}

function pcm(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** Words as tones and then silence, in frames of `frameMs`. */
export function frames(text: string, silenceMs: number, frameMs: number): Buffer[] {
  const all = Buffer.concat([pcm(speakTones(text, RAW_WORDS, 8_000)), pcm(silence(silenceMs, 8_000))]);
  const step = frameMs * 16;
  return Array.from({ length: Math.floor(all.length / step) }, (_, n) =>
    all.subarray(n * step, (n + 1) * step),
  );
}

/** The emulator, closed at the end of the test. */
export async function open<E extends SttEmulator>(t: Test, starting: Promise<E>): Promise<E> {
  const emulator = await starting;
  t.teardown(() => emulator.close());
  return emulator;
}
