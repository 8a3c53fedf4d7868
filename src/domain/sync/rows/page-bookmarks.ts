// Places and totals that a store remembers between pages, so that a deep page costs about as much as the first. D-3.4.

/** Sequences remembered at once; the longest unused one goes first. */
const MAX_SEQUENCES = 1_024;
/** Bookmarks kept per sequence; past that, the one goes that leaves the smallest gap. */
const MAX_BOOKMARKS = 256;

/** The rows of one table from one time on, as of one state of the store. */
export interface PageSequence {
  readonly tableName: string;
  /** The `sinceTime` of the page query; null for every row. */
  readonly sinceTime: string | null;
  /** Names the state of the store. Each commit that could move a row or change a total changes it; then all is forgotten. */
  readonly version: string;
}

interface PageBookmark<Position> {
  /** Rows before this place, 1 or more. */
  readonly offsetRows: number;
  /** The position of the last of those rows in the order of the table; the next row comes right after it. */
  readonly position: Position;
}

interface Remembered<Position> {
  readonly version: string;
  totalRows: number | null;
  /** Ascending by offset. */
  readonly bookmarks: PageBookmark<Position>[];
}

/** Only an optimization, in bounded memory. `Position` is the store's own form of a row's order value and key. */
export class PageBookmarks<Position> {
  readonly #sequences = new Map<string, Remembered<Position>>();

  /** The nearest remembered place at or before an offset; null when no place is remembered there. */
  find(sequence: PageSequence, offsetRows: number): PageBookmark<Position> | null {
    const bookmarks = this.#current(sequence)?.bookmarks ?? [];
    return bookmarks.findLast((bookmark) => bookmark.offsetRows <= offsetRows) ?? null;
  }

  remember(sequence: PageSequence, bookmark: PageBookmark<Position>): void {
    const { bookmarks } = this.#current(sequence) ?? this.#begin(sequence);
    const before = bookmarks.findLastIndex(({ offsetRows }) => offsetRows <= bookmark.offsetRows);
    if (bookmarks[before]?.offsetRows === bookmark.offsetRows) return;
    bookmarks.splice(before + 1, 0, bookmark);
    // The new one stays: a caller that reads in order needs it next.
    if (bookmarks.length > MAX_BOOKMARKS) bookmarks.splice(leastNeeded(bookmarks, bookmark), 1);
  }

  /** The number of rows in the sequence; null when it is not remembered. */
  totalRows(sequence: PageSequence): number | null {
    return this.#current(sequence)?.totalRows ?? null;
  }

  rememberTotal(sequence: PageSequence, totalRows: number): void {
    const remembered = this.#current(sequence) ?? this.#begin(sequence);
    remembered.totalRows = totalRows;
  }

  #current(sequence: PageSequence): Remembered<Position> | null {
    const name = sequenceName(sequence);
    const remembered = this.#sequences.get(name);
    if (remembered === undefined) return null;
    this.#sequences.delete(name);
    if (remembered.version !== sequence.version) return null;
    this.#sequences.set(name, remembered);
    return remembered;
  }

  #begin(sequence: PageSequence): Remembered<Position> {
    const oldest = this.#sequences.keys().next();
    if (this.#sequences.size >= MAX_SEQUENCES && !oldest.done) this.#sequences.delete(oldest.value);
    const remembered = { version: sequence.version, totalRows: null, bookmarks: [] };
    this.#sequences.set(sequenceName(sequence), remembered);
    return remembered;
  }
}

/** Table names have no blank, so two sequences never share a name. */
function sequenceName(sequence: PageSequence): string {
  return `${sequence.tableName} ${sequence.sinceTime ?? ""}`;
}

/** The index of the bookmark whose removal leaves the smallest gap; `keep` stays. */
function leastNeeded(
  bookmarks: readonly PageBookmark<unknown>[],
  keep: PageBookmark<unknown>,
): number {
  let least = 0;
  let leastGapRows = Number.POSITIVE_INFINITY;
  let beforeRows = 0;
  for (const [i, bookmark] of bookmarks.entries()) {
    const gapRows = (bookmarks[i + 1]?.offsetRows ?? Number.POSITIVE_INFINITY) - beforeRows;
    if (gapRows < leastGapRows && bookmark !== keep) {
      least = i;
      leastGapRows = gapRows;
    }
    beforeRows = bookmark.offsetRows;
  }
  return least;
}
