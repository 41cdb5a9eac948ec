import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { readRange } from '../../platform/http-server/byte-range.ts';

/** Read and sent at a time; one such piece per reader is all that is held in memory. */
const PIECE_BYTES = 65_536;

/** An open file on its way to a reader. Whoever sends it closes it and says when it is done. */
export interface FileToSend {
  handle: FileHandle;
  bytes: number;
  done(): void;
}

/** Opens a recording; null where there is none. Whoever opens it has it sent or closed. */
export async function openRecording(path: string): Promise<{ handle: FileHandle; bytes: number } | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
  const stat = await handle.stat();
  if (stat.isFile()) return { handle, bytes: stat.size };
  await handle.close();
  return null;
}

/**
 * Sends the file, or the part of it that Range names, at the speed of its reader. A reader that takes nothing is cut off
 * with its connection by the idle bound of the server. Never rejects: a fault can only break the connection by then.
 */
export async function sendRecording(
  incoming: IncomingMessage,
  response: ServerResponse,
  { handle, bytes, done }: FileToSend,
): Promise<void> {
  try {
    const range = readRange(incoming.headers.range, bytes);
    if (range === 'unsatisfiable') {
      response.writeHead(416, { 'content-range': `bytes */${bytes}`, 'cache-control': 'no-store' });
      response.end();
      return;
    }
    const [from, length] = range ?? [0, bytes];
    response.writeHead(range ? 206 : 200, {
      'content-type': 'audio/wav',
      'content-length': String(length),
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      ...(range ? { 'content-range': `bytes ${from}-${from + length - 1}/${bytes}` } : {}),
    });
    if (incoming.method === 'HEAD' || length === 0) {
      response.end();
      return;
    }
    const pieces = handle.createReadStream({
      start: from,
      end: from + length - 1,
      highWaterMark: PIECE_BYTES,
      autoClose: false,
    });
    await pipeline(pieces, response);
  } catch {
    response.destroy();
  } finally {
    done();
    await handle.close().catch(() => undefined);
  }
}
