// The parts that a pull is read in. Each asks for pages and takes them until it hands over to the next. The overview is
// in pull-cursor.ts. D-4.5.
import { AppError } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { compareDateTimes, FIRST_TIME_MS, parseDateTime } from "../../shared/time.ts";
import type { PullPage } from "../rows/page.ts";
import { RowMemory } from "../rows/row-memory.ts";
import { formatLike, justAfter } from "../rows/row-time.ts";
import type { Table } from "../table/table.ts";
import { type BroughtRecords, checkGrowth, noteRecord, PullGroup } from "./pull-group.ts";

export interface CursorRequest {
  /** A timestamp as the peer sent it; null for every row. */
  readonly since: string | null;
  readonly offset: number;
  readonly limit: number;
}

export interface PartPage extends BroughtRecords {
  /** The part that asks next; null when the pull is at its end. */
  readonly next: PullPart | null;
}

export interface PullPart {
  request(): CursorRequest;
  /** Takes a page and the canonical times of its records. Throws `remote_invalid`. */
  accept(page: PullPage, times: readonly (string | null)[]): PartPage;
}

/** The progress of a pull, which its parts share. */
export interface PullProgress {
  readonly table: Table;
  /** Rows to ask for at once. */
  readonly pageRows: number;
  /** True when rows without a timestamp are known to come first. */
  readonly isTimelessFirst: boolean;
  /** Every row before this timestamp, as received, has been brought; null while there is none. */
  seenUpTo: string | null;
  /** Rows that are expected to come; null while nothing is known. */
  expectedRows: number | null;
  /** Rows of the whole table, by the last page that was asked for without a timestamp. */
  tableRows: number | null;
}

/** The rows from a timestamp on, in their order. */
export class OrderedPart implements PullPart {
  readonly #pull: PullProgress;
  readonly #thenRows: number;
  readonly #next: PullPart | null;
  #since: string;
  /** The rows with the timestamp `#since`, when they fill more than a page. */
  #group: PullGroup | null = null;
  #firstTotal: number | null = null;
  #arrivedRows = 0;
  /** The rows at `#since` that have been brought. */
  #boundary = new RowMemory();

  /** `since` as the peer writes it; `next` reads the rows behind, `thenRows` of them. */
  constructor(pull: PullProgress, since: string, next: PullPart | null = null, thenRows = 0) {
    this.#pull = pull;
    this.#since = since;
    this.#next = next;
    this.#thenRows = thenRows;
  }

