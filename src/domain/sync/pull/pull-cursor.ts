// Chooses the next page of a pull, so that no row is missed though rows move while they are read. D-4.5.
//
// A peer orders pages by timestamp, and rows that are written meanwhile move to the end. An offset over all rows would
// then skip as many rows as have moved. So a pull resumes from the last timestamp it has seen, always at offset 0, and
// recognizes the rows with that timestamp, which come again. That is the ordered part (pull-parts.ts).
//
// Some rows cannot be read like that: those with one timestamp when they fill more than a page, those without any, which
// match no `since`, and tables without a timestamp column. These are groups, read by offset, with proof (pull-group.ts).
//
// Peers put rows without a timestamp first or last. So a pull begins with a look at the first row, and then reads
//
//     first look ─┬─ no timestamp there: the group without timestamps, then the ordered part (from a marker on: reversed, and counted)
//                 ├─ a timestamp there: count the rows that have one, then the ordered part, then the rest as a group;
//                 │  where those without one are known to come first, the ordered part alone
//                 └─ no row at all: done
//     a table without a timestamp column: one group
//
// Pure: `transfer/pull-table.ts` makes the requests.
import { AppError, assert } from "../../shared/errors.ts";
import { FIRST_TIME_MS } from "../../shared/time.ts";
import type { PullPage } from "../rows/page.ts";
import { formatLike, rowTime } from "../rows/row-time.ts";
import type { Table } from "../table/table.ts";
import type { BroughtRecords } from "./pull-group.ts";
import {
  type CursorRequest,
  GroupPart,
  OrderedPart,
  type PartPage,
  type PullPart,
  type PullProgress,
  sentTime,
} from "./pull-parts.ts";

/** The yield of a page: records to apply, in order. */
interface AcceptedPage extends BroughtRecords {
  /** A timestamp as received: every row before it has been brought, this page included. Null while there is none. */
  readonly seenUpTo: string | null;
  /** Rows the pull is going to bring, as far as the peer has told; null while nothing is known. */
  readonly totalRows: number | null;
  /** True when nothing is left to ask. */
  readonly isDone: boolean;
}

/** The state of one pull of a table. Feed it every page it asked for, in order. */
export class PullCursor {
  readonly #pull: PullProgress;
  #part: PullPart | null;
  #arrivedRows = 0;

  private constructor(pull: PullProgress, first: PullPart) {
    this.#pull = pull;
    this.#part = first;
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
    const pull = { ...startProgress(table, pageRows), isTimelessFirst };
    const first =
      table.timestampColumn === null ? new GroupPart(pull, null) : new FirstLook(pull, marker);
    return new PullCursor(pull, first);
  }

  /** The rows from a timestamp on alone, without those that have none. */
  static beginSince(table: Table, marker: string, pageRows: number): PullCursor {
    const pull = startProgress(table, pageRows);
    return new PullCursor(pull, new OrderedPart(pull, marker));
  }

  request(): CursorRequest {
    return this.#current().request();
  }

  /** Rows of the peer's table, as it told them in this pull; null when it has not. */
  get tableRows(): number | null {
    return this.#pull.tableRows;
  }

  /** Takes the reply to `request()`. Throws `remote_invalid` for a page that no peer of the document sends. */
  accept(page: PullPage): AcceptedPage {
    const part = this.#current();
    if (page.since === null) this.#pull.tableRows = page.total;
    if (page.records.length === 0 && page.hasMore) {
      throw new AppError("remote_invalid", "The remote says has_more but sent no rows");
    }
    const { table } = this.#pull;
    const times = page.records.map((record) => rowTime(table, record));
    const { records, repeated, next } = part.accept(page, times);
    this.#part = next;
    this.#arrivedRows += records.length - repeated;
    const { seenUpTo, expectedRows } = this.#pull;
    const totalRows = expectedRows === null ? null : Math.max(expectedRows, this.#arrivedRows);
    return { records, repeated, seenUpTo, totalRows, isDone: next === null };
  }

  #current(): PullPart {
    assert(this.#part !== null, "The pull is at its end");
    return this.#part;
  }
}

function startProgress(table: Table, pageRows: number): PullProgress {
  const nothing = { seenUpTo: null, expectedRows: null, tableRows: null };
  return { ...nothing, table, pageRows, isTimelessFirst: false };
}

/** Reads the first row of the table, to learn where the rows without a timestamp are. */
class FirstLook implements PullPart {
  readonly #pull: PullProgress;
  readonly #marker: string | null;

  constructor(pull: PullProgress, marker: string | null) {
    this.#pull = pull;
    this.#marker = marker;
  }

  request(): CursorRequest {
    return { since: null, offset: 0, limit: 1 };
  }

  accept(page: PullPage, times: readonly (string | null)[]): PartPage {
    const pull = this.#pull;
    const marker = this.#marker;
    const [first] = page.records;
    if (marker === null || first === undefined) pull.expectedRows = page.total;
    if (first === undefined) return handOver(null);
    if (times[0] !== null && pull.isTimelessFirst) {
      return handOver(new OrderedPart(pull, marker ?? sentTime(pull.table, first)));
    }
    if (times[0] !== null) {
      const firstTime = sentTime(pull.table, first);
      return handOver(new TimedCount(pull, marker ?? firstTime, firstTime, page.total));
    }
    if (marker !== null) return handOver(new TimedCount(pull, marker, null, page.total));
    const thenTimed = (timedFrom: string | null) =>
      timedFrom === null ? null : new OrderedPart(pull, timedFrom);
    return handOver(new GroupPart(pull, null, thenTimed));
  }
}

/** Counts the rows with a timestamp: what there is beside those has none, and is read last, wherever it comes. */
class TimedCount implements PullPart {
  readonly #pull: PullProgress;
  readonly #since: string;
  readonly #firstTime: string | null;
  readonly #allRows: number;

  /** `firstTime` is that of the first row; null where rows without one come first. */
  constructor(pull: PullProgress, since: string, firstTime: string | null, allRows: number) {
    this.#pull = pull;
    this.#since = since;
    this.#firstTime = firstTime;
    this.#allRows = allRows;
  }

  request(): CursorRequest {
    const since = this.#firstTime ?? formatLike(this.#since, FIRST_TIME_MS);
    return { since, offset: 0, limit: 1 };
  }

  accept(page: PullPage): PartPage {
    const timelessRows = Math.max(0, this.#allRows - page.total);
    const lastFrom = this.#firstTime === null ? null : Math.max(0, page.total - 1);
    const hasTimeless = lastFrom === null || timelessRows > 0;
    const timeless = hasTimeless ? new GroupPart(this.#pull, lastFrom) : null;
    return handOver(new OrderedPart(this.#pull, this.#since, timeless, timelessRows));
  }
}

/** A page that only told where to go on. */
function handOver(next: PullPart | null): PartPage {
  return { records: [], repeated: 0, next };
}
