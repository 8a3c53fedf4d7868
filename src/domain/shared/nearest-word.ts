/** More mistakes than these make another word. */
const MAX_EDITS = 2;

/**
 * The word that a mistyped one was probably meant to be, letter case aside: at most two letters are missing, added, another
 * or swapped, and less than half of the word. Null where none is; the first of equally near ones.
 */
export function nearestWord(typed: string, words: Iterable<string>): string | null {
  let nearest: string | null = null;
  let fewest = MAX_EDITS + 1;
  for (const word of words) {
    const length = Math.max(typed.length, word.length);
    // Also spares the work for what is much longer than any word.
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
