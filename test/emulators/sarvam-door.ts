import type { Admission, Handshake, Refusal } from './kit/emulator.ts';
import type { FieldRule } from './kit/field-rules.ts';
import type { Violations } from './kit/violations.ts';

const SUBPROTOCOL = 'api-subscription-key.';

/**
 * Sarvam's key: the header `api-subscription-key`, or the browsers' subprotocol, which is echoed where it is offered.
 * A handshake without a key is refused with 401; a wrong key is for the caller to judge, as the sockets differ in it.
 */
export function sarvamKey(
  request: Handshake,
  violations: Violations,
): Refusal | (Admission & { given: string }) {
  const offered = request.subprotocols.find((name) => name.startsWith(SUBPROTOCOL));
  const given = request.headers['api-subscription-key'] ?? offered?.slice(SUBPROTOCOL.length);
  if (given === undefined || given === '') {
    violations.add('sarvam: no api-subscription-key');
    return {
      status: 401,
      body: { error: { message: 'Missing API key', code: 'invalid_api_key_error' } },
    };
  }
  return { given, ...(offered === undefined ? {} : { subprotocol: offered }) };
}

/** The terms as a list in JSON, in the query of both speech-to-text sockets (Sarvam's documentation). */
export const KEYTERMS: FieldRule = {
  type: 'string',
  test: (text: string) => {
    let terms: unknown;
    try {
      terms = JSON.parse(text);
    } catch {
      return 'is no JSON list';
    }
    if (!Array.isArray(terms) || !terms.every((term) => typeof term === 'string'))
      return 'is no list of texts';
    if (new Set(terms).size !== terms.length || terms.length > 50) return 'has more than 50 different terms';
    return terms.some((term) => [...term].length > 64) ? 'has a term of more than 64 characters' : null;
  },
};

export function keytermProblems(query: URLSearchParams): string[] {
  const isKnown = query.get('model') === 'saaras:v4' || !query.has('keyterms');
  return isKnown ? [] : ['query: keyterms belong to saaras:v4'];
}

/** Base64 of whole bytes, or null. */
export function fromBase64(text: unknown): Buffer | null {
  if (typeof text !== 'string' || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  return Buffer.from(text, 'base64');
}

/** Languages that both of Sarvam's speech-to-text sockets know by the same code (Sarvam's documentation). */
export const SARVAM_LANGUAGES: readonly string[] = [
  'en-IN',
  'hi-IN',
  'bn-IN',
  'kn-IN',
  'ml-IN',
  'mr-IN',
  'pa-IN',
  'ta-IN',
  'te-IN',
  'gu-IN',
  'as-IN',
  'ur-IN',
  'ne-IN',
  'kok-IN',
  'ks-IN',
  'sd-IN',
  'sa-IN',
  'sat-IN',
  'mni-IN',
  'brx-IN',
  'mai-IN',
  'doi-IN',
];
