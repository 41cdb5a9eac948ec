/** Whether a voice can make a sound of it: a letter, a digit or a sign such as a currency. */
export function worthSaying(text: string): boolean {
  return /[\p{L}\p{N}\p{S}]/u.test(text);
}

/** The text in pieces of at most `maxChars`, cut behind a space where there is one; joined they are the text. */
export function textPieces(text: string, maxChars: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > maxChars) {
    const space = rest.lastIndexOf(' ', maxChars - 1);
    const cut = space > 0 ? space + 1 : wholeCharacters(rest, maxChars);
    pieces.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  if (rest !== '') pieces.push(rest);
  return pieces;
}

/** One less where the cut would tear a character that takes two code units. */
function wholeCharacters(text: string, at: number): number {
  const last = text.charCodeAt(at - 1);
  return at > 1 && last >= 0xd800 && last <= 0xdbff ? at - 1 : at;
}
