import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readWav } from '../../platform/wav.ts';
import { toLine } from '../caller-audio.ts';

/** Both sides of a call, 8 kHz. */
export interface BothSides {
  caller: Int16Array;
  bot: Int16Array;
}

/** A recording of six hours; larger is not read into memory. */
const MAX_FILE_BYTES = 768 * 1_048_576;

/** The path of a recording: a file as it is, or the one in the data folder whose path names the session. */
export async function findRecording(what: string, dataDir: string): Promise<string> {
  if (what.endsWith('.wav') && (await isFile(what))) return what;
  const found: string[] = [];
  for (const folder of ['recordings', 'spool']) {
    const root = join(dataDir, folder);
    const names = await readdir(root, { recursive: true }).catch(() => [] as string[]);
    found.push(
      ...names.filter((name) => name.endsWith('.wav') && name.includes(what)).map((name) => join(root, name)),
    );
  }
  const [path] = found;
  if (path === undefined) {
    throw new Error(`no recording of "${what}" lies in ${dataDir}; give the WAV file, or set DATA_DIR`);
  }
  if (found.length > 1)
    throw new Error(`"${what}" fits ${found.length} recordings; give more of the session id`);
  return path;
}

/** Splits a stereo recording into caller and bot. Throws a sentence when it is not stereo. */
export async function readRecording(path: string, swap: boolean): Promise<BothSides> {
  if ((await stat(path)).size > MAX_FILE_BYTES) throw new Error(`${path}: too large to be read`);
  const wav = readWav(await readFile(path));
  if (wav.channels !== 2)
    throw new Error(`${path}: a recording has two channels, this one has ${wav.channels}`);
  const { sampleRate, samples } = wav;
  const [left, right] = [0, 1].map((channel) => {
    const side = new Int16Array(samples.length >> 1);
    for (let at = 0; at < side.length; at++) side[at] = samples[2 * at + channel] as number;
    return toLine({ sampleRate, channels: 1, samples: side });
  }) as [Int16Array, Int16Array];
  return swap ? { caller: right, bot: left } : { caller: left, bot: right };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
