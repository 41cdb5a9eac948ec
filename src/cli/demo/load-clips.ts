import { basename } from 'node:path';
import { findEngineData } from '../../platform/engine-programs.ts';
import { loadCallerAudio } from '../caller-audio.ts';
import { DEMO_CLIPS } from '../demo-script.ts';
import type { LoadedClip } from './conversation.ts';

/** The end of a long file name tells the recordings apart. */
export const MAX_NAME_CHARS = 20;

/** The recordings of the demo, ready for the line; `short` is four of them. Rejects with what is missing. */
export async function loadClips(short: boolean): Promise<LoadedClip[]> {
  const clips: LoadedClip[] = [];
  for (const entry of short ? shortScript() : DEMO_CLIPS) {
    const path = findEngineData(entry.file);
    if (!path) {
      throw new Error(
        `the recording ${entry.file} is missing; "npm run demo" installs pocketsphinx-testdata`,
      );
    }
    clips.push({
      name: basename(entry.file).slice(-MAX_NAME_CHARS),
      samples: await loadCallerAudio(path),
      expectedPhrase: entry.expectedPhrase,
      intent: entry.intent,
      interrupts: entry.interrupts ?? false,
    });
  }
  return clips;
}

/** The first recording, the one that is interrupted, the one that interrupts, and the goodbye. */
function shortScript(): typeof DEMO_CLIPS {
  return DEMO_CLIPS.filter(
    (entry, index) =>
      index === 0 ||
      index === DEMO_CLIPS.length - 1 ||
      entry.interrupts === true ||
      DEMO_CLIPS[index + 1]?.interrupts === true,
  );
}
