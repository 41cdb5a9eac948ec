import type { IncomingHttpHeaders } from 'node:http';
import { textOf } from '../../../platform/json-shapes.ts';
import type { VendorRefusal } from '../../connect/vendor-refusal.ts';
import { readVendorMessage, type VendorMessage } from '../../stt/vendor-message.ts';

/** A refused handshake of Deepgram, v1 and v2 (Deepgram's documentation, errors). */
export function readDeepgramRefusal(answer: {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}): VendorRefusal {
  let body: VendorMessage = {};
  try {
    body = readVendorMessage(answer.body);
  } catch {
    // Not JSON: the headers tell.
  }
  const code = textOf(body.err_code) || textOf(answer.headers['dg-error']);
  const requestId = textOf(body.request_id) || textOf(answer.headers['dg-request-id']);
  const said = [code, textOf(body.err_msg)].filter((part) => part !== '').join(': ');
  return {
    ...(code === '' ? {} : { vendorCode: code.slice(0, 100) }),
    ...(requestId === '' ? {} : { requestId: requestId.slice(0, 100) }),
    ...(said === '' ? {} : { message: said }),
  };
}

/** Close frames of Deepgram carry a code of its own in the reason: DATA-0000, NET-0000, NET-0001. */
export function readDeepgramClose(code: number, reason: string): VendorRefusal {
  const vendorCode = /\b(DATA|NET)-\d{4}\b/.exec(reason)?.[0];
  if (vendorCode === undefined) return code === 1008 ? { class: 'config' } : {};
  // DATA-0000: the audio does not fit the encoding that was named, which a second try does not change.
  return { vendorCode, class: vendorCode.startsWith('DATA') ? 'config' : 'transient' };
}
