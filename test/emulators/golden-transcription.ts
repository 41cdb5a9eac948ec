import OpenAI, { toFile } from 'openai';
import { wavHeader } from '../../src/platform/wav.ts';
import { GOLDEN_KEY, GOLDEN_WORDS, type GoldenRun, goldenFrames, goldenRun } from './golden-run.ts';
import { startTranscription } from './openai-transcription.ts';

/** OpenAI's SDK at the transcription endpoint; `fields` is the form without its file. */
export async function goldenTranscription(
  fields: Record<string, unknown>,
  sampleRate = 16_000,
): Promise<GoldenRun> {
  const emulator = await startTranscription({ key: GOLDEN_KEY, hearing: { words: GOLDEN_WORDS } });
  const received: Record<string, unknown>[] = [];
  const run = await goldenRun(emulator, { received }, async () => {
    const client = new OpenAI({ apiKey: GOLDEN_KEY, baseURL: `${emulator.httpUrl}/v1`, maxRetries: 0 });
    const audio = Buffer.concat(goldenFrames(sampleRate, 20, 300));
    const file = Buffer.concat([wavHeader({ sampleRate, channels: 1 }, audio.length), audio]);
    const answer = await client.audio.transcriptions.create({
      ...fields,
      file: await toFile(file, 'audio.wav', { type: 'audio/wav' }),
    } as never);
    received.push(answer as unknown as Record<string, unknown>);
  });
  return { ...run, lines: [...run.lines, ...emulator.formLines()] };
}
