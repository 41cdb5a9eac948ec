import type { CallerTurn, TurnState, UnheardWords } from './turn-types.ts';

export function newTurn(state: TurnState, fromSample: number, isInterruptionCandidate: boolean): CallerTurn {
  return {
    id: ++state.turnCount,
    fromSample,
    lastSpeechSample: fromSample,
    epoch: 0,
    settledText: '',
    interim: '',
    interimMeaning: 'nothing',
    decidedBy: 'silence_rule',
    probability: null,
    decidedAtSample: state.nowSample,
    awaitsFinal: false,
    askedAtSample: 0,
    askedEpoch: 0,
    isTextCurrent: false,
    isDecided: false,
    usedInterim: false,
    isByText: false,
    isInterruptionCandidate,
    cutReply: false,
    isUnheard: false,
    isAnswer: false,
    isDoubted: false,
    wasAskedInDoubt: false,
  };
}

export function unheardWords(turn: CallerTurn): UnheardWords {
  const { id, fromSample, settledText, wasAskedInDoubt } = turn;
  const interim = turn.interimMeaning === 'echo' ? '' : turn.interim;
  return { turn: id, fromSample, text: settledText, interim, wasDoubted: wasAskedInDoubt };
}

export function joined(first: string, second: string): string {
  return first === '' || second === '' ? first + second : `${first} ${second}`;
}
