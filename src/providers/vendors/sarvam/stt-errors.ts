import type { AppError } from '../../../platform/app-error.ts';
import { recordOf, textOf } from '../../../platform/json-shapes.ts';
import { tidyVendorText, type VendorRefusal } from '../../connect/vendor-refusal.ts';
import { classOfStatus, type FailureClass, providerError } from '../../contract/provider-error.ts';
import { readVendorMessage, type VendorMessage } from '../../stt/vendor-message.ts';

/** The close codes of both sockets (Sarvam's documentation): 1003 may be the key, the quota or the rate. */
export function readSarvamClose(code: number, reason: string): VendorRefusal {
  if (code === 1003) return { class: classOfWords(reason) ?? 'rate_limit' };
  // Nothing was heard for too long, which says nothing about what was sent.
  if (code === 1008) return { class: 'transient' };
  if (code === 4000) {
    return { class: /unavailable|backend|grpc|internal/i.test(reason) ? 'transient' : 'config' };
  }
  return {};
}

/** A refused handshake: {error: {message, code, request_id}} or {detail} or plain text. */
export function readSarvamRefusal(answer: { status: number; body: string }): VendorRefusal {
  let body: VendorMessage = {};
  try {
    body = readVendorMessage(answer.body);
  } catch {
    // Not JSON: the body itself is the message.
    return {};
  }
  const error = recordOf(body.error);
  const message = textOf(error.message) || textOf(body.message) || textOf(body.detail);
  const code = textOf(error.code) || textOf(body.code);
  const requestId = textOf(error.request_id);
  const failureClass = answer.status === 429 ? classOfWords(code) : undefined;
  return {
    ...(message === '' ? {} : { message }),
    ...(code === '' ? {} : { vendorCode: code.slice(0, 100) }),
    ...(requestId === '' ? {} : { requestId: requestId.slice(0, 100) }),
    ...(failureClass === undefined ? {} : { class: failureClass }),
  };
}

/** The error that an `error` message stands for, when it ends the session. */
export function sarvamFailure(
  said: { code: string; message: string; status: number | null },
  secrets: readonly (string | undefined)[],
): AppError {
  const { code, message, status } = said;
  const byStatus = status === null ? undefined : classOfStatus(status);
  return providerError(
    {
      provider: 'sarvam',
      family: 'stt',
      class: byStatus ?? classOfWords(`${code} ${message}`) ?? 'transient',
      status,
      ...(code === '' ? {} : { vendorCode: code.slice(0, 100) }),
    },
    `sarvam (stt) failed: ${tidyVendorText(`${code} ${message}`, { secrets })}`,
  );
}

/** The vendor shares codes between causes, so its words have to tell them apart. */
function classOfWords(text: string): FailureClass | undefined {
  if (/quota|credit|balance|payment/i.test(text)) return 'quota';
  if (/rate|too many|limit/i.test(text)) return 'rate_limit';
  if (/key|auth|subscription|forbidden|denied/i.test(text)) return 'auth';
  if (/invalid|unsupported|unknown|bad[ _]request|unprocessable/i.test(text)) return 'config';
  return undefined;
}
