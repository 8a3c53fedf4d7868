// A person's rows in the synchronized tables, whatever columns the registry gives them.
import type { Collection, Db, Document } from "mongodb";
import type { JsonObject } from "../../../domain/shared/json.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { Deadline, REQUEST_CALLS, type Stopwatch } from "../driver/deadline.ts";
import { IdCounters, type IdRange } from "../driver/id-counters.ts";
import type { TxOptions } from "../driver/operations.ts";
import type { VersionedChange } from "../driver/person-versions.ts";
import type { TableVersions } from "../driver/table-versions.ts";
import { RowReader } from "../tables/row-reader.ts";
import { changeRowsBy, removeRowsBy } from "../tables/rows-by-value.ts";
import { hasNumbers, layoutOf, UNPARSED_FIELD } from "../tables/table-layout.ts";
import type { DeleteRecord } from "../tables/table-store.ts";
import { planUpserts } from "../tables/upserts.ts";

/** Rows as bytes: equal bytes are equal rows. */
type RowBytes = Uint8Array;

interface PersonRowsDeps {
  readonly deletes: DeleteRecord;
  readonly db: Db;
  readonly clock: Stopwatch;
  readonly versions: TableVersions;
}

/** The rows of one table by the username that they belong to. */
export class PersonRows {
  readonly #deps: PersonRowsDeps;
  readonly #table: Table;
  readonly #collection: Collection;
  readonly #reader: RowReader;
  readonly #counters: IdCounters;
  readonly #projection: Document;
  readonly #hasName: boolean;

  constructor(deps: PersonRowsDeps, table: Table) {
    this.#deps = deps;
    this.#table = table;
    this.#collection = deps.db.collection(table.name);
    this.#reader = new RowReader(layoutOf(table), table.columns);
    this.#counters = new IdCounters(deps.db);
    const names = [...table.columns.map(({ name }) => name), UNPARSED_FIELD];
    this.#projection = { _id: 0, ...Object.fromEntries(names.map((name) => [name, 1])) };
    this.#hasName = table.columns.some(({ name }) => name === "username");
  }

  get tableName(): string {
    return this.#table.name;
  }

  /** The index by which people are found, where no index of the table begins with the username. */
  get index(): InternalCollection | null {
    const [first] = this.#table.keyColumns;
    if (!this.#hasName || first?.name === "username") return null;
    const index = { name: "repsync_username", key: { username: 1 } } as const;
    return { name: this.#table.name, indexes: [index] };
  }

  /** Every row of these people, as bytes; none in a table that a registry gave no `username`. */
  async find(usernames: readonly string[], options: TxOptions): Promise<RowBytes[]> {
    if (!this.#hasName || usernames.length === 0) return [];
    const found: unknown[] = await this.#collection
      .find(
        { username: { $in: [...usernames] } },
        // In one message as a rule.
        { ...options, projection: this.#projection, raw: true, batchSize: 10_000 },
      )
      .toArray();
    return found as RowBytes[];
  }

  /** Every row of one person. */
  async read(username: string, options: TxOptions): Promise<readonly JsonObject[]> {
    return (await this.find([username], options)).map((bytes) => this.decode(bytes));
  }

  decode(bytes: RowBytes): Row {
    return this.#reader.read(bytes);
  }

  /** Takes a number for a row that `insert` is to add; null for a table that is not numbered. */
  async takeId(): Promise<IdRange | null> {
    if (!hasNumbers(this.#table)) return null;
    return await this.#counters.take(this.#table.name, 1, this.#deadline());
  }

  /** Gives a number back that was not used. */
  async giveBack(id: IdRange | null): Promise<void> {
    if (id !== null) await this.#counters.giveBack(id, 0, this.#deadline());
  }

  /** Adds a row with the given fields, as far as the table has such columns; the caller raises the person's version. */
  async insert(fields: Row, id: IdRange | null, change: VersionedChange): Promise<void> {
    const table = this.#table;
    const writes = [{ index: 0, row: fields }];
    const { upserts } = planUpserts(table, writes, id?.first ?? null);
    const documents = upserts.map(({ document }) => document);
    await this.#collection.insertMany(documents, { session: change.tx });
    await this.#raiseTable(change);
  }

  /** Changes the given fields of every row of the person, as far as the table has such columns. */
  async update(username: string, fields: Row, change: VersionedChange): Promise<void> {
    const { db } = this.#deps;
    const options = { session: change.tx, fields };
    const count = await changeRowsBy(db, this.#table, ["username", username], options);
    if (count > 0) await this.#raiseTable(change);
  }

  /**
   * Waits until rows that other programs deleted have their tombstones, which `remove` forgets. Throws
   * `store_unavailable`.
   */
  async awaitTombstones(): Promise<void> {
    if (this.#table.deletes) await this.#deps.deletes.caughtUp(this.#table);
  }

  /** Removes every row of the person. No tombstone names the person afterwards. */
  async remove(username: string, change: VersionedChange): Promise<void> {
    const options = { session: change.tx };
    const count = await removeRowsBy(this.#deps.db, this.#table, ["username", username], options);
    if (count > 0) await this.#raiseTable(change);
  }

  #deadline(): Deadline {
    return Deadline.start(this.#deps.clock, REQUEST_CALLS);
  }

  async #raiseTable({ tx, lane }: VersionedChange): Promise<void> {
    await this.#deps.versions.raise(this.#table.name, [], lane, tx);
  }
}
