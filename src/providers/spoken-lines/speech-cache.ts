import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { vendorOf } from '../vendors/all-vendors.ts';

/** Where spoken lines are kept, below DATA_DIR. Nothing in it is needed: it may be emptied at any time. */
export const SPEECH_CACHE_FOLDER = 'speech-cache';
/** Some 1000 lines of 4 s; beyond it the lines that were not used for the longest time go. */
const MAX_FOLDER_BYTES = 64 * 1_048_576;
/** When room is made, it is made for some puts to come. */
const KEPT_SHARE = 0.9;
/** A minute at 16 kHz. What is longer is no line that a bot says at the start of every call, and is not kept. */
const MAX_ENTRY_BYTES = 2 * 1_048_576;
/** A file that was begun so long ago and has no name yet belongs to a process that died. */
const STALE_TEMPORARY_MS = 600_000;
const ENTRY = /^[0-9a-f]{40}\.speech$/;
/** Magic, version, rate, samples, checksum of the samples: 20 bytes. */
const MAGIC = 'TLSP';
const VERSION = 1;
const HEADER_BYTES = 20;

export interface Speech {
  sampleRate: number;
  samples: Int16Array;
}

/**
 * Spoken lines on disk, shared by all processes of the host without a lock: a line is written beside its place and
 * renamed, so a reader sees a whole file or none; a file that is damaged all the same counts as none.
 */
export class SpeechCache {
  private readonly folder: string;
  private readonly maxBytes: number;

  constructor(folder: string, maxBytes = MAX_FOLDER_BYTES) {
    this.folder = folder;
    this.maxBytes = maxBytes;
  }

  /** The line, which now counts as used; null where it is not there or not whole. Never rejects. */
  async get(key: string): Promise<Speech | null> {
    const path = this.pathOf(key);
    try {
      const speech = decode(await readFile(path));
      const now = new Date();
      if (speech) await utimes(path, now, now).catch(() => undefined);
      return speech;
    } catch {
      return null;
    }
  }

  /** Keeps a line; one that is empty or too long is not kept. Rejects when the disk refuses it. */
  async put(key: string, speech: Speech): Promise<void> {
    const bytes = encode(speech);
    if (speech.samples.length === 0 || bytes.length > Math.min(MAX_ENTRY_BYTES, this.maxBytes)) return;
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const beside = join(this.folder, `${randomUUID()}.tmp`);
    try {
      await writeFile(beside, bytes, { mode: 0o600 });
      await rename(beside, this.pathOf(key));
    } catch (error) {
      await rm(beside, { force: true });
      throw error;
    }
    await this.makeRoom();
  }

  private pathOf(key: string): string {
    return join(this.folder, `${key}.speech`);
  }

  /** Another process may remove the same files at the same time, which harms nobody. */
  private async makeRoom(): Promise<void> {
    const entries: { path: string; bytes: number; usedAtMs: number }[] = [];
    for (const name of await readdir(this.folder)) {
      const path = join(this.folder, name);
      const info = await stat(path).catch(() => null);
      if (!info?.isFile()) continue;
      if (ENTRY.test(name)) entries.push({ path, bytes: info.size, usedAtMs: info.mtimeMs });
      else if (name.endsWith('.tmp') && Date.now() - info.mtimeMs > STALE_TEMPORARY_MS) {
        await rm(path, { force: true });
      }
    }
    let total = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    if (total <= this.maxBytes) return;
    entries.sort((a, b) => a.usedAtMs - b.usedAtMs);
    for (const entry of entries) {
      if (total <= this.maxBytes * KEPT_SHARE) return;
      await rm(entry.path, { force: true });
      total -= entry.bytes;
    }
  }
}

/**
 * Whether lines of this voice may be kept. Voices of this host speak at once and cannot be out of reach; and the frames
 * of `scripted` carry their numbers for a bench, so no frame of another call may be played in their place.
 */
export function isKeptVoice(voice: ProviderConfig): boolean {
  return vendorOf(voice.provider)?.hosts.length !== 0;
}

/** Settings that say nothing about how a voice sounds. */
const SILENT_SETTINGS = new Set(['api_key', 'fallbacks', 'fallback', 'timeout_ms']);

/**
 * Name of a line: the text and everything that decides how it sounds, the key of the account left out. `lineRateHz` is
 * the rate that the voice was asked for.
 */
export function speechKey(voice: ProviderConfig, text: string, lineRateHz: number): string {
  const settings = Object.entries(voice)
    .filter(([name, value]) => !SILENT_SETTINGS.has(name) && value !== undefined && value !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([VERSION, settings, lineRateHz, text.trim()], sortedKeys))
    .digest('hex')
    .slice(0, 40);
}

/** Objects inside a setting are told apart by what they hold, not by the order it was written in. */
function sortedKeys(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function encode({ sampleRate, samples }: Speech): Buffer {
  const body = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, 0, 'latin1');
  header.writeUInt32LE(VERSION, 4);
  header.writeUInt32LE(sampleRate, 8);
  header.writeUInt32LE(samples.length, 12);
  header.writeUInt32LE(crc32(body), 16);
  return Buffer.concat([header, body]);
}

function decode(file: Buffer): Speech | null {
  if (file.length < HEADER_BYTES || file.toString('latin1', 0, 4) !== MAGIC) return null;
  if (file.readUInt32LE(4) !== VERSION) return null;
  const sampleRate = file.readUInt32LE(8);
  const length = file.readUInt32LE(12);
  const body = file.subarray(HEADER_BYTES);
  if (body.length !== 2 * length || crc32(body) !== file.readUInt32LE(16)) return null;
  if (sampleRate < 8_000 || sampleRate > 48_000) return null;
  // The samples get memory of their own: a view needs an even offset, and the file's buffer may come from a pool.
  const samples = new Int16Array(length);
  Buffer.from(samples.buffer).set(body);
  return { sampleRate, samples };
}
