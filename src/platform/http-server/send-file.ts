import { type FileHandle, open } from 'node:fs/promises';
import { AppError } from '../app-error.ts';
import { readRange } from './byte-range.ts';
import type { HttpReply } from './http-types.ts';
import { corked, type Exchange, replyHeaders, sendReply, writeHead } from './send-reply.ts';

/** Read and sent at a time; one such piece per download is all that is held in memory. */
const PIECE_BYTES = 65_536;

/**
 * Sends a file at the speed of its reader. uWS itself ends a download whose reader takes nothing for 10 s.
 * Throws `not_found` before anything is sent; a fault after that can only break the connection.
 */
export async function sendFile(
  exchange: Exchange,
  reply: HttpReply,
  path: string,
  rangeHeader?: string,
): Promise<void> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    const range = readRange(rangeHeader, size);
    if (range === 'unsatisfiable') {
      sendReply(exchange, { status: 416, headers: { 'content-range': `bytes */${size}` } });
      return;
    }
    const partial = range !== null;
    const [from, length] = range ?? [0, size];
    const status = partial ? 206 : reply.status;
    const headers = replyHeaders(exchange, reply, 'application/octet-stream');
    headers.push(['accept-ranges', 'bytes']);
    if (partial) headers.push(['content-range', `bytes ${from}-${from + length - 1}/${size}`]);
    if (exchange.method === 'HEAD' || length === 0) {
      corked(exchange, (response) => {
        writeHead(exchange, status, headers);
        exchange.open = false;
        response.endWithoutBody(length, exchange.closeAfter);
      });
      return;
    }
    corked(exchange, () => writeHead(exchange, status, headers));
    await sendPieces(exchange, file, from, length);
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (cause) {
    throw new AppError('not_found', 'the file is not there any more', { cause });
  }
  if (!(await file.stat()).isFile()) {
    await file.close();
    throw new AppError('not_found', 'the file is not there any more');
  }
  return file;
}

async function sendPieces(exchange: Exchange, file: FileHandle, from: number, length: number): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, length));
  let sent = 0;
  while (sent < length && exchange.open) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, length - sent), from + sent);
    if (bytesRead === 0) {
      // The file became shorter than what was promised: only a broken connection tells the client.
      if (exchange.open) exchange.response.close();
      return;
    }
    await sendPiece(exchange, buffer.subarray(0, bytesRead), length);
    sent += bytesRead;
  }
}

/** Resolves when uWS has taken the whole piece, or the client has gone. */
function sendPiece(exchange: Exchange, piece: Buffer, total: number): Promise<void> {
  return new Promise((resolve) => {
    if (!exchange.open) {
      resolve();
      return;
    }
    const { response } = exchange;
    const before = response.getWriteOffset();
    const attempt = (rest: Buffer): boolean => {
      const [taken, finished] = response.tryEnd(rest, total);
      if (finished) exchange.open = false;
      if (taken || finished) resolve();
      return taken || finished;
    };
    let accepted = true;
    corked(exchange, () => {
      accepted = attempt(piece);
    });
    if (accepted) return;
    exchange.onGone = resolve;
    response.onWritable((offset) => attempt(piece.subarray(offset - before)));
  });
}
