// Lengths of texts, in characters (code points).

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

/** A problem and what to do about it, in at most `maxChars` characters: only the problem is cut. */
export function withAdvice(problem: string, advice: string, maxChars: number): string {
  const end = `; ${advice}`;
  return cutText(problem, maxChars - end.length) + end;
}
