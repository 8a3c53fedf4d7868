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
