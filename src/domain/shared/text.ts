// Texts: lengths in characters (code points), counts, problems, hidden characters, spelling, and hashes.

/** Names of encodings, as `--encoding` takes them. */
export const ENCODINGS = [
  ...(["utf-8", "utf-16", "utf-16le", "utf-16be", "latin1", "iso-8859-2", "iso-8859-15"] as const),
  ...(["windows-1250", "windows-1251", "windows-1252", "koi8-r", "macintosh"] as const),
] as const;

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

/** Length of a part in UTF-16 units, of up to three bytes each. */
const PART_LENGTH = 1_000_000;

/** A text in parts that a document can hold; no part ends within a character. */
export function textParts(text: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const last = text.charCodeAt(at + PART_LENGTH - 1);
    const isWithin = last >= 0xd800 && last < 0xdc00;
    const end = at + PART_LENGTH - (isWithin ? 1 : 0);
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

export function withHint(problem: string, hint: string | null): string {
  if (hint === null) return problem;
  // A hint that begins with a name, such as that of a setting, stays as it is.
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

// Characters that a reader does not see, or that command a terminal: control characters, line breaks, invisible ones. D-11.3.

const HIDDEN = /[\p{Cc}\u2028\u2029\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const EACH_HIDDEN = new RegExp(HIDDEN, "gu");
const CONTROL = /\p{Cc}/u;

/** True when a text has a control character, line breaks and tabs among them. */
export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text);
}

/** True when a text has a control character, a line break or an invisible character. */
export function hasHiddenCharacter(text: string): boolean {
  return HIDDEN.test(text);
}

/** The text with each hidden character as its number, such as `\u{9b}`: one line that a terminal shows and does not obey. */
export function showHidden(text: string): string {
  return text.replace(EACH_HIDDEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A JSON text without line breaks of its own, with each hidden character in JSON's escapes, such as `\u009b`. */
export function escapeHiddenInJson(json: string): string {
  return json.replace(EACH_HIDDEN, (char) => {
    const units = Array.from({ length: char.length }, (_, i) => char.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

const FORMULA_START = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Puts `'` before what a spreadsheet would run as a formula; numbers as JSON writes them, with `+` too, stay. D-11.3. */
export function spreadsheetField(text: string): string {
  return FORMULA_START.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

/** More mistakes than these make another word. */
const MAX_EDITS = 2;

/** The nearest word but for case, the first of equals; null where more than two letters, or half of them, differ or are swapped. */
export function nearestWord(typed: string, words: Iterable<string>): string | null {
  let nearest: string | null = null;
  let fewest = MAX_EDITS + 1;
  for (const word of words) {
    const length = Math.max(typed.length, word.length);
    // Spares the work for much longer texts.
    if (Math.abs(typed.length - word.length) > MAX_EDITS) continue;
    const edits = countEdits(typed.toLowerCase(), word.toLowerCase());
    if (edits >= fewest || 2 * edits >= length) continue;
    nearest = word;
    fewest = edits;
  }
  return nearest;
}

/** Letters to be added, removed, replaced or swapped with the next one (optimal string alignment). */
function countEdits(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwapped ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped));
    }
    beforeLast = last;
    last = row;
  }
  return last[to.length] ?? 0;
}

/** The host name of a `URL` without brackets; an IPv4 address that is written as IPv6, in its own form. */
export function plainHost(hostname: string): string {
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(name) ?? [];
  if (high === undefined || low === undefined) return name;
  const parts = [high, low].map((part) => Number.parseInt(part, 16));
  return parts.flatMap((part) => [part >> 8, part & 255]).join(".");
}

// A fast 128-bit hash of texts. It tells different texts apart, but an attacker can construct two texts that collide.

export const HASH_WORDS = 4;

/** Writes the hash of a text into the first four words of `out`. The same text gives the same words everywhere. */
export function hashText(text: string, out: Uint32Array): void {
  const { length } = text;
  let a = 0x3c6ef372 ^ length;
  let b = 0x50c5d1f6;
  let c = 0x7a9bd9e1;
  let d = 0x2e1b2138;
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    a = b ^ Math.imul(a ^ unit, 0x239b961b);
    b = c ^ Math.imul(b ^ unit, 0xab0e9789);
    c = d ^ Math.imul(c ^ unit, 0x38b34ae5);
    d = a ^ Math.imul(d ^ unit, 0xa1e38b93);
  }
  a = mix(a ^ (c >>> 15));
  b = mix(b ^ (d >>> 13));
  c = mix(c ^ (a >>> 16));
  d = mix(d ^ (b >>> 14));
  const all = a ^ b ^ c ^ d;
  out[0] = all;
  out[1] = mix(b ^ all);
  out[2] = mix(c + all);
  out[3] = mix(d ^ Math.imul(all, 0x9e3779b1));
}

/** The hash of a text as 32 hexadecimal digits. */
export function hashHex(text: string): string {
  const words = new Uint32Array(HASH_WORDS);
  hashText(text, words);
  return wordsHex(words);
}

export function wordsHex(words: Uint32Array): string {
  return Array.from(words, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** Each bit of a word changes about half of the bits of the result. */
function mix(word: number): number {
  const once = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}
