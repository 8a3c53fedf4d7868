// Writes of a push or a run to the rows of a table, within its transaction. D-3.6, D-7.1, D-7.4.
import { formatMs, parseDateTime } from "../../../domain/shared/time.ts";
import {
  aheadLimit,
  FIRST_STAMP,
  isTimeless,
  rankTimes,
  type StampRule,
  stampFate,
  zonelessFrom,
} from "../../../domain/sync/rows/row-time.ts";
import { changedColumns, type DecisionRule } from "../../../domain/sync/rows/write-decision.ts";
import { type ConflictRule, isVersioned, type Table } from "../../../domain/sync/table/table.ts";
import type { Steps } from "../../../ports/runtime/turns.ts";
import {
  PASSED_OVER,
  type RowWrite,
  type TombstoneWrite,
  type WriteFailure,
  type Written,
} from "../../../ports/tables/table-writes.ts";
import type { SqliteStatement, SqliteValue } from "../driver/connection.ts";
import type { SqliteWork } from "../driver/run-body.ts";
import type { BoundWrite, RowBinder } from "./row-binder.ts";
import { readRowsWithKeys } from "./statements.ts";
import { keptTime } from "./tombstone-sql.ts";
import { TombstoneWrites } from "./tombstones.ts";

type TableWriteRules = Pick<DecisionRule<never>, "conflict" | "stamps">;
/** `passed over`: a trigger left the record out without an error. */
type RecordFate = "changed" | "same" | "kept" | "passed over";

const BEGIN_MOMENT = "INSERT INTO repsync_moment (now, table_name) VALUES (?, ?)";
const END_MOMENT = "DELETE FROM repsync_moment";

/** `repsync_order` of a row with the first stamp. */
const FIRST_ORDER = FIRST_STAMP.slice(0, -1);

export class TableWrite {
  readonly #failures: WriteFailure[] = [];
  readonly #kept: number[] = [];
  readonly #refusedDeletes: WriteFailure[] = [];
  readonly #buried: number[] = [];
  #changed = 0;
  #deleted = 0;
  readonly #database: SqliteWork;
  readonly #table: Table;
  readonly #rules: TableWriteRules;
  readonly #binder: RowBinder;
  readonly #nowMs: number;
  readonly #buries: TombstoneWrites;
  /** Null in a table without deletes. */
  readonly #tombstones: TombstoneWrites | null;
  readonly #isGuarded: boolean;
  /** `aheadLimit`, as a canonical time and as `repsync_order`. */
  readonly #aheadLimit: string;
  readonly #aheadOrder: string;
  /** The earliest `repsync_order` of changed rows and of kept ones. */
  #earliestChanged: string | null = null;
  #earliestKept: string | null = null;
  readonly #hasForeignTrigger: boolean;
  #isMoment = false;
  /** The last statement: finding it for each row takes a tenth of the time of a write. */
  #statement: { readonly sql: string; readonly prepared: SqliteStatement } | null = null;

  constructor(database: SqliteWork, table: Table, rules: TableWriteRules, binder: RowBinder) {
    const nowMs = database.nowMs();
    this.#nowMs = nowMs;
    this.#binder = binder;
    this.#database = database;
    this.#table = table;
    this.#rules = rules;
    this.#buries = new TombstoneWrites(database, table);
    this.#tombstones = table.deletes ? this.#buries : null;
    this.#isGuarded = rules.conflict === "newer" && isVersioned(table);
    this.#aheadLimit = aheadLimit(nowMs);
    this.#aheadOrder = zonelessFrom(table, this.#aheadLimit);
    this.#hasForeignTrigger = binder.hasForeignTrigger(database);
  }

