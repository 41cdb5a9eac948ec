import type { PackWords } from './normalise/language-pack.ts';

/** Addresses as people say them: "https://www.example.co.in/pay?x=1" is "example dot co dot in". */
const WEB_ADDRESS = /(?:https?:\/\/|(?<![\p{L}\p{N}])www\.)[^\s<>"'()[\]{}|]{1,1024}/giu;
const ENDINGS =
  'com|org|net|in|co|io|gov|edu|info|biz|ai|app|dev|uk|us|bank|me|store|shop|online|site|tech|nic|live';
/** A site without "https://"; in small letters, because "paid.In" is a missing space. */
const BARE = new RegExp(
  `(?<![\\p{L}\\p{N}@./_-])((?:[a-z0-9-]{1,63}\\.){1,4}(?:${ENDINGS}))(?:[/?#][^\\s<>"'()]{0,500})?(?![\\p{L}\\p{N}@_-]|\\.[\\p{L}\\p{N}])`,
  'gu',
);
const MAIL =
  /(?<![\p{L}\p{N}.%+_-])([a-z0-9._%+-]{1,64})@((?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24})(?![\p{L}\p{N}_-])/giu;
/** An address for payments: "rahul.k@okaxis". */
const PAYMENT =
  /(?<![\p{L}\p{N}.@_-])([a-z0-9][a-z0-9._-]{1,63})@([a-z][a-z0-9]{1,20})(?![\p{L}\p{N}@_]|[.-][\p{L}\p{N}])/giu;

/** How the names behind its sign are said where they are short forms, or several words in one; others are read. */
const HANDLES: Readonly<Record<string, string>> = {
  upi: 'UPI',
  ybl: 'YBL',
  ibl: 'IBL',
  axl: 'AXL',
  apl: 'APL',
  sbi: 'SBI',
  icici: 'ICICI',
  hdfcbank: 'HDFC Bank',
  axisbank: 'Axis Bank',
  oksbi: 'OK SBI',
  okaxis: 'OK Axis',
  okicici: 'OK ICICI',
  okhdfcbank: 'OK HDFC Bank',
  ptsbi: 'P T SBI',
  ptaxis: 'P T Axis',
  pthdfc: 'P T HDFC',
  ptyes: 'P T Yes',
};

/** Without words for "dot" and "at" an address keeps its signs, and only scheme and path go. */
export function withSiteNames(text: string, words: PackWords, onLink: () => void): string {
  const dotted = (host: string) =>
    words.dot === '' ? host : host.split('.').filter(Boolean).join(` ${words.dot} `).replaceAll('-', ' ');
  // Every address has one of the two, and looking for one takes longer than for these.
  if (!text.includes('@') && !text.includes('.') && !text.includes('://')) return text;
  return text
    .replace(WEB_ADDRESS, (written) => {
      const address = written.replace(/[.,;:!?।]{1,20}$/u, '');
      const host = siteOf(address);
      onLink();
      return dotted(host) + written.slice(address.length);
    })
    .replace(MAIL, (written, local: string, host: string) => {
      if (words.at === '') return written;
      onLink();
      return `${dotted(local).replace(/[_%+]/g, ' ')} ${words.at} ${dotted(host.toLowerCase())}`;
    })
    .replace(PAYMENT, (written, local: string, handle: string) => {
      if (words.at === '') return written;
      onLink();
      const bank = HANDLES[handle.toLowerCase()] ?? handle;
      return `${dotted(local).replaceAll('_', ' ')} ${words.at} ${bank}`;
    })
    .replace(BARE, (written, host: string) => {
      const spoken = dotted(siteOf(host));
      const punctuation = host.length < written.length ? (/[.,;:!?।]{1,20}$/u.exec(written)?.[0] ?? '') : '';
      if (spoken !== written) onLink();
      return spoken + punctuation;
    });
}

function siteOf(address: string): string {
  const afterScheme = address.replace(/^https?:\/\//i, '');
  const authority = afterScheme.split(/[/?#]/, 1)[0] ?? '';
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d{1,5}$/, '');
  return host.toLowerCase().replace(/^www\./, '');
}
