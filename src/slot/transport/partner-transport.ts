import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { LINE_RATE_HZ, MAX_BURST_MS, MAX_DROPPED_AUDIO_MS } from '../../contracts/limits.ts';
import { CLOSE } from '../../contracts/wire.ts';
import { audioKernels, type Resampler } from '../../platform/audio-kernels.ts';
import { monotonicMs } from '../../platform/clock.ts';
import { realClock } from '../../providers/contract/provider-clock.ts';
import { ArrivalBudget } from './arrival-budget.ts';
import { AudioPayload } from './audio-payload.ts';
import type { LineLoss, LineRemark, SocketTransport, TransportHandlers } from './call-transport.ts';
import { isFrameSize, MAX_PARTNER_AUDIO_BYTES } from './partner-frames.ts';
import { type PartnerInbound, readPartner } from './partner-messages.ts';
import { RateCheck } from './partner-rate.ts';
import { PartnerSender } from './partner-sender.ts';
import type { PartnerOpening } from './partner-start.ts';
import { PeerWatch } from './peer-watch.ts';
import { closeSocket } from './telephony-transport.ts';

/** How far the pacer must run ahead, so that a frame is full when it is to leave: 300 ms less the last 20 ms of it. */
const PACER_LEAD_MS = 280;

/**
 * The partner's WebSocket behind `start` (docs/partner-protocol.md, RT-79, RT-80). The carrier has no `ready` and no
 * hang-up message: audio flows at once, and closing the socket ends the call or hands it to the carrier's next applet.
 * Nothing that it says is fatal, except audio far beyond real time.
 */
export class PartnerTransport implements SocketTransport {
  readonly leadMs = PACER_LEAD_MS;
  private readonly socket: WebSocket;
  private readonly remark: LineRemark;
  private readonly watch: PeerWatch;
  private readonly sender: PartnerSender;
  private readonly payload = new AudioPayload(MAX_PARTNER_AUDIO_BYTES);
  private readonly budget = new ArrivalBudget({ burstMs: MAX_BURST_MS, now: monotonicMs });
  private readonly rateCheck: RateCheck;
  private readonly counts: Record<string, number>;
  private toLine: Resampler | null;
  private handlers: TransportHandlers | undefined;
  private lastChunk: number | null = null;
  private isReady = false;
  private isGone = false;

  constructor(socket: WebSocket, line: Socket, opening: PartnerOpening, remark: LineRemark) {
    const { rateHz } = opening;
    this.socket = socket;
    this.remark = remark;
    this.watch = new PeerWatch(line, 'carrier');
    this.counts = opening.counts;
    if (opening.frameBytes !== null && !isFrameSize(rateHz, opening.frameBytes))
      this.count('bad_frame_bytes');
    this.sender = new PartnerSender({
      streamSid: opening.start.streamSid,
      rateHz,
      frameBytes: opening.frameBytes,
      clock: realClock,
      send: (text) => this.send(text),
    });
    this.rateCheck = new RateCheck(rateHz);
    this.toLine = lineResampler(rateHz);
  }

  /** From here on the handlers are called, in order, on this thread. */
  attach(handlers: TransportHandlers): void {
    this.handlers = handlers;
    this.watch.follow(
      this.socket,
      (data, isBinary) => this.onMessage(data, isBinary),
      (how) => this.gone(how),
    );
  }

  get chunkMs(): number {
    return this.sender.chunkMs;
  }

  get unplayedMs(): number {
    return this.sender.unplayedMs;
  }

  ready(): void {
    this.isReady = true;
    this.watch.heard();
  }

  sendAudio(frame: Int16Array): void {
    if (!this.isGone) this.sender.audio(frame);
  }

  sendClear(): void {
    this.sender.clear();
  }

  sendMark(name: string): void {
    this.sender.mark(name);
  }

  /** The carrier goes on to its next applet when the socket closes (docs/partner-protocol.md). */
  sendTransfer(): 'by_close' {
    return 'by_close';
  }

