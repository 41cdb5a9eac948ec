import { AppError } from '../app-error.ts';

/** One field or file of a form (RFC 7578). */
export interface FormPart {
  name: string;
  /** Null for a field. What a client calls a file is never a path here: folders are cut off. */
  filename: string | null;
  contentType: string;
  body: Buffer;
}

/** More parts in one form are refused. */
const MAX_PARTS = 100;
/** Headers of one part; more is no form of a browser. */
const MAX_PART_HEAD_BYTES = 4_096;

/** Takes a form apart without copying it. Throws `unsupported_media_type` or `bad_request`. */
export function readMultipart(contentType: string | undefined, body: Buffer): FormPart[] {
  const delimiter = Buffer.from(`\r\n--${boundaryOf(contentType)}`);
  const parts: FormPart[] = [];
  // The first boundary may stand at the very beginning, where no line break comes before it.
  let at = body.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2))
    ? delimiter.length - 2
    : after(body, delimiter, 0);
  while (!startsWith(body, at, '--')) {
    if (!startsWith(body, at, '\r\n')) throw broken();
    const end = body.indexOf(delimiter, at);
    if (end === -1) throw broken();
    if (parts.length >= MAX_PARTS) throw new AppError('bad_request', `a form has at most ${MAX_PARTS} parts`);
    parts.push(readPart(body.subarray(at, end)));
    at = end + delimiter.length;
  }
  return parts;
}

/** RFC 2046 section 5.1.1: 1 to 70 characters of a small alphabet. */
function boundaryOf(contentType: string | undefined): string {
  const match =
    /^multipart\/form-data\s*;\s*boundary=("?)([A-Za-z0-9'()+_,./:=? -]{0,69}[A-Za-z0-9'()+_,./:=?-])\1\s*$/i.exec(
      contentType ?? '',
    );
  if (match?.[2] !== undefined) return match[2];
  throw new AppError('unsupported_media_type', 'this route takes multipart/form-data with a boundary');
}

/** `part` begins with the line break after its boundary. */
function readPart(part: Buffer): FormPart {
  const headEnd = part.subarray(0, MAX_PART_HEAD_BYTES).indexOf('\r\n\r\n');
  if (headEnd === -1) throw broken();
  const headers = new Map<string, string>();
  for (const line of part.toString('utf8', 0, headEnd).split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon < 1) throw broken();
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = headers.get('content-disposition') ?? '';
  const name = parameter(disposition, 'name');
  if (!/^form-data\s*;/i.test(disposition) || name === null) throw broken();
  const filename = parameter(disposition, 'filename');
  return {
    name,
    filename: filename === null ? null : (filename.split(/[/\\]/).at(-1) ?? ''),
    contentType: headers.get('content-type') ?? 'text/plain',
    body: part.subarray(headEnd + 4),
  };
}

/** Browsers write a quote in a name as %22 (WHATWG HTML, multipart/form-data encoding algorithm). */
function parameter(disposition: string, name: string): string | null {
  const value = new RegExp(`;\\s*${name}="([^"]*)"`, 'i').exec(disposition)?.[1];
  return value === undefined
    ? null
    : value.replaceAll('%22', '"').replaceAll('%0D', '').replaceAll('%0A', '');
}

function after(body: Buffer, what: Buffer, from: number): number {
  const at = body.indexOf(what, from);
  if (at === -1) throw broken();
  return at + what.length;
}

function startsWith(body: Buffer, at: number, text: string): boolean {
  return body.toString('latin1', at, at + text.length) === text;
}

function broken(): AppError {
  return new AppError('bad_request', 'the form cannot be read: a boundary or a part header is broken');
}
