import { CLOSE } from '../contracts/wire.ts';

/** A call that never became `ready`: the fleet port's HTTP status, the socket's close code, or 0 for the connection itself. */
export class CallRefused extends Error {
  readonly status: number;
  /** The fleet port's answer, the close reason or the connection's error. */
  readonly body: string;

  constructor(status: number, body: string) {
    super(`${sentenceFor(status)}${body ? ` (${body.slice(0, 300)})` : ''}`);
    this.name = 'CallRefused';
    this.status = status;
    this.body = body;
  }
}

function sentenceFor(status: number): string {
  switch (status) {
    case 0:
      return 'the call could not be placed; is the appliance running and the address right?';
    case 403:
      return 'the fleet port refused the call: WS_AUTH asks for the core secret or another network';
    case 404:
      return 'the fleet port has no such path; call sockets are /ws/BOT and /partner/BOT';
    case 429:
      return 'every slot is busy; try again when a call has ended';
    case 503:
      return 'the host takes no new calls at the moment';
    case CLOSE.botNotFound:
      return 'the control plane knows no such bot';
    case CLOSE.outsideHours:
      return 'the bot is outside its active hours';
    case CLOSE.configFailed:
      return 'the call config could not be had; the log of the appliance says why';
    default:
      return status >= 1000
        ? `the call was closed with code ${status} before it was ready`
        : `the fleet port answered ${status}`;
  }
}
