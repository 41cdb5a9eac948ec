import type { RoomHandlers } from './room-handlers.ts';
import type { RoomLink, RoomPerson } from './room-link.ts';

/** Attribute in which the SIP service tells how far its call is: `dialing`, `ringing`, `active`, `hangup`. */
const CALL_STATUS = 'sip.callStatus';

/**
 * Watches the room of a call that nobody has answered yet. It owns the link's handlers until the conversation takes
 * them. Each promise settles at most once and none rejects; what nobody waits for costs nothing.
 */
export class PreAnswerWatch {
  /** The customer is in the room. */
  readonly arrived: Promise<void>;
  /** The customer's telephone has been picked up: SIP 200 (RT-31). */
  readonly answered: Promise<void>;
  /** The customer was there and left; the media server's reason. */
  readonly left: Promise<string>;
  /** The room is lost to us. */
  readonly gone: Promise<string>;
  readonly handlers: RoomHandlers;
  private readonly customer: string;
  private readonly settle: {
    arrived: () => void;
    answered: () => void;
    left: (reason: string) => void;
    gone: (reason: string) => void;
  };

  constructor(customer: string) {
    this.customer = customer;
    const arrived = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const left = Promise.withResolvers<string>();
    const gone = Promise.withResolvers<string>();
    this.arrived = arrived.promise;
    this.answered = answered.promise;
    this.left = left.promise;
    this.gone = gone.promise;
    this.settle = {
      arrived: arrived.resolve,
      answered: answered.resolve,
      left: left.resolve,
      gone: gone.resolve,
    };
    this.handlers = {
      onPerson: (kind, person, reason) => {
        if (person.identity !== this.customer) return;
        if (kind === 'left') this.settle.left(reason ?? 'unknown');
        else this.see(person);
      },
      onDtmf: () => undefined,
      onData: () => undefined,
      onState: () => undefined,
      onUnheard: () => undefined,
      onGone: (reason) => this.settle.gone(reason),
    };
  }

  /** Looks at who stands in the room already, right after joining it. */
  look(link: Pick<RoomLink, 'people'>): void {
    for (const person of link.people()) if (person.identity === this.customer) this.see(person);
  }

  private see(person: RoomPerson): void {
    this.settle.arrived();
    if (person.attributes[CALL_STATUS] === 'active') this.settle.answered();
  }
}
