import type { Table } from "../../../domain/sync/table/table.ts";
import { PreparedTables, type TableStore } from "../../../ports/tables/table-store.ts";
import type { VersionedDeps } from "../driver/versions.ts";
import { TablePreparer } from "./table-preparer.ts";
import { TableReader } from "./table-reader.ts";

/** The record of deletes, as far as the tables need it. D-7.6. */
export interface DeleteRecord {
  /** Throws `schema_conflict` when deletes of one of these tables cannot be recorded. */
  check(tables: readonly Table[]): Promise<void>;
  /** Records deletes of those of these tables that have `deletes`, from now on, and no more of the others. */
  prepare(tables: readonly Table[]): Promise<void>;
  /** Waits until all deletes that were committed before the call are recorded. Throws `store_unavailable` after 10 s. */
  caughtUp(table: Table): Promise<void>;
}

export class MongoTableStore extends TableReader implements TableStore {
  readonly stampsOthers = false;
  readonly #deletes: DeleteRecord;
  readonly #preparer: TablePreparer;

  constructor(deps: VersionedDeps, deletes: DeleteRecord) {
    super(deps);
    this.#deletes = deletes;
    this.#preparer = new TablePreparer(deps.db, deps.clock);
  }

  async prepare(tables: readonly Table[]): Promise<PreparedTables> {
    await this.#deletes.check(tables);
    await this.#preparer.prepare(tables);
    await this.#deletes.prepare(tables);
    return new PreparedTables(tables);
  }

  async settled(table: Table): Promise<void> {
    if (table.deletes) await this.#deletes.caughtUp(table);
  }
}
