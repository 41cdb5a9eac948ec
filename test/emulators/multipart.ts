/** One part of a multipart/form-data body (RFC 7578). */
export interface FormPart {
  name: string;
  /** Only of files. */
  filename: string | null;
  type: string | null;
  bytes: Buffer;
}

/** The parts of a form, or a sentence saying why it is none. */
export function readForm(contentType: string | undefined, body: Buffer): FormPart[] | string {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(contentType ?? '')?.[1];
  if (boundary === undefined) return 'the content type is not multipart/form-data with a boundary';
  const delimiter = Buffer.from(`--${boundary}`);
  const parts: FormPart[] = [];
  let at = body.indexOf(delimiter);
  if (at !== 0) return 'the body does not begin with its boundary';
  for (;;) {
    at += delimiter.length;
    const mark = body.toString('latin1', at, at + 2);
    if (mark === '--') return parts;
    if (mark !== '\r\n') return 'a boundary is followed by neither a line end nor the end mark';
    const end = body.indexOf(Buffer.concat([Buffer.from('\r\n'), delimiter]), at);
    if (end === -1) return 'the last boundary is missing';
    const part = readPart(body.subarray(at + 2, end));
    if (typeof part === 'string') return part;
    parts.push(part);
    at = end + 2;
  }
}

function readPart(bytes: Buffer): FormPart | string {
  const split = bytes.indexOf('\r\n\r\n');
  if (split === -1) return 'a part has no end of its headers';
  const headers = bytes.toString('utf8', 0, split);
  const disposition = /^content-disposition:\s*form-data;(.*)$/im.exec(headers)?.[1];
  const name = /(?:^|[;\s])name="([^"]*)"/.exec(disposition ?? '')?.[1];
  if (name === undefined) return 'a part has no name';
  return {
    name,
    filename: /filename="([^"]*)"/.exec(disposition ?? '')?.[1] ?? null,
    type: /^content-type:\s*(\S+)/im.exec(headers)?.[1] ?? null,
    bytes: bytes.subarray(split + 4),
  };
}
