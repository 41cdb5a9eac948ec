import type { SpeechToText, SttHandlers, SttSession } from '../contract/speech-to-text.ts';
import type { ProviderChain } from './provider-chain.ts';
import { ResilientSttSession } from './resilient-stt-session.ts';

/**
 * Speech to text over a bot's provider and its fallbacks (RT-57, RT-58). A session of it outlives the sessions of the
 * engines: it dials again, lets the new session hear what the old one had not settled, and puts the text of a turn
 * together from both. `open` waits for nobody; audio waits in a ring until somebody listens.
 *
 * `name`, `model`, `wantsSilence` and `detectsTurns` are those of the engine that listens now; `onEngine` tells when
 * they change. `onFailure` comes when nobody can listen any more.
 */
export interface CallSpeechToText extends Omit<SpeechToText, 'open'> {
  open(handlers: SttHandlers): SttSession;
}

export function createResilientStt(
  chain: ProviderChain<SpeechToText>,
  first: SpeechToText,
  random: () => number = Math.random,
): CallSpeechToText {
  let current = first;
  return {
    get name() {
      return current.name;
    },
    get model() {
      return current.model;
    },
    get wantsSilence() {
      return current.wantsSilence;
    },
    get detectsTurns() {
      return current.detectsTurns ?? false;
    },
    open(handlers) {
      const session = new ResilientSttSession({
        chain,
        handlers,
        random,
        onEngine: (engine) => {
          current = engine;
        },
      });
      session.start();
      return session;
    },
    close: () => chain.close(),
  };
}
