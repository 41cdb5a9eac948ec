import { open } from 'node:fs/promises';
import { LINE_RATE_HZ } from '../../contracts/limits.ts';
import { WAV_HEADER_BYTES, type WavFormat, wavHeader } from '../../platform/wav.ts';

/**
 * Makes a recording whole whose writer died (RT-65): cut to whole frames, and the header gets the real size. Returns
 * its length in seconds, or null where there is no file or no audio in it. Safe to repeat.
 */
export async function repairRecording(path: string): Promise<number | null> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { size } = await handle.stat();
    if (size <= WAV_HEADER_BYTES) return null;
    const head = Buffer.alloc(WAV_HEADER_BYTES);
    await handle.read(head, 0, WAV_HEADER_BYTES, 0);
    const format = formatOf(head);
    const frameBytes = format.channels * 2;
    const frames = Math.floor((size - WAV_HEADER_BYTES) / frameBytes);
    if (frames === 0) return null;
    await handle.truncate(WAV_HEADER_BYTES + frames * frameBytes);
    await handle.write(wavHeader(format, frames * frameBytes), 0, WAV_HEADER_BYTES, 0);
    await handle.sync();
    return frames / format.sampleRate;
  } finally {
    await handle.close();
  }
}

/** The format that the header names; the recorder's own (stereo at line rate) where the header was never written. */
function formatOf(head: Buffer): WavFormat {
  const channels = head.readUInt16LE(22);
  const sampleRate = head.readUInt32LE(24);
  const named =
    head.toString('latin1', 0, 4) === 'RIFF' && (channels === 1 || channels === 2) && sampleRate > 0;
  return named ? { channels, sampleRate } : { channels: 2, sampleRate: LINE_RATE_HZ };
}
