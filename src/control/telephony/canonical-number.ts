/**
 * One spelling for every way to write the same telephone number, as the media server compares them: without spaces,
 * dashes and brackets, and without the plus sign, so that `+911140001234` and `91 11 4000-1234` are one number. What is
 * no number (an extension with letters, say) stays as it is.
 */
export function canonicalNumber(text: string): string {
  const trimmed = text.trim();
  return /^\+?[\d\- ()*#]+$/.test(trimmed) ? trimmed.replace(/[\s\-()]/g, '').replace(/^\+/, '') : trimmed;
}
