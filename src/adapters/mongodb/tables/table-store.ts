import type { ClientSession } from "mongodb";
import { lateTimesOf } from "../../../domain/sync/run/late-rows.ts";
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
import { outcomeOf, type Written } from "../../../ports/tables/table-writes.ts";
import { Deadline } from "../driver/deadline.ts";
import { toRowsError } from "../driver/errors.ts";
import type { StoreDeps } from "../driver/operations.ts";
import { commitTransaction, MAX_CONFLICTS_MS } from "../driver/transaction.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { setExtras } from "../runs/commit-extras.ts";
import { commitUnder } from "../runs/lease-store.ts";
import { addLateCommits, noteLateTimes } from "./late-rows.ts";
import { visibleMs } from "./late-times.ts";
import { PageReader } from "./page-reader.ts";
import type { PushPlace } from "./push-place.ts";
import { withReruns } from "./rerun.ts";
import { TablePreparer } from "./table-preparer.ts";
import { TablePush } from "./table-push.ts";

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

const NOTHING_WRITTEN: WriteOutcome = { failures: [], kept: [], changed: 0, deleted: 0 };

export class MongoTableStore implements TableStore {
  readonly #deps: StoreDeps;
  readonly #place: PushPlace;
  readonly #erasedNames: ErasedNames;
  readonly #deletes: DeleteRecord;
  readonly #preparer: TablePreparer;
  readonly #reader: PageReader;
  /** Commits with late rows since they were last added to the notes, by table. */
  readonly #lateCommits = new Map<string, number>();

  constructor(place: PushPlace, erasedNames: ErasedNames, deletes: DeleteRecord) {
    const { deps } = place;
    this.#deps = deps;
    this.#place = place;
    this.#erasedNames = erasedNames;
    this.#deletes = deletes;
    this.#preparer = new TablePreparer(deps.db, deps.clock);
    this.#reader = new PageReader(deps);
  }

  async prepare(tables: readonly Table[]): Promise<PreparedTables> {
    await this.#deletes.check(tables);
    for (const name of await this.#preparer.prepare(tables)) this.#place.beginFilling(name);
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

  async settled(table: Table): Promise<void> {
    if (table.deletes) await this.#deletes.caughtUp(table);
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
      return await this.#place.deps.versions.withLane((lane) =>
        this.#push(table, writes, options, lane),
      );
    } catch (error) {
      throw toRowsError(error, isDivisible(writes, options));
    }
  }

  async #push(
    table: Table,
    writes: readonly RowWrite[],
    options: WriteOptions,
    lane: number,
  ): Promise<WriteOutcome> {
    const { client, clock, db } = this.#deps;
    const limit = isDivisible(writes, options) ? { maxConflictsMs: MAX_CONFLICTS_MS } : {};
    const scope = { client, clock, deadline: Deadline.start(clock), ...limit };
    if (looksAtDeletes(table, options)) await this.#deletes.caughtUp(table);
    const push = new TablePush(this.#place, table, this.#erasedNames);
    const work = async (tx: ClientSession) => {
      const pushed = await push.write(writes, options, tx);
      const outcome = outcomeOf(pushed, pushed.erased);
      if (outcome.changed + outcome.deleted > 0) {
        await this.#place.deps.versions.raise(table.name, pushed.people, lane, tx);
      }
      const hasLate = await this.#noteLate(table, pushed, options, tx);
      const extras = options.beforeCommit?.(outcome);
      if (extras !== undefined) await setExtras(db, table.name, extras, tx);
      if (options.lease !== undefined) await commitUnder(db, options.lease, tx);
      return { outcome, hasLate };
    };
    const commit = () => commitTransaction(scope, work);
    const { outcome, hasLate } = await withReruns(scope, commit);
    await push.end();
    if (hasLate) await this.#addLateCommits(table.name);
    return outcome;
  }

  async #noteLate(
    table: Table,
    pushed: Pick<Written, "earliestChanged" | "earliestKept">,
    { isOwnRun = false }: WriteOptions,
    tx: ClientSession,
  ): Promise<boolean> {
    if (pushed.earliestChanged === null && pushed.earliestKept === null) return false;
    const times = lateTimesOf(table, pushed, isOwnRun, await visibleMs(this.#deps));
    return await noteLateTimes(this.#deps.db, table.name, times, tx);
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
