import type { Db } from "mongodb";
import type { Table } from "../../../domain/sync/table/table.ts";
import {
  PreparedTables,
  type RowWrite,
  type StoredPage,
  type StoredPageQuery,
  type TableStore,
  type WriteFailure,
  type WriteOptions,
} from "../../../ports/tables/table-store.ts";
import { Deadline } from "../driver/deadline.ts";
import { toCommitError } from "../driver/errors.ts";
import { IdCounters } from "../driver/id-counters.ts";
import type { VersionedDeps } from "../driver/person-changes.ts";
import { namesChangedBy } from "../driver/person-versions.ts";
import { PageReader } from "./page-reader.ts";
import { hasNumbers } from "./table-layout.ts";
import { TablePreparer } from "./table-preparer.ts";
import { TablePush } from "./table-push.ts";
import { planUpserts } from "./upserts.ts";

/** Fewest new rows after which the next push to the table is expected to bring only new ones, too. */
const MIN_LOAD_ROWS = 100;

const NO_MARKERS: ReadonlyMap<string, string> = new Map();

export class MongoTableStore implements TableStore {
  readonly #db: Db;
  readonly #deps: VersionedDeps;
  readonly #preparer: TablePreparer;
  readonly #reader: PageReader;
  readonly #counters: IdCounters;
  /** Tables that are being filled: the next push is expected to bring new rows only. */
  readonly #filling = new Set<string>();

  constructor(deps: VersionedDeps) {
    this.#db = deps.db;
    this.#deps = deps;
    this.#preparer = new TablePreparer(deps.db, deps.clock);
    this.#reader = new PageReader(deps);
    this.#counters = new IdCounters(deps.db);
  }

  async prepare(tables: readonly Table[]): Promise<PreparedTables> {
    for (const name of await this.#preparer.prepare(tables)) this.#filling.add(name);
    return new PreparedTables(tables);
  }

  readPage(table: Table, query: StoredPageQuery): Promise<StoredPage> {
    return this.#reader.readPage(table, query);
  }

  countRows(table: Table): Promise<number> {
    return this.#reader.countRows(table);
  }

  async write(
    table: Table,
    writes: readonly RowWrite[],
    options: WriteOptions = {},
  ): Promise<readonly WriteFailure[]> {
    const { markers = NO_MARKERS } = options;
    if (writes.length === 0 && markers.size === 0) return [];
    try {
      return await this.#deps.versions.withLane((lane) => this.#push(table, writes, options, lane));
    } catch (error) {
      throw toCommitError(error);
    }
  }

  async #push(
    table: Table,
    writes: readonly RowWrite[],
    { markers = NO_MARKERS, beforeCommit = () => {} }: WriteOptions,
    lane: number,
  ): Promise<readonly WriteFailure[]> {
    const { client, clock, versions } = this.#deps;
    const scope = { client, clock, deadline: Deadline.start(clock) };
    const tableName = table.name;
    const count = writes.length;
    const takesIds = hasNumbers(table) && count > 0;
    const ids = takesIds ? await this.#counters.take(tableName, count, scope.deadline) : null;
    const plan = planUpserts(table, writes, ids?.first ?? null);
    const { upserts, ordered } = plan;
    const isWhole = !ordered && plan.failures.length === 0;
    const expectsNewKeys = isWhole && this.#filling.has(tableName);
    const rows = writes.map(({ row }) => row);
    const request = {
      tableName,
      people: namesChangedBy(table, rows),
      upserts,
      ordered,
      expectsNewKeys,
      ids,
      markers,
      beforeCommit,
      lane,
    };
    const push = new TablePush(this.#db, versions, scope, request);
    const { insertedRows, failures } = await push.commit();
    const isFilling = insertedRows === upserts.length && insertedRows >= MIN_LOAD_ROWS;
    if (isFilling) this.#filling.add(tableName);
    else if (upserts.length > 0) this.#filling.delete(tableName);
    if (ids !== null) await this.#counters.giveBack(ids, insertedRows);
    return [...plan.failures, ...failures].toSorted((a, b) => a.index - b.index);
  }
}