  request(): CursorRequest {
    return { since: this.#since, offset: this.#group?.offset ?? 0, limit: this.#pull.pageRows };
  }

  accept(page: PullPage, times: readonly (string | null)[]): PartPage {
    checkTimes(times, this.#since);
    if (this.#firstTotal === null) {
      this.#firstTotal = page.total;
      this.#pull.expectedRows ??= page.total + this.#thenRows;
    }
    const isStuck = page.hasMore && times.at(-1) === parseDateTime(this.#since);
    if (isStuck) this.#group ??= this.#startGroup();
    const brought =
      this.#group === null
        ? this.#acceptPage(page, times)
        : this.#acceptGroup(page, times, this.#group);
    this.#arrivedRows += brought.records.length;
    checkGrowth(this.#arrivedRows, this.#firstTotal);
    this.#pull.seenUpTo = this.#since;
    return brought;
  }

  #acceptPage(page: PullPage, times: readonly (string | null)[]): PartPage {
    const { table } = this.#pull;
    const start = parseDateTime(this.#since);
    let repeated = 0;
    const records = page.records.filter((record, i) => {
      if (times[i] !== start) return true;
      const known = noteRecord(this.#boundary, table, record, 1);
      if (known.note > 0 && !known.isSame) repeated++;
      return !known.isSame;
    });
    const last = page.records.at(-1);
    if (last !== undefined && times.at(-1) !== start) this.#moveTo(sentTime(table, last));
    for (const [i, record] of page.records.entries()) {
      if (times[i] === times.at(-1)) noteRecord(this.#boundary, table, record, 1);
    }
    return { records, repeated, next: page.hasMore ? this : this.#next };
  }

  #acceptGroup(page: PullPage, times: readonly (string | null)[], group: PullGroup): PartPage {
    const { records, repeated, end, isEndSure } = group.accept(page, times);
    if (end === null) return { records, repeated, next: this };
    this.#group = null;
    const beyond = page.records[end];
    const isEnd = beyond === undefined && !page.hasMore;
    if (!isEndSure) this.#moveTo(justAfter(this.#since));
    else if (beyond !== undefined) this.#moveTo(sentTime(this.#pull.table, beyond));
    return { records, repeated, next: isEnd ? this.#next : this };
  }

  #startGroup(): PullGroup {
    const time = parseDateTime(this.#since);
    return new PullGroup({
      table: this.#pull.table,
      isMember: (other) => other === time,
      label: `of the time ${this.#since}`,
      lastFrom: null,
      seen: this.#boundary,
    });
  }

  #moveTo(time: string): void {
    this.#since = time;
    this.#boundary = new RowMemory();
  }
}

/** Gets the time from which the rows behind a group come, as the remote writes it; null when there are none. */
type NextPart = (timedFrom: string | null) => PullPart | null;

/** The rows without a timestamp, or a whole table without a timestamp column, over pages without a `since`. */
export class GroupPart implements PullPart {
  readonly #pull: PullProgress;
  readonly #isWhole: boolean;
  readonly #group: PullGroup;
  readonly #next: NextPart;

  /** `lastFrom` is null when the group comes first; where it begins, or nearly, when it comes last. */
  constructor(pull: PullProgress, lastFrom: number | null, next: NextPart = () => null) {
    const isWhole = pull.table.timestampColumn === null;
    this.#pull = pull;
    this.#isWhole = isWhole;
    this.#next = next;
    this.#group = new PullGroup({
      table: pull.table,
      isMember: (time) => isWhole || time === null,
      label: isWhole ? `of "${pull.table.name}"` : "without a timestamp",
      lastFrom,
      seen: new RowMemory(),
    });
  }

  request(): CursorRequest {
    return { since: null, offset: this.#group.offset, limit: this.#pull.pageRows };
  }

  accept(page: PullPage, times: readonly (string | null)[]): PartPage {
    // A peer that begins with its newest row would be taken for one whose rows without a timestamp come last.
    checkOrder(times);
    this.#pull.expectedRows ??= page.total;
    const { records, repeated, end, isEndSure } = this.#group.accept(page, times);
    if (end === null) return { records, repeated, next: this };
    const beyond = page.records[end];
    const time = beyond === undefined || this.#isWhole ? null : sentTime(this.#pull.table, beyond);
    const timedFrom = time === null || isEndSure ? time : formatLike(time, FIRST_TIME_MS);
    return { records, repeated, next: this.#next(timedFrom) };
  }
}

/** A record's timestamp as received; the record must have one. */
export function sentTime(table: Table, record: JsonObject): string {
  return String(record[table.timestampColumn ?? ""]);
}

/** A page from a timestamp on must be in order, and hold nothing older. */
function checkTimes(times: readonly (string | null)[], since: string): void {
  const start = parseDateTime(since);
  const isOlder = (time: string | null) =>
    time === null || start === null || compareDateTimes(time, start) < 0;
  if (times.some(isOlder)) {
    throw disordered(`rows older than the since "${since}" it was asked for`);
  }
  checkOrder(times);
}

/** The rows of a page that have a timestamp are in its order. */
function checkOrder(times: readonly (string | null)[]): void {
  let previous: string | null = null;
  for (const time of times) {
    if (time === null) continue;
    if (previous !== null && compareDateTimes(time, previous) < 0) {
      throw disordered("rows that are not in the order of their timestamps");
    }
    previous = time;
  }
}

function disordered(problem: string): AppError {
  return new AppError("remote_invalid", `The remote sent ${problem}`, {
    hint: "Check that both ends have the same table, then run with full",
  });
}
