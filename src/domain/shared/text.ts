// Lengths of texts, in characters (code points), and texts of numbers and problems.

/** Cuts a text to a number of characters without splitting one. */
export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars
    ? text
    : [...text.slice(0, 2 * maxChars)].slice(0, maxChars).join("");
}

/** True for a text without lone surrogates whose length is within both bounds. */
export function isTextOf(value: unknown, minChars: number, maxChars: number): value is string {
  if (typeof value !== "string" || value.length > 2 * maxChars) return false;
  if (!value.isWellFormed()) return false;
  const chars = [...value].length;
  return chars >= minChars && chars <= maxChars;
}

/** A text in parts of at most `partLength` UTF-16 units, each a text of its own: none ends within a character. */
export function textParts(text: string, partLength: number): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const last = text.charCodeAt(at + partLength - 1);
    const isWithin = last >= 0xd800 && last < 0xdc00;
    const end = at + partLength - (isWithin ? 1 : 0);
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

/** A problem and what to do about it, in one sentence. */
export function withHint(problem: string, hint: string | null): string {
  if (hint === null) return problem;
  // What begins with a name, such as that of a setting, stays as it is.
  const isWord = /^[A-Z](?:[a-z]|\b)/.test(hint);
  return `${problem}; ${isWord ? hint.charAt(0).toLowerCase() + hint.slice(1) : hint}`;
}

/** A whole number with separators, such as `171,075`. */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** A number and its noun, such as `1 row` or `2 rows`. */
export function countOf(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`;
}
