import { loadModelPath } from '../../platform/model-files.ts';
import { noTurnModel, type TurnJudge, TurnModel } from '../../slot/listen/turn-model.ts';
import { VoiceActivity } from '../../slot/listen/voice-activity.ts';
import { type HeardRecording, hearRecording, type Recording } from './hear-recording.ts';
import { type Replay, type ReplaySettings, replayTurns } from './replay-turns.ts';

export { compareTurns, type TurnComparison } from './compare-turns.ts';
export { drawTurns } from './draw-turns.ts';
export { drawTurnsSvg } from './draw-turns-svg.ts';
export type { HeardRecording, Recording } from './hear-recording.ts';
export type { Replay, ReplaySettings } from './replay-turns.ts';

/**
 * The listening part of a slot without a call: the real voice activity, segmenter, turn model and turn machine, fed
 * with recordings and faster than real time.
 */
export class TurnLab {
  private readonly vad: VoiceActivity;
  private readonly turnModel: TurnJudge;

  private constructor(vad: VoiceActivity, turnModel: TurnJudge) {
    this.vad = vad;
    this.turnModel = turnModel;
  }

  /** Loads the models. Without the turn model, every turn end is the silence rule's. Rejects with `model_missing`. */
  static async open(modelDir: string, options: { turnModel: boolean }): Promise<TurnLab> {
    const vad = await VoiceActivity.create(await loadModelPath('silero-vad', modelDir));
    if (!options.turnModel) return new TurnLab(vad, noTurnModel);
    const modelPath = await loadModelPath('smart-turn', modelDir);
    return new TurnLab(vad, await TurnModel.start({ modelPath }));
  }

  /** What does not depend on the settings under trial is done once per recording. */
  hear(recording: Recording): Promise<HeardRecording> {
    return hearRecording(recording, this.vad);
  }

  replay(heard: HeardRecording, settings: ReplaySettings): Promise<Replay> {
    return replayTurns(heard, settings, this.turnModel);
  }

  async close(): Promise<void> {
    await this.vad.close();
    await this.turnModel.close();
  }
}