  hangUp(reason: string): Promise<void> {
    return this.close(CLOSE.normal, reason);
  }

  async close(code: number, reason: string): Promise<void> {
    this.isGone = true;
    this.sender.close();
    // To the carrier a stream that is handed on ends like any other.
    await closeSocket(this.socket, code === CLOSE.transferred ? CLOSE.normal : code, reason);
  }

  tick(): void {
    if (this.isGone) return;
    const loss = this.watch.look(this.isReady);
    if (!loss) return;
    this.gone(loss);
    // A close frame would never arrive.
    this.socket.terminate();
  }

  noise(): Record<string, number> {
    const droppedMs = Math.round(this.budget.droppedMs);
    return {
      ...this.counts,
      ...(droppedMs > 0 ? { dropped_audio_ms: droppedMs } : {}),
      ...(this.sender.dropped > 0 ? { unsent_frames: this.sender.dropped } : {}),
    };
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    if (this.isGone) return;
    this.watch.heard();
    if (isBinary) {
      // Some set-ups send pings of their own as binary messages.
      this.count('binary_message');
      return;
    }
    const inbound = readPartner(data.toString('utf8'));
    switch (inbound.kind) {
      case 'audio':
        this.onAudio(inbound);
        return;
      case 'mark':
        this.handlers?.onMark(inbound.name);
        return;
      case 'dtmf':
        this.handlers?.onDtmf(inbound.digit);
        return;
      case 'clear':
        this.count('peer_clear');
        this.sender.farEndCleared();
        this.handlers?.onCleared?.();
        return;
      case 'stop':
        this.handlers?.onStop(inbound.reason);
        return;
      case 'connected':
      case 'start':
        this.count(`repeated_${inbound.kind}`);
        return;
      case 'bad':
        this.count(inbound.what);
        return;
      default:
        this.count(inbound.kind);
    }
  }

  private onAudio(media: Extract<PartnerInbound, { kind: 'audio' }>): void {
    const samples = this.payload.fromBase64(media.payload);
    if (!samples) {
      this.count('bad_media');
      return;
    }
    if (this.lastChunk !== null && media.chunk !== null && media.chunk !== this.lastChunk + 1) {
      this.count('media_gap');
    }
    this.lastChunk = media.chunk;
    this.checkRate(samples.length * 2, media);
    if (!this.isReady) {
      this.count('early_media');
      return;
    }
    this.watch.heardAudio();
    const atLineRate = this.toLine ? this.toLine.process(samples) : samples;
    if (this.budget.admit(atLineRate.length)) {
      this.handlers?.onAudio(atLineRate);
    } else if (this.budget.droppedMs > MAX_DROPPED_AUDIO_MS) {
      this.gone({ kind: 'protocol', reason: 'audio arrives faster than real time' });
      void this.close(CLOSE.policy, 'audio arrives faster than real time');
    }
  }

  private checkRate(bytes: number, media: Extract<PartnerInbound, { kind: 'audio' }>): void {
    const verdict = this.rateCheck.take(bytes, media.chunk, media.timestampMs);
    if (!verdict) return;
    const { announcedHz, measuredHz, rateHz } = verdict;
    this.remark('wrong_sample_rate', {
      announced_hz: announcedHz,
      measured_hz: measuredHz,
      used_hz: rateHz,
    });
    if (rateHz === announcedHz) return;
    this.toLine = lineResampler(rateHz);
    this.sender.changeRate(rateHz);
  }

  private send(text: string): void {
    if (!this.isGone && this.socket.readyState === this.socket.OPEN) this.socket.send(text);
  }

  private count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  private gone(loss: LineLoss): void {
    if (this.isGone) return;
    this.isGone = true;
    this.sender.close();
    this.handlers?.onGone(loss);
  }
}

/** Null where the line already has the rate of the call. */
function lineResampler(rateHz: number): Resampler | null {
  return rateHz === LINE_RATE_HZ ? null : new (audioKernels().Resampler)(rateHz, LINE_RATE_HZ);
}
