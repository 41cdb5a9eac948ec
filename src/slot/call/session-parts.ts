import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { GuardedHttp } from '../../platform/guarded-http.ts';
import type { Logger } from '../../platform/logger.ts';
import type { HandoffSetup } from '../handoff/handoff-setup.ts';
import type { TurnModel } from '../listen/turn-model.ts';
import type { VoiceActivity } from '../listen/voice-activity.ts';
import type { CallLog } from '../record/call-log.ts';
import type { Recorder } from '../record/recorder.ts';
import type { CallTransport } from '../transport/call-transport.ts';
import type { EndVerdict } from '../wrap-up/end-arbiter.ts';
import type { OpenedProviders } from './call-providers.ts';

/** What a conversation is given by whoever opened the line. */
export interface SessionParts {
  config: RuntimeConfig;
  transport: CallTransport;
  providers: Omit<OpenedProviders, 'context' | 'renderLines' | 'finish'>;
  /** For the tools of the bot. */
  http: GuardedHttp;
  vad: VoiceActivity | null;
  turnModel: TurnModel | null;
  recorder: Recorder | null;
  /** For handing the caller to a person; null where that can never be. */
  handoff?: HandoffSetup | null;
  log: CallLog;
  logger: Logger;
  /** The pacer ticked: the audio path lives. */
  onPulse(): void;
  /** It is decided how the call ends; the wind-down follows. */
  onVerdict(verdict: EndVerdict): void;
  /** A turn is complete in the journal. */
  onTurnLogged(): void;
}
