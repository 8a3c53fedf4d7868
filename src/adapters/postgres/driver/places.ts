// What bodies lock, as numbers.
import { HASH_WORDS, hashText } from "../../../domain/shared/hash.ts";

const words = new Uint32Array(HASH_WORDS);

/** One of 2^64 places, as the text of a signed number: two names share one hardly ever, and then only wait for one another. */
export function placeOf(name: string): string {
  hashText(name, words);
  const [high = 0, low = 0] = words;
  return String(BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low)));
}
