/**
 * The 44-byte WAV header of LINEAR16 audio (RIFF, WAVE, `fmt `, `data`). A recording is written with its final sizes
 * unknown and patched at the end, or by main after a crash.
 */
export const WAV_HEADER_BYTES = 44;

export interface WavFormat {
  sampleRate: number;
  channels: number;
}

/** Header for `dataBytes` of 16-bit PCM. */
export function wavHeader(format: WavFormat, dataBytes: number): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  const blockAlign = format.channels * 2;
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(format.channels, 22);
  header.writeUInt32LE(format.sampleRate, 24);
  header.writeUInt32LE(format.sampleRate * blockAlign, 28);
  header.writeUInt16LE(blockAlign, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

export interface WavAudio extends WavFormat {
  /** Interleaved when there are several channels. */
  samples: Int16Array;
}

/** Reads 16-bit PCM out of a whole WAV file, skipping foreign chunks. Throws a sentence when it is something else. */
export function readWav(file: Uint8Array): WavAudio {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (
    bytes.length < 12 ||
    bytes.toString('latin1', 0, 4) !== 'RIFF' ||
    bytes.toString('latin1', 8, 12) !== 'WAVE'
  ) {
    throw new Error('not a WAV file: it does not begin with RIFF and WAVE');
  }
  let format: WavFormat | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const id = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const body = at + 8;
    if (id === 'fmt ') {
      if (size < 16 || body + 16 > bytes.length)
        throw new Error('not a usable WAV file: its format chunk is cut short');
      const encoding = bytes.readUInt16LE(body);
      const bits = bytes.readUInt16LE(body + 14);
      if ((encoding !== 1 && encoding !== 0xfffe) || bits !== 16) {
        throw new Error(
          `this WAV file is not 16-bit PCM (encoding ${encoding}, ${bits} bits); convert it first`,
        );
      }
      format = { channels: bytes.readUInt16LE(body + 2), sampleRate: bytes.readUInt32LE(body + 4) };
    } else if (id === 'data') {
      if (!format) throw new Error('not a usable WAV file: audio comes before its format');
      // A streaming writer leaves 0xFFFFFFFF or 0 behind; the file's end is the truth then.
      const available = bytes.length - body;
      const used = size === 0 || size > available ? available : size;
      const samples = new Int16Array(used >> 1);
      for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(body + 2 * i);
      return { ...format, samples };
    }
    at = body + size + (size & 1);
  }
  throw new Error('not a usable WAV file: it holds no audio');
}
