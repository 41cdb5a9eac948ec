import { createHmac, randomBytes } from 'node:crypto';

/** Standard Webhooks 1.0.0: 24 to 64 bytes, base64 behind this prefix. */
const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export function newWebhookSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/**
 * The three headers of Standard Webhooks 1.0.0. One signature per active secret, so that a receiver may hold either
 * while a secret is being changed. `timestampSeconds` is that of this attempt, `id` the same in every attempt.
 */
export function webhookHeaders(
  id: string,
  timestampSeconds: number,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const signed = `${id}.${timestampSeconds}.${body}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': secrets.map((secret) => `v1,${hmac(secret, signed)}`).join(' '),
  };
}

function hmac(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return createHmac('sha256', key).update(text).digest('base64');
}
