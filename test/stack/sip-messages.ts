/** One SIP message as it went over the line. */
export interface SipMessage {
  direction: 'sent' | 'received';
  /** `performance.now()` when it was read here, some 10 ms after it went. */
  atMs: number;
  /** 'INVITE sip:... SIP/2.0' or 'SIP/2.0 200 OK'. */
  startLine: string;
  /** Of a request. */
  method: string | null;
  /** Of an answer. */
  status: number | null;
  /** The method that the message is about, of a request and of an answer. */
  cseqMethod: string;
  /** By lower-case name, in their order. */
  headers: Record<string, string[]>;
  body: string;
}

/** Reads the messages out of what sipp writes about them (`-trace_msg`); the text may come in any pieces. */
export class SipTrace {
  private rest = Buffer.alloc(0);

  /** The messages that this piece completes. */
  take(piece: Buffer): SipMessage[] {
    this.rest = Buffer.concat([this.rest, piece]);
    const messages: SipMessage[] = [];
    for (let message = this.next(); message; message = this.next()) messages.push(message);
    return messages;
  }

  private next(): SipMessage | null {
    const text = this.rest.toString('latin1');
    // "UDP message sent (512 bytes):" or "UDP message received [512] bytes :", an empty line, and so many bytes.
    const head = /message (sent|received) [([](\d+)[\] ]+bytes\)? ?:\n\n/.exec(text);
    if (!head) return null;
    const start = head.index + head[0].length;
    const end = start + Number(head[2]);
    if (this.rest.length < end) return null;
    const message = readSipMessage(this.rest.toString('utf8', start, end));
    this.rest = this.rest.subarray(end);
    return { ...message, direction: head[1] === 'sent' ? 'sent' : 'received', atMs: performance.now() };
  }
}

function readSipMessage(text: string): Omit<SipMessage, 'direction' | 'atMs'> {
  const blank = text.indexOf('\r\n\r\n');
  const [startLine = '', ...lines] = (blank < 0 ? text : text.slice(0, blank)).split('\r\n');
  const headers: Record<string, string[]> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    const values = headers[name] ?? [];
    values.push(line.slice(colon + 1).trim());
    headers[name] = values;
  }
  const status = /^SIP\/2\.0 (\d{3})/.exec(startLine)?.[1];
  return {
    startLine,
    method: status ? null : (startLine.split(' ')[0] ?? ''),
    status: status ? Number(status) : null,
    cseqMethod: headers.cseq?.[0]?.split(/\s+/)[1] ?? '',
    headers,
    body: blank < 0 ? '' : text.slice(blank + 4),
  };
}

/** Where an SDP wants audio, as `host:port`; null when there is none in it. */
export function mediaAddress(sdp: string): string | null {
  const host = /^c=IN IP4 (\S+)/m.exec(sdp)?.[1];
  const port = /^m=audio (\d+)/m.exec(sdp)?.[1];
  return host && port && port !== '0' ? `${host}:${port}` : null;
}
