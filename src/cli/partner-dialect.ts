import { randomUUID } from 'node:crypto';
import { LINE_RATE_HZ } from '../contracts/limits.ts';
import type { ConnectedMessage } from '../contracts/wire.ts';
import { audioKernels } from '../platform/audio-kernels.ts';
import { samplesToBytes } from './caller-audio.ts';
import { audioOf, jsonOf, type WireDialect } from './wire-dialect.ts';

export interface PartnerDialectOptions {
  /** `caller_id` goes out as `from`, `from_number` as `to`, `stream_id` as the ids; the rest as custom parameters. */
  connected?: Omit<ConnectedMessage, 'event' | 'media'> | undefined;
  /** The line's rate in Hz: 8000, 16000 or 24000. */
  sampleRate?: number;
  /** The rate that `start` announces, where a test wants it to lie. */
  announcedRate?: number;
  /** The carrier's id of the call; a fresh one by default. */
  callSid?: string;
}

/** Carriers send their audio in pieces of this length (docs/partner-protocol.md). */
const FRAME_MS = 100;

/** The carrier's side of `/partner/{bot_id}`: `connected`, `start`, 100 ms of audio a message, marks as they play. */
export function partnerDialect(options: PartnerDialectOptions = {}): WireDialect {
  const {
    stream_id,
    caller_id = '',
    from_number = '',
    call_direction: _,
    ...custom
  } = options.connected ?? {};
  const rateHz = options.sampleRate ?? LINE_RATE_HZ;
  const callSid = options.callSid ?? stream_id ?? randomUUID();
  const streamSid = stream_id ?? randomUUID();
  const { Resampler } = audioKernels();
  const toWire = rateHz === LINE_RATE_HZ ? null : new Resampler(LINE_RATE_HZ, rateHz);
  const fromWire = rateHz === LINE_RATE_HZ ? null : new Resampler(rateHz, LINE_RATE_HZ);
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let sequenceNumber = 0;
  let chunk = 0;
  const say = (event: string, body: Record<string, unknown>) =>
    JSON.stringify({ event, sequence_number: ++sequenceNumber, stream_sid: streamSid, ...body });

  return {
    waitsForReady: false,
    greeting() {
      const start = {
        stream_sid: streamSid,
        call_sid: callSid,
        account_sid: 'trunkline-call',
        from: caller_id,
        to: from_number,
        custom_parameters: custom,
        media_format: {
          encoding: 'raw/slin',
          sample_rate: String(options.announcedRate ?? rateHz),
          bit_rate: '16',
        },
      };
      return [JSON.stringify({ event: 'connected' }), say('start', { start })];
    },
    media(frame) {
      const bytes = samplesToBytes(toWire ? toWire.process(frame) : frame);
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes < (FRAME_MS * rateHz * 2) / 1000) return null;
      const payload = Buffer.concat(waiting).toString('base64');
      waiting = [];
      waitingBytes = 0;
      chunk += 1;
      return say('media', { media: { chunk, timestamp: String((chunk - 1) * FRAME_MS), payload } });
    },
    write(message) {
      if (message.event === 'stop') {
        const reason = 'reason' in message ? message.reason : undefined;
        return say('stop', { stop: { call_sid: callSid, account_sid: 'trunkline-call', reason } });
      }
      if (message.event === 'mark' || message.event === 'dtmf') {
        const { event, ...body } = message;
        return say(event, body);
      }
      return JSON.stringify(message);
    },
    read(data, isBinary) {
      const message = isBinary ? null : jsonOf(data);
      if (!message) return { odd: 'the slot sent what is no JSON text' };
      switch (message.event) {
        case 'media': {
          const payload = (message.media as { payload?: unknown } | undefined)?.payload;
          const read = audioOf(Buffer.from(String(payload), 'base64'));
          return 'audio' in read && fromWire ? { audio: fromWire.process(read.audio) } : read;
        }
        case 'mark':
          return {
            message: { event: 'mark', mark: { name: String((message.mark as { name?: unknown }).name) } },
          };
        case 'clear':
          return { message: { event: 'clear' } };
        default:
          return { odd: `the slot sent "${String(message.event)}", which this protocol does not have` };
      }
    },
  };
}
