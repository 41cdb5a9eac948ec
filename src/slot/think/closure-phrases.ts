/** The bot's way of saying that the call is over (RT-22). */
export interface ClosurePhrases {
  /** The phrase, as the bot has it, that occurs in what the caller heard; null for none. */
  find(heardText: string): string | null;
}

/** More phrases than the contract allows come only from a foreign plane, and are left out. */
const MAX_PHRASES = 50;

/**
 * `conversation_policy.closure_phrases`. A phrase counts as whole words, whatever stands between them and however they
 * are cased; in Indic scripts it also counts where only a nukta, a joiner or the kind of nasal sign differs, which
 * models and editors write either way. Scripts without spaces between words have no whole words to keep to.
 */
export function closurePhrases(policy: unknown): ClosurePhrases {
  const listed =
    typeof policy === 'object' && policy !== null
      ? (policy as { closure_phrases?: unknown }).closure_phrases
      : null;
  const phrases = (Array.isArray(listed) ? listed : [])
    .filter((phrase): phrase is string => typeof phrase === 'string')
    .slice(0, MAX_PHRASES)
    .map((phrase) => ({ phrase, words: wordsOf(phrase) }))
    .filter(({ words }) => words.length > 0);
  return {
    find(heardText) {
      if (phrases.length === 0) return null;
      const heard = wordsOf(heardText);
      const spaced = ` ${heard.join(' ')} `;
      const unspaced = heard.join('');
      const found = phrases.find(({ words }) =>
        words.some((word) => SPACELESS.test(word))
          ? unspaced.includes(words.join(''))
          : spaced.includes(` ${words.join(' ')} `),
      );
      return found?.phrase ?? null;
    },
  };
}

const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Zero-width joiners, and the nukta of the Indic blocks. */
const UNSEEN = /[\u200b-\u200d\u2060\ufeff\u093c\u09bc\u0a3c\u0abc\u0b3c\u0cbc]/g;

function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(UNSEEN, '')
    .normalize('NFC')
    .toLowerCase()
    // Candrabindu and anusvara, each in its own block, are one sound to whoever writes them.
    .replace(/[\u0901\u0981\u0a01\u0a81\u0b01\u0c01\u0c81]/g, (sign) =>
      String.fromCharCode(sign.charCodeAt(0) + 1),
    );
  return plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