  get written(): Written {
    const timeOf = (order: string | null) => parseDateTime(order ?? "");
    return {
      failures: this.#failures,
      kept: this.#kept,
      ...(this.#buried.length === 0 ? {} : { buried: this.#buried }),
      changed: this.#changed,
      deleted: this.#deleted,
      ...(this.#refusedDeletes.length === 0 ? {} : { refusedDeletes: this.#refusedDeletes }),
      earliestChanged: timeOf(this.#earliestChanged),
      earliestKept: timeOf(this.#earliestKept),
      visibleMs: this.#database.nowMs(),
    };
  }

  /** Writes tombstones first. One step per write. */
  *all(deleted: readonly TombstoneWrite[], writes: readonly RowWrite[]): Steps<void> {
    const bind = (write: RowWrite) => this.#binder.bind(write);
    // While deletes are applied, every row that a rule of the application writes is stamped, so the moment names no table.
    if (this.#hasForeignTrigger && deleted.length > 0) this.#setMoment("");
    for (const tombstone of deleted) {
      this.#bury(tombstone);
      yield;
    }
    yield* this.#tombstones?.meet(writes.values().map((write) => keyOf(bind(write)))) ?? [];
    if (this.#isMoment || this.#table.stamped || this.#tombstones?.hasMet === true) {
      this.#setMoment(this.#table.name);
    }
    for (const write of writes) {
      this.#write(bind(write));
      yield;
    }
    if (this.#isMoment) this.#database.run(END_MOMENT);
  }

  #setMoment(tableName: string): void {
    if (this.#isMoment) this.#database.run(END_MOMENT);
    this.#isMoment = true;
    this.#database.run(BEGIN_MOMENT, [keptTime(formatMs(this.#nowMs)), tableName]);
  }

  #bury(tombstone: TombstoneWrite): void {
    try {
      const { isRemoved, isPassedOver = false, outlivedBy = null } = this.#buries.bury(tombstone);
      if (isRemoved) this.#deleted++;
      if (isPassedOver) {
        this.#refusedDeletes.push({ index: tombstone.index, message: PASSED_OVER });
      }
      this.#earliestKept = earlier(this.#earliestKept, outlivedBy);
    } catch (error) {
      const message = this.#database.recordReason(error);
      if (message === null) throw error;
      this.#refusedDeletes.push({ index: tombstone.index, message });
    }
  }

  #write(arriving: BoundWrite): void {
    const { index, refusedIfNew, refused = refusedIfNew } = arriving.write;
    if (refused !== undefined && this.#isRefused(arriving)) {
      this.#failures.push({ index, message: refused });
      return;
    }
    const { stamps } = this.#rules;
    const bound = stamps === undefined ? arriving : this.#stamped(arriving, stamps);
    if (bound === null) return;
    if (this.#isKeptOut(bound)) {
      this.#kept.push(index);
      return;
    }
    // A row that stays as it is leaves the file as it is, so no moment is set for it.
    if (this.#hasForeignTrigger && !this.#isMoment) {
      if (this.#differs(bound)) this.#setMoment(this.#table.name);
      else if (this.#isGuarded && orderOf(bound) !== "") return;
    }
    try {
      const fate = this.#isGuarded ? this.#writeGuarded(bound) : this.#writeAnyway(bound);
      if (this.#rules.conflict === "restore" && fate !== "passed over") {
        this.#tombstones?.forget(() => keyOf(bound));
      }
      if (fate === "changed") this.#noteChanged(bound);
      else if (fate === "kept") this.#kept.push(index);
      else if (fate === "passed over") this.#failures.push({ index, message: PASSED_OVER });
    } catch (error) {
      const message = this.#database.recordReason(error);
      if (message === null) throw error;
      this.#failures.push({ index, message });
    }
  }

  /** True for a record that fails: it is not kept out, and the row here does not let it through. */
  #isRefused(bound: BoundWrite): boolean {
    const here = this.#buries.orderAt(keyOf(bound));
    const isOnlyIfNew = bound.write.refused === undefined;
    if (here !== null && (isOnlyIfNew || this.#isNewer(here, bound))) return false;
    return !this.#isKeptOut(bound);
  }

  /** The record with its time; null for a record that is not to be written. D-14.2. */
  #stamped(bound: BoundWrite, stamps: StampRule): BoundWrite | null {
    const { row, index } = bound.write;
    const stored = this.#stored(bound);
    const fate = stampFate(stamps, {
      time: parseDateTime(orderOf(bound)),
      bringsTime: !isTimeless(this.#table, row),
      here: stored && { time: parseDateTime(stored.order), isChanged: stored.isChanged },
      deletedAt: this.#tombstones?.deletedAt(() => keyOf(bound)) ?? null,
      nowMs: this.#nowMs,
    });
    if (fate === "deleted") this.#buried.push(index);
    if (fate === "same" || fate === "deleted") return null;
    if (fate === "own") return bound;
    const timed = { ...row, [this.#table.timestampColumn ?? ""]: fate.time };
    return this.#binder.bind({ ...bound.write, row: timed });
  }

  /** The guard keeps out a row that is no later than its tombstone. */
  #isKeptOut(bound: BoundWrite): boolean {
    if (this.#rules.conflict !== "newer" || this.#tombstones === null) return false;
    return this.#tombstones.keepsOut(() => keyOf(bound), parseDateTime(orderOf(bound)));
  }

  /** The statement compares plain times. The domain ranks all others, which are rare. */
  #writeGuarded(bound: BoundWrite): RecordFate {
    const order = orderOf(bound);
    if (this.#table.stamped && order === FIRST_ORDER && this.#isUndecided(bound)) return "kept";
    const isPlain = order !== "" && order <= this.#aheadOrder;
    if (isPlain && this.#run(bound, "newer")) return "changed";
    const stored = this.#stored(bound);
    if (stored === null) return this.#writeAnyway(bound);
    if (order !== "" && stored.order === order && !stored.isChanged) return "same";
    if (!this.#isNewer(stored.order, bound)) return this.#writeAnyway(bound);
    this.#earliestKept = earlier(this.#earliestKept, stored.order);
    return "kept";
  }

  /** True when the guard keeps out a record, by the `repsync_order` of the row here. */
  #isNewer(here: string, bound: BoundWrite): boolean {
    const time = parseDateTime(orderOf(bound));
    return this.#isGuarded && rankTimes(time, parseDateTime(here), this.#aheadLimit) < 0;
  }

  /** True when nothing tells which of two rows without a time is newer. D-14.2. */
  #isUndecided(bound: BoundWrite): boolean {
    const stored = this.#stored(bound);
    return stored !== null && stored.order === FIRST_ORDER && stored.isChanged;
  }

  #writeAnyway(bound: BoundWrite): RecordFate {
    return this.#run(bound, "overwrite") ? "changed" : this.#unwritten(bound);
  }

  /** The fate of a record that changed nothing. Only a trigger of another program may have left it out. */
  #unwritten(bound: BoundWrite): RecordFate {
    if (!this.#hasForeignTrigger) return "same";
    const stored = this.#stored(bound);
    return stored === null || stored.isChanged ? "passed over" : "same";
  }

  /** False for a record whose row is there as it is. */
  #differs(bound: BoundWrite): boolean {
    const stored = this.#stored(bound);
    return stored === null || stored.isChanged || stored.order !== orderOf(bound);
  }

  #noteChanged(bound: BoundWrite): void {
    this.#changed++;
    if (this.#table.timestampColumn === null) return;
    const order = bound.shape.writesTime
      ? orderOf(bound)
      : (this.#buries.orderAt(keyOf(bound)) ?? "");
    // A row without a time is read by every run anyway.
    if (order !== "") this.#earliestChanged = earlier(this.#earliestChanged, order);
  }

  /** True when the row was inserted or changed. */
  #run({ shape, values }: BoundWrite, conflict: ConflictRule): boolean {
    const sql = shape.upsert(conflict);
    if (this.#statement?.sql !== sql) {
      this.#statement = { sql, prepared: this.#database.statement(sql) };
    }
    return this.#statement.prepared.run(values) > 0;
  }

  /** The stored row; `isChanged` when the record would change a column other than the time. */
  #stored({ shape: { stored }, values, write }: BoundWrite) {
    const bound = stored.places.map((place) => values[place] ?? null);
    const [row] = this.#database.all(stored.sql, bound);
    if (row === undefined) return null;
    return {
      order: String(row["order"]),
      isChanged: row["isChanged"] === 1 && this.#changes(write),
    };
  }

  /** False where another program wrote the same values in another form, such as a time with a zone, or JSON with spaces. D-4.7. */
  #changes({ row }: RowWrite): boolean {
    const [there = {}] = readRowsWithKeys(this.#database, this.#table, [row]);
    const names = changedColumns(this.#table, row, there);
    return names.some((name) => name !== this.#table.timestampColumn);
  }
}

function keyOf({ shape, values }: BoundWrite): readonly SqliteValue[] {
  return shape.keyPlaces.map((place) => values[place] ?? null);
}

/** The `repsync_order` that the record gives the row; '' without a time. */
function orderOf({ shape, values }: BoundWrite): string {
  const value = shape.timePlace === null ? null : values[shape.timePlace];
  return typeof value === "string" ? value : "";
}

function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
