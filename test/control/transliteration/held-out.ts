import { createHash } from 'node:crypto';
import { readProjectFile } from '../../harness/source-files.ts';

/** A common spelling with the ways in which people write the name in Devanagari. */
export interface CommonName {
  kind: string;
  latin: string;
  accepted: readonly string[];
}

/** The common names of common-names.json: kind, Latin spelling, accepted Devanagari with a slash between. */
export function commonNames(): CommonName[] {
  const kinds = JSON.parse(readProjectFile('test/control/transliteration/common-names.json')) as Record<
    string,
    Record<string, string>
  >;
  return Object.entries(kinds).flatMap(([kind, names]) =>
    Object.entries(names).map(([latin, accepted]) => ({
      kind,
      latin: latin.toLowerCase(),
      accepted: accepted.split('/'),
    })),
  );
}

/** The fixed split: a third of all texts, chosen by hash, so that nobody can choose. */
export function isHeldOut(text: string): boolean {
  return (createHash('sha256').update(text).digest()[0] ?? 0) % 3 === 0;
}

/** Whether a spelling is accepted. Many leave the dot under फ़, ज़, ख़, ग़ and क़ out; it makes no other name. */
export function isAccepted(written: string, accepted: readonly string[]): boolean {
  return accepted.some((one) => withoutDots(one) === withoutDots(written));
}

function withoutDots(text: string): string {
  return text.normalize('NFC').replace(/(?<=[फजखगक])\u093c/g, '');
}

/** The 95 % interval of a rate (Wilson 1927), in per cent. */
export function wilson(right: number, total: number): { rate: number; low: number; high: number } {
  const z = 1.96;
  const share = right / total;
  const middle = share + z ** 2 / (2 * total);
  const half = z * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2));
  const scale = 100 / (1 + z ** 2 / total);
  return { rate: share * 100, low: (middle - half) * scale, high: (middle + half) * scale };
}
