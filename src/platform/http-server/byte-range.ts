/**
 * The part of `size` bytes that a Range header names, as `[first byte, byte count]`; null where the whole is meant
 * (RFC 9110 section 14.2: what is not understood is ignored).
 */
export function readRange(
  header: string | undefined,
  size: number,
): [number, number] | 'unsatisfiable' | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(' ', '') ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return null;
  if (match[1] === '') {
    const last = Math.min(Number(match[2]), size);
    return last === 0 ? 'unsatisfiable' : [size - last, last];
  }
  const first = Number(match[1]);
  const end = match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (match[2] !== '' && Number(match[2]) < first) return null;
  return first >= size ? 'unsatisfiable' : [first, end - first + 1];
}
