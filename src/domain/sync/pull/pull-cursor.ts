// Chooses the next page of a pull, so that no row is missed though rows move while they are read. D-4.5.
//
// A peer orders pages by timestamp, and rows that are written meanwhile move to the end. An offset over all rows would
// then skip as many rows as have moved. So a pull resumes from the last timestamp it has seen, always at offset 0, and
// recognizes the rows with that timestamp, which come again. That is the ordered part (pull-parts.ts).
//
// Some rows cannot be read like that: those with one timestamp when they fill more than a page, those without any, which
// match no `since`, and tables without a timestamp column. These are groups, read by offset, with proof (pull-group.ts).
//
// Peers put rows without a timestamp first or last, so a pull begins with a look at the first row (`readAll`).
//
// Pure: `transfer/pull-table.ts` makes the requests.
import { AppError, assert } from "../../shared/errors.ts";
import { FIRST_TIME_MS } from "../../shared/time.ts";
import type { PullPage } from "../rows/page.ts";
import { formatLike, rowTime } from "../rows/row-time.ts";
import type { Table } from "../table/table.ts";
import {
  type Asking,
  type BroughtRecords,
  type CursorRequest,
  NOTHING_BROUGHT,
} from "./pull-group.ts";
import { type PullProgress, readGroup, readOrdered, sentTime } from "./pull-parts.ts";

/** What a page brings: records to apply, in order. */
interface AcceptedPage extends BroughtRecords {
  /** A timestamp as received: every row before it has been brought, this page included. Null while there is none. */
  readonly seenUpTo: string | null;
  /** Rows the pull is going to bring, as far as the peer has told; null while nothing is known. */
  readonly totalRows: number | null;
  readonly isDone: boolean;
}

/** The state of one pull of a table. Feed it every page it asked for, in order. */
export class PullCursor {
  readonly #pull: PullProgress;
  readonly #asking: Asking;
  #next: IteratorResult<CursorRequest, void>;
  #tableRows: number | null = null;
  #arrivedRows = 0;

  private constructor(pull: PullProgress, asking: Asking) {
    this.#pull = pull;
    this.#asking = asking;
    this.#next = asking.next();
  }

  /**
   * A whole pull. `marker` is the timestamp to begin at, as received; null for the whole table. `isTimelessFirst` says that
   * the peer puts rows without a timestamp first, as this service does (D-3.1); false when nobody knows.
   */
  static begin(
    table: Table,
    marker: string | null,
    pageRows: number,
    isTimelessFirst = false,
  ): PullCursor {
    const pull = startProgress(table, pageRows);
    return new PullCursor(pull, readAll(pull, marker, isTimelessFirst));
  }

  /** The rows from a timestamp on alone, without those that have none. */
  static beginSince(table: Table, marker: string, pageRows: number): PullCursor {
    const pull = startProgress(table, pageRows);
    return new PullCursor(pull, readOrdered(pull, marker));
  }

  request(): CursorRequest {
    assert(this.#next.done !== true, "The pull is at its end");
    return this.#next.value;
  }

  /** Rows of the peer's table, as it told them in this pull; null when it has not. */
  get tableRows(): number | null {
    return this.#tableRows;
  }

  /** Takes the reply to `request()`. Throws `remote_invalid` for a page that no peer of the document sends. */
  accept(page: PullPage): AcceptedPage {
    if (page.since === null) this.#tableRows = page.total;
    if (page.records.length === 0 && page.hasMore) {
      throw new AppError("remote_invalid", "The remote says has_more but sent no rows");
    }
    const pull = this.#pull;
    const times = page.records.map((record) => rowTime(pull.table, record));
    pull.brought = NOTHING_BROUGHT;
    this.#next = this.#asking.next({ page, times });
    const { brought, seenUpTo, expectedRows } = pull;
    this.#arrivedRows += brought.records.length - brought.repeated;
    const totalRows = expectedRows === null ? null : Math.max(expectedRows, this.#arrivedRows);
    return { ...brought, seenUpTo, totalRows, isDone: this.#next.done === true };
  }
}

function startProgress(table: Table, pageRows: number): PullProgress {
  return { table, pageRows, brought: NOTHING_BROUGHT, seenUpTo: null, expectedRows: null };
}

/** Looks at the first row, to learn where the rows without a timestamp are; then reads them, and the others from a marker on. */
function* readAll(pull: PullProgress, marker: string | null, isTimelessFirst: boolean): Asking {
  const { table } = pull;
  if (table.timestampColumn === null) {
    yield* readGroup(pull, null);
    return;
  }
  const { page, times } = yield { since: null, offset: 0, limit: 1 };
  const [first] = page.records;
  if (marker === null || first === undefined) pull.expectedRows = page.total;
  if (first === undefined) return;
  const firstTime = times[0] === null ? null : sentTime(table, first);
  const since = marker ?? firstTime;
  if (since === null) {
    const timedFrom = yield* readGroup(pull, null);
    if (timedFrom !== null) yield* readOrdered(pull, timedFrom);
  } else if (firstTime !== null && isTimelessFirst) yield* readOrdered(pull, since);
  else {
    // Rows with a timestamp are counted. All others have none, and are read last, wherever the peer puts them.
    const timed = firstTime ?? formatLike(since, FIRST_TIME_MS);
    const { total } = (yield { since: timed, offset: 0, limit: 1 }).page;
    const timelessRows = Math.max(0, page.total - total);
    yield* readOrdered(pull, since, timelessRows);
    if (firstTime === null) yield* readGroup(pull, null);
    else if (timelessRows > 0) yield* readGroup(pull, Math.max(0, total - 1));
  }
}
