import { createHmac, randomBytes } from 'node:crypto';
import { equalsSecret } from '../../platform/constant-time.ts';

/** One-time codes by time (RFC 6238), with the parameters that every authenticator app takes: SHA-1, 30 s, 6 digits. */
const STEP_SECONDS = 30;
const DIGITS = 6;
/** Clocks of telephones: one step early or late is accepted (RFC 6238 section 5.2). */
const DRIFT_STEPS = 1;
/** RFC 4226 section 4 asks for 160 bits. */
const SECRET_BYTES = 20;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function newTotpSecret(): string {
  return base32(randomBytes(SECRET_BYTES));
}

/**
 * The time step that `code` belongs to, or null where it is wrong. `lastStep` is the newest step that was accepted
 * before: a code of it or of an older one is a replay, and wrong.
 */
export function acceptedStep(secret: string, code: string, nowMs: number, lastStep: number): number | null {
  const now = Math.floor(nowMs / 1000 / STEP_SECONDS);
  let accepted: number | null = null;
  for (let step = now - DRIFT_STEPS; step <= now + DRIFT_STEPS; step++) {
    // Every step is compared, whatever the earlier ones said, so that the time tells nothing.
    const equal = equalsSecret(code, totpCode(secret, step));
    if (equal && step > lastStep) accepted = step;
  }
  return accepted;
}

/** The code of one time step (RFC 4226 section 5.3). */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** What the QR code of an authenticator app says. */
export function totpUri(secret: string, account: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const query = new URLSearchParams({
    secret,
    issuer,
    algorithm: 'SHA1',
    digits: String(DIGITS),
    period: String(STEP_SECONDS),
  });
  return `otpauth://totp/${label}?${query}`;
}

function base32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(value >>> (bits - 5)) & 31];
  }
  return bits > 0 ? text + BASE32[(value << (5 - bits)) & 31] : text;
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text) {
    value = ((value << 5) | BASE32.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >>> bits) & 0xff);
  }
  return Buffer.from(bytes);
}
