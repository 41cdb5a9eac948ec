import type { ConnectedMessage, DiallerMessage } from '../../contracts/wire.ts';
import { isRecord } from '../../platform/json-shapes.ts';
import type { TransferResult } from './call-transport.ts';

/**
 * Reads what a dialler says. Strict where a mistake would be lost silently, tolerant where the protocol says
 * "counted and ignored" (docs/dialler-protocol.md): the caller decides by `kind`.
 */
export type Inbound =
  | { kind: 'message'; message: Exclude<DiallerMessage, { event: 'media' }> }
  | { kind: 'audio'; payload: string }
  /** Known event, unusable content. */
  | { kind: 'bad'; what: 'bad_media' | 'bad_field' }
  | { kind: 'unknown_event' }
  | { kind: 'malformed' };

export function readInbound(text: string): Inbound {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'malformed' };
  }
  if (!isRecord(value) || typeof value.event !== 'string') return { kind: 'malformed' };
  switch (value.event) {
    case 'media':
      return isRecord(value.media) && typeof value.media.payload === 'string'
        ? { kind: 'audio', payload: value.media.payload }
        : { kind: 'bad', what: 'bad_media' };
    case 'connected':
      return { kind: 'message', message: value as ConnectedMessage };
    case 'dtmf': {
      const digit = isRecord(value.dtmf) ? value.dtmf.digit : undefined;
      return typeof digit === 'string' && /^[0-9A-D*#]$/.test(digit)
        ? { kind: 'message', message: { event: 'dtmf', dtmf: { digit } } }
        : { kind: 'bad', what: 'bad_field' };
    }
    case 'mark': {
      const name = isRecord(value.mark) ? value.mark.name : undefined;
      return typeof name === 'string' && name.length <= 200
        ? { kind: 'message', message: { event: 'mark', mark: { name } } }
        : { kind: 'bad', what: 'bad_field' };
    }
    case 'stop':
      return {
        kind: 'message',
        message: {
          event: 'stop',
          reason: typeof value.reason === 'string' ? value.reason.slice(0, 200) : '',
        },
      };
    case 'transfer_result':
      return value.status === 'ok' || value.status === 'failed'
        ? { kind: 'message', message: value as Extract<DiallerMessage, { event: 'transfer_result' }> }
        : { kind: 'bad', what: 'bad_field' };
    default:
      return { kind: 'unknown_event' };
  }
}

/** Texts are cut and a code that is none is left out: the values go into the record of the call. */
export function transferResult(
  message: Extract<DiallerMessage, { event: 'transfer_result' }>,
): TransferResult {
  const {
    status,
    reason,
    sip_code: code,
    sip_status: sipStatus,
  } = message as Record<string, unknown> & {
    status: TransferResult['status'];
  };
  return {
    status,
    reason: typeof reason === 'string' ? reason.slice(0, 200) : '',
    sipCode:
      Number.isInteger(code) && (code as number) >= 100 && (code as number) <= 699 ? (code as number) : null,
    sipStatus: typeof sipStatus === 'string' ? sipStatus.slice(0, 200) : null,
  };
}
