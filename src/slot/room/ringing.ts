import { describeError } from '../../platform/app-error.ts';
import { within } from '../../platform/clock.ts';
import type { MediaServer, SipAnswer } from '../../platform/media-server.ts';
import type { EndSignal } from '../wrap-up/end-arbiter.ts';
import type { PreAnswerWatch } from './pre-answer-watch.ts';
import type { RoomLink } from './room-link.ts';

/** A telephone that nobody answers is rung for this long; then the call is cancelled. Ours, whatever the carrier does. */
export const RING_LIMIT_MS = 60_000;
/** Of the media server's own limit beyond ours: it only counts where ours did not come to pass. */
const RING_MARGIN_S = 5;
/** After our track stands in the room, the SIP service sends its 200 and waits for the first packet, a second at most. */
const ANSWER_LIMIT_MS = 15_000;
/** A caller or customer whose room was named to us is in it, or about to be. */
const ARRIVAL_LIMIT_MS = 5_000;
/** A visitor's page has its token and asks for the microphone. */
export const VISITOR_LIMIT_MS = 60_000;
/** Once cancelled, the dialling says within this how it ended. */
const SETTLE_MS = 5_000;
/** The media server bounds nothing for us: the maximum duration is the session's, and a call that was handed over has none. */
const MAX_SIP_CALL_S = 86_400;

/** How the time before the conversation ended. */
export type DialAnswer = { kind: 'answered' } | { kind: 'over'; signal: EndSignal };

/** What the waiting needs of a call whose room is joined. */
export interface RingingCall {
  preAnswerWatch: PreAnswerWatch;
  /** Somebody wants the call to end: main's order. */
  ordered: Promise<EndSignal>;
}

export interface DialOrder {
  trunkId: string;
  toNumber: string;
  fromNumber: string;
  roomName: string;
  customer: string;
}

const ANSWERED: DialAnswer = { kind: 'answered' };

/**
 * Calls a telephone into the room and waits until it is picked up. The SIP 200 counts, never that the telephone's side
 * stands in the room, which it does as soon as it dials (RT-31). The room still has to be closed where it came to nothing.
 */
export async function dialCustomer(
  { preAnswerWatch, ordered }: RingingCall,
  media: Pick<MediaServer, 'dial' | 'removeParticipant'>,
  order: DialOrder,
  ringLimitMs = RING_LIMIT_MS,
): Promise<DialAnswer> {
  const cancelled = await Promise.race([ordered, Promise.resolve(null)]);
  if (cancelled !== null) return over(cancelled);
  const dialled = media.dial({
    trunkId: order.trunkId,
    toNumber: order.toNumber,
    fromNumber: order.fromNumber,
    roomName: order.roomName,
    identity: order.customer,
    ringingTimeoutS: Math.ceil(ringLimitMs / 1000) + RING_MARGIN_S,
    maxCallS: MAX_SIP_CALL_S,
  });
  const timer = startTimer(ringLimitMs);
  try {
    const first = await Promise.race([
      dialled,
      preAnswerWatch.answered.then(() => ANSWERED),
      ordered.then(over),
      timer.expired.then((): DialAnswer => over({ kind: 'ringing_timeout' })),
      preAnswerWatch.left.then(() => null),
      preAnswerWatch.gone.then((reason): DialAnswer => over({ kind: 'media_unavailable', reason })),
    ]);
    if (first === null) {
      // The leg is gone because of an answer that is still on its way to us.
      const late = await within(dialled, SETTLE_MS, null);
      return late && late.kind !== 'ok'
        ? judgeDialling(late)
        : over({ kind: 'not_dialled', reason: 'the SIP service gave the call up and did not say why' });
    }
    if (first.kind === 'over' && first.signal.kind !== 'media_unavailable') {
      await cancel(media, order, dialled);
    }
    return first.kind === 'answered' || first.kind === 'over' ? first : judgeDialling(first);
  } finally {
    timer.stop();
  }
}

