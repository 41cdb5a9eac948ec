/** The little of RTP (RFC 3550) and of its telephone events (RFC 4733) that a telephone needs. */
export const PCMU = 0;
/** Dynamic payload type of telephone events; the SDP of the peers here names it. */
export const TELEPHONE_EVENT = 101;
const HEADER_BYTES = 12;

export interface RtpPacket {
  payloadType: number;
  marker: boolean;
  sequence: number;
  timestamp: number;
  ssrc: number;
  payload: Uint8Array;
}

export function writeRtp(packet: RtpPacket): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + packet.payload.length);
  bytes[0] = 0x80;
  bytes[1] = (packet.marker ? 0x80 : 0) | packet.payloadType;
  bytes.writeUInt16BE(packet.sequence & 0xffff, 2);
  bytes.writeUInt32BE(packet.timestamp >>> 0, 4);
  bytes.writeUInt32BE(packet.ssrc >>> 0, 8);
  bytes.set(packet.payload, HEADER_BYTES);
  return bytes;
}

/** The packet, or null for anything else that came to the port, RTCP and STUN among it. */
export function readRtp(bytes: Buffer): RtpPacket | null {
  const first = bytes[0] ?? 0;
  const second = bytes[1] ?? 0;
  const isRtcp = second >= 192 && second <= 223;
  let start = HEADER_BYTES + (first & 0x0f) * 4;
  if (bytes.length < start || first >> 6 !== 2 || isRtcp) return null;
  if (first & 0x10) {
    if (bytes.length < start + 4) return null;
    start += 4 + bytes.readUInt16BE(start + 2) * 4;
  }
  const padding = first & 0x20 ? (bytes.at(-1) ?? 0) : 0;
  if (bytes.length < start + padding) return null;
  return {
    payloadType: second & 0x7f,
    marker: (second & 0x80) !== 0,
    sequence: bytes.readUInt16BE(2),
    timestamp: bytes.readUInt32BE(4),
    ssrc: bytes.readUInt32BE(8),
    payload: bytes.subarray(start, bytes.length - padding),
  };
}

const KEYS = '0123456789*#ABCD';
/** Power level of a sent key in -dBm0. */
const KEY_VOLUME = 10;

/** The payload of a telephone event after so many samples of it. */
export function writeKey(key: string, durationSamples: number, isEnd: boolean): Uint8Array {
  const event = KEYS.indexOf(key.toUpperCase());
  if (event < 0) throw new Error(`"${key}" is not a key of a telephone`);
  return Uint8Array.of(event, (isEnd ? 0x80 : 0) | KEY_VOLUME, durationSamples >> 8, durationSamples & 0xff);
}

/** The key that a telephone event stands for; null for other events, such as the tone of a fax machine. */
export function readKey(payload: Uint8Array): string | null {
  return KEYS[payload[0] ?? -1] ?? null;
}
