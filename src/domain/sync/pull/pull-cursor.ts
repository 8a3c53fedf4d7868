// Where a pull stands and what it asks next: re-anchor on the last timestamp seen, never carry an offset over a moving
// set. Offsets are used only inside one group of rows that no timestamp tells apart. D-4.5.
import { AppError } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { parseDateTime } from "../../shared/time.ts";
import type { PullPage } from "../rows/page.ts";
import type { Table } from "../table/table.ts";
import {
  type CursorRequest,
  type PullReader,
  type PullState,
  readGroup,
  readOrdered,
  timeText,
} from "./pull-reader.ts";

/** What a page brought. */
export interface AcceptedPage {
  /** Records to apply, in order. Those that came before with the same content are left out where that is known. */
  readonly records: readonly JsonObject[];
  /** How many of them came before in the same place, with another content. */
  readonly repeated: number;
  /** A timestamp as received: every row before it has been brought, this page included. Null while there is none. */
  readonly seenUpTo: string | null;
  /** Rows the pull is going to bring, as far as the peer has told; null while nothing is known. */
  readonly totalRows: number | null;
  /** True when nothing is left to ask. */
  readonly isDone: boolean;
}

/** One pull of one table. Feed it every page it asked for, in order. */
export interface PullCursor {
  /** The next request. */
  request(): CursorRequest;
  /** Takes the reply to `request()`. Throws `remote_invalid` for a page that no peer of the document sends. */
  accept(page: PullPage): AcceptedPage;
}

/** Starts a pull. `marker` is the timestamp to begin at, as received; null for the whole table. */
export function startPullCursor(
  table: Table,
  options: { readonly marker: string | null; readonly pageRows: number },
): PullCursor {
  const { marker, pageRows } = options;
  const state: PullState = { table, pageRows, seenUpTo: null, expectedRows: null };
  return followReaders(
    state,
    table.timestampColumn === null
      ? readGroup(state, { lastFrom: null, next: () => null })
      : lookForTimeless(state, marker),
  );
}

/** Starts a pull of the rows from a timestamp on alone, without those that have none. */
export function startMarkedCursor(
  table: Table,
  { marker, pageRows }: { readonly marker: string; readonly pageRows: number },
): PullCursor {
  const state: PullState = { table, pageRows, seenUpTo: null, expectedRows: null };
  return followReaders(state, readOrdered(state, { since: marker, thenRows: 0, next: null }));
}

function followReaders(state: PullState, first: PullReader): PullCursor {
  const { table } = state;
  let reader: PullReader | null = first;
  let arrivedRows = 0;
  return {
    request() {
      if (reader === null) throw new Error("The pull is at its end");
      return reader.request();
    },
    accept(page) {
      if (reader === null) throw new Error("The pull is at its end");
      if (page.records.length === 0 && page.hasMore) {
        throw new AppError("remote_invalid", "The remote says has_more but sent no rows");
      }
      const times = page.records.map((record) => timeOf(record, table.timestampColumn));
      const { records, repeated, next } = reader.accept(page, times);
      reader = next;
      arrivedRows += records.length - repeated;
      const totalRows =
        state.expectedRows === null ? null : Math.max(state.expectedRows, arrivedRows);
      return { records, repeated, seenUpTo: state.seenUpTo, totalRows, isDone: next === null };
    },
  };
}

/**
 * Rows without a timestamp match no `since`, so the first row of all is looked at: where they come first, it is one of
 * them. Otherwise the rows from its timestamp on are counted, and what there is beside those comes last.
 */
function lookForTimeless(state: PullState, marker: string | null): PullReader {
  return {
    request: () => ({ since: null, offset: 0, limit: 1 }),
    accept(page, times) {
      if (marker === null) state.expectedRows = page.total;
      const [first] = page.records;
      if (first === undefined) {
        state.expectedRows = 0;
        return look(null);
      }
      if (times[0] !== null) return look(countTimed(state, { marker, first, allRows: page.total }));
      if (marker === null) return look(readTimelessFirst(state));
      const timeless = readGroup(state, { lastFrom: null, next: () => null });
      return look(readOrdered(state, { since: marker, thenRows: 0, next: timeless }));
    },
  };
}

function countTimed(
  state: PullState,
  known: { readonly marker: string | null; readonly first: JsonObject; readonly allRows: number },
): PullReader {
  const firstTime = timeText(state.table, known.first);
  return {
    request: () => ({ since: firstTime, offset: 0, limit: 1 }),
    accept(page) {
      const thenRows = Math.max(0, known.allRows - page.total);
      const lastFrom = Math.max(0, page.total - 1);
      const next = thenRows > 0 ? readGroup(state, { lastFrom, next: () => null }) : null;
      return look(readOrdered(state, { since: known.marker ?? firstTime, thenRows, next }));
    },
  };
}

function readTimelessFirst(state: PullState): PullReader {
  return readGroup(state, {
    lastFrom: null,
    next(timedFrom) {
      if (timedFrom === null) return null;
      return readOrdered(state, { since: timedFrom, thenRows: 0, next: null });
    },
  });
}

function look(next: PullReader | null) {
  return { records: [], repeated: 0, next };
}

/** A record's canonical time; null when it has none that can be parsed. */
function timeOf(record: JsonObject, column: string | null): string | null {
  const value = column === null ? null : record[column];
  return typeof value === "string" ? parseDateTime(value) : null;
}