/** Lets an inbound call through: it rings until our track stands in the room, which is the answer. */
export async function answerCaller(
  { preAnswerWatch, ordered }: RingingCall,
  link: Pick<RoomLink, 'publish'>,
): Promise<DialAnswer> {
  const there = await arrival({ preAnswerWatch, ordered }, ARRIVAL_LIMIT_MS);
  if (there === 'late') return left('the caller had gone before the bot came');
  if (there !== 'there') return there;
  const timer = startTimer(ANSWER_LIMIT_MS);
  try {
    return await Promise.race([
      link.publish().then(
        () => preAnswerWatch.answered.then(() => ANSWERED),
        (error) => over({ kind: 'media_unavailable', reason: `no audio track: ${describeError(error)}` }),
      ),
      ordered.then(over),
      // CANCEL is the caller's own doing; whatever else ends the leg now is a fault of the SIP side, such as no ACK.
      preAnswerWatch.left.then((reason) =>
        reason === 'client_initiated'
          ? left('the caller hung up before the call stood')
          : over({ kind: 'media_unavailable', reason: `the SIP service dropped the call: ${reason}` }),
      ),
      preAnswerWatch.gone.then((reason) => over({ kind: 'media_unavailable', reason })),
      timer.expired.then(() =>
        over({ kind: 'media_unavailable', reason: 'the SIP service did not answer the caller in time' }),
      ),
    ]);
  } finally {
    timer.stop();
  }
}

/** Waits for somebody who comes into the room by themselves: a visitor, or a customer whom a dialler has answered. */
export async function awaitCustomer(call: RingingCall, limitMs: number): Promise<DialAnswer> {
  const there = await arrival(call, limitMs);
  if (there === 'there') return ANSWERED;
  return there === 'late' ? over({ kind: 'never_came' }) : there;
}

async function arrival(
  { preAnswerWatch, ordered }: RingingCall,
  limitMs: number,
): Promise<'there' | 'late' | DialAnswer> {
  const timer = startTimer(limitMs);
  try {
    return await Promise.race([
      preAnswerWatch.arrived.then(() => 'there' as const),
      ordered.then(over),
      preAnswerWatch.gone.then((reason) => over({ kind: 'media_unavailable', reason })),
      timer.expired.then(() => 'late' as const),
    ]);
  } finally {
    timer.stop();
  }
}

function judgeDialling(answer: SipAnswer): DialAnswer {
  switch (answer.kind) {
    case 'ok':
      return ANSWERED;
    case 'refused':
      return over({ kind: 'not_answered', sipCode: answer.sipCode, sipStatus: answer.sipStatus });
    case 'failed':
      return over({ kind: 'not_dialled', reason: whyNotDialled(answer.reason) });
  }
}

/** Takes the ringing leg out of the room: a CANCEL, or a BYE where it is being answered right now. */
async function cancel(
  media: Pick<MediaServer, 'removeParticipant'>,
  { roomName, customer }: DialOrder,
  dialled: Promise<SipAnswer>,
): Promise<void> {
  await media.removeParticipant(roomName, customer).catch(() => undefined);
  await within(dialled, SETTLE_MS, null);
}

function over(signal: EndSignal): DialAnswer {
  return { kind: 'over', signal };
}

function left(reason: string): DialAnswer {
  return over({ kind: 'left_before_answer', reason });
}

function startTimer(ms: number): { expired: Promise<void>; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return { expired: promise, stop: () => clearTimeout(timer) };
}

/** What the media server says when it could not dial, and what to look at. First match counts. */
const ADVICE: readonly [RegExp, string][] = [
  [/trunk|object cannot be found|does not exist/i, 'check the outbound trunk that the settings name'],
  [
    /no response|unavailable|no servers/i,
    'check that the SIP service runs and shares the media server’s Redis',
  ],
  [
    /fetch failed|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|socket|aborted|timeout|timed out/i,
    'check the media server',
  ],
  [/auth|credential/i, 'check the user name and password of the outbound trunk'],
  [
    /failed to complete|network|address|dns|lookup/i,
    'check the address of the outbound trunk and the way to it',
  ],
];

/** One sentence for `end_detail.reason`, where a call was not dialled or got no SIP answer. */
export function whyNotDialled(said: string): string {
  const advice = ADVICE.find(([pattern]) => pattern.test(said))?.[1];
  return `no SIP answer: ${said}${advice ? `; ${advice}` : ''}`;
}
