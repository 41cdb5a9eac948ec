import { AppError } from './app-error.ts';

/**
 * JSON that every reader understands the same way (RFC 8259 sections 4 and 8.1). A key that stands twice is refused:
 * of two readers one takes the first and one the last, and a check made on the one says nothing about the other.
 * Throws `bad_request`.
 */
export function readJson(body: Buffer): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch (cause) {
    throw new AppError('bad_request', 'the body is not UTF-8', { cause });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('bad_request', 'the body is not JSON', { cause });
  }
  const written = countMembers(text);
  if (typeof value === 'object' && value !== null && written !== heldMembers(value)) {
    throw new AppError('bad_request', 'a key stands twice in one object of the body');
  }
  return value;
}

/** Throws `unsupported_media_type` unless the header names JSON or nothing. */
export function requireJsonType(contentType: string | undefined): void {
  if (contentType === undefined || /^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i.test(contentType)) return;
  throw new AppError('unsupported_media_type', 'this route takes application/json');
}

/** Deeper bodies are refused: no schema of ours needs it, and what walks a body may recurse. */
const MAX_DEPTH = 64;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Members in the text of valid JSON: each has one colon outside of strings. */
function countMembers(text: string): number {
  let members = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = endOfString(text, at);
        break;
      case 0x3a:
        members++;
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > MAX_DEPTH) {
          throw new AppError('bad_request', `the body is nested deeper than ${MAX_DEPTH} levels`);
        }
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
    }
  }
  return members;
}

/** Index of the closing quote. Jumps from quote to quote, since long texts are most of a large body. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

function heldMembers(value: object): number {
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) members += heldMembers(item);
    return members;
  }
  for (const item of Object.values(value)) {
    members++;
    if (typeof item === 'object' && item !== null) members += heldMembers(item);
  }
  return members;
}
