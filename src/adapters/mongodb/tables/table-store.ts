import { AppError } from "../../../domain/shared/errors.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import {
  PreparedTables,
  type RowWrite,
  type StoredPage,
  type StoredPageQuery,
  type StoredPart,
  type StoredPartQuery,
  type TableStore,
  type WriteOptions,
  type WriteOutcome,
} from "../../../ports/tables/table-store.ts";
import { Deadline, REQUEST_CALLS } from "../driver/deadline.ts";
import { hasCode, innerError, toCommitError } from "../driver/errors.ts";
import { IdCounters } from "../driver/id-counters.ts";
import { namesChangedBy } from "../driver/person-versions.ts";
import { WRITE_CONFLICT } from "../driver/transaction.ts";
import { beginTurns } from "../driver/turns.ts";
import { addLateCommits } from "./late-rows.ts";
import { PageReader } from "./page-reader.ts";
import { hasNumbers } from "./table-layout.ts";
import { TablePreparer } from "./table-preparer.ts";
import { type PushDeps, TablePush } from "./table-push.ts";
import { planInSteps, type UpsertPlan } from "./upserts.ts";

/** Fewest new rows after which the next push to the table is expected to bring only new ones, too. */
const MIN_LOAD_ROWS = 100;

/** Commits with late rows that one instance makes before it adds them to the notes of their table. */
const MAX_LATE_COMMITS = 100;

/** The record of deletes, as far as the tables need it. D-7.6. */
export interface DeleteRecord {
  /** Throws `schema_conflict` when deletes of one of these tables cannot be recorded. */
  check(tables: readonly Table[]): Promise<void>;
  /** Records deletes of those of these tables that have `deletes`, from now on, and no more of the others. */
  prepare(tables: readonly Table[]): Promise<void>;
  /** Waits until all deletes that were committed before the call are recorded. Throws `store_unavailable` after 10 s. */
  caughtUp(table: Table): Promise<void>;
}

/** How long the tries of a commit that can be divided meet conflicts: longer than orphaned transactions live. */
const MAX_CONFLICTS_MS = 4_000;
const BUSY_ROWS = "Others keep writing to rows of the batch; fewer at a time may go";

const NOTHING_WRITTEN: WriteOutcome = { failures: [], kept: [], changed: 0, deleted: 0 };

export class MongoTableStore implements TableStore {
  readonly #deps: PushDeps;
  readonly #deletes: DeleteRecord;
  readonly #preparer: TablePreparer;
  readonly #reader: PageReader;
  readonly #counters: IdCounters;
  /** Tables that are being filled: the next push is expected to bring new rows only. */
  readonly #filling = new Set<string>();
  /** Commits with late rows since they were last added to the notes, by table. */
  readonly #lateCommits = new Map<string, number>();

  constructor(deps: PushDeps, deletes: DeleteRecord) {
    this.#deps = deps;
    this.#deletes = deletes;
    this.#preparer = new TablePreparer(deps.db, deps.clock);
    this.#reader = new PageReader(deps);
    this.#counters = new IdCounters(deps.db);
  }

  async prepare(tables: readonly Table[]): Promise<PreparedTables> {
    await this.#deletes.check(tables);
    for (const name of await this.#preparer.prepare(tables)) this.#filling.add(name);
    await this.#deletes.prepare(tables);
    return new PreparedTables(tables);
  }

  readPage(table: Table, query: StoredPageQuery): Promise<StoredPage> {
    return this.#reader.readPage(table, query);
  }

  readPart(table: Table, query: StoredPartQuery): Promise<StoredPart> {
    return this.#reader.readPart(table, query);
  }

  readRow(table: Table, key: Row): Promise<Row | null> {
    return this.#reader.readRow(table, key);
  }

  countRows(table: Table): Promise<number> {
    return this.#reader.countRows(table);
  }

  async write(
    table: Table,
    writes: readonly RowWrite[],
    options: WriteOptions = {},
  ): Promise<WriteOutcome> {
    const { beforeCommit, lease, deleted = [] } = options;
    const isEmpty = writes.length === 0 && deleted.length === 0;
    if (isEmpty && beforeCommit === undefined && lease === undefined) return NOTHING_WRITTEN;
    try {
      return await this.#deps.versions.withLane((lane) => this.#push(table, writes, options, lane));
    } catch (error) {
      if (isDivisible(writes, options) && hasCode(innerError(error), WRITE_CONFLICT)) {
        throw new AppError("batch_too_large", BUSY_ROWS, { cause: error });
      }
      throw toCommitError(error);
    }
  }

  async #push(
    table: Table,
    writes: readonly RowWrite[],
    options: WriteOptions,
    lane: number,
  ): Promise<WriteOutcome> {
    const { client, clock } = this.#deps;
    const limit = isDivisible(writes, options) ? { maxConflictsMs: MAX_CONFLICTS_MS } : {};
    const scope = { client, clock, deadline: Deadline.start(clock), ...limit };
    const tableName = table.name;
    const count = writes.length;
    const takesIds = hasNumbers(table) && count > 0;
    const [ids] = await Promise.all([
      takesIds ? this.#counters.take(tableName, count, scope.deadline) : null,
      looksAtDeletes(table, options) ? this.#deletes.caughtUp(table) : null,
    ]);
    const plan = await beginTurns(clock).run(planInSteps(table, writes, ids?.first ?? null));
    const rows = [
      ...writes.map(({ row }) => row),
      ...(options.deleted ?? []).map(({ key }) => key),
    ];
    const people = namesChangedBy(table, rows);
    const expectsNewKeys = isForInserts(plan) && this.#filling.has(tableName);
    const request = { table, ...plan, people, expectsNewKeys, ids, options, lane };
    const push = new TablePush(this.#deps, scope, request);
    const { outcome, insertedRows, hasLate } = await push.commit();
    const isFilling = insertedRows === plan.upserts.length && insertedRows >= MIN_LOAD_ROWS;
    if (isFilling) this.#filling.add(tableName);
    else if (plan.upserts.length > 0) this.#filling.delete(tableName);
    if (ids !== null) {
      await this.#counters.giveBack(ids, insertedRows, Deadline.start(clock, REQUEST_CALLS));
    }
    if (hasLate) await this.#addLateCommits(tableName);
    return outcome;
  }

  /** Adds what commits have noted to the notes of their table, once in a while: it would pile up where no run reads it. */
  async #addLateCommits(tableName: string): Promise<void> {
    const count = (this.#lateCommits.get(tableName) ?? MAX_LATE_COMMITS) + 1;
    this.#lateCommits.set(tableName, count > MAX_LATE_COMMITS ? 0 : count);
    if (count <= MAX_LATE_COMMITS) return;
    // The push is committed; another one or a run adds them.
    await addLateCommits(this.#deps, tableName).catch(() => {});
  }
}

function isDivisible(writes: readonly RowWrite[], { isDivisible = false }: WriteOptions): boolean {
  return isDivisible && writes.length > 1;
}

function looksAtDeletes(table: Table, { conflict = table.conflict, deleted = [] }: WriteOptions) {
  return table.deletes && (conflict === "newer" || deleted.length > 0);
}

/** True when the records of a plan can be inserted as they are, if all their keys are new. */
function isForInserts({ upserts, ordered, failures }: UpsertPlan): boolean {
  const isWhole = !ordered && failures.length === 0 && upserts.length > 0;
  return isWhole && upserts.every(({ refusedIfNew }) => refusedIfNew === undefined);
}
