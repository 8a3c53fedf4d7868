import type { Table } from "../../domain/sync/table/table.ts";
import { PreparedTables, type TableStore } from "../../ports/tables/table-store.ts";
import type { DeleteRecorder } from "./deletes/delete-recorder.ts";
import type { VersionedDeps } from "./driver/versions.ts";
import { prepareTables } from "./tables/table-preparer.ts";
import { TableReader } from "./tables/table-reader.ts";

export class MongoTableStore extends TableReader implements TableStore {
  readonly #deps: VersionedDeps;
  readonly #recorder: DeleteRecorder;

  constructor(deps: VersionedDeps, recorder: DeleteRecorder) {
    super(deps);
    this.#deps = deps;
    this.#recorder = recorder;
  }

  stampsOthers(): boolean {
    return false;
  }

  async prepare(tables: readonly Table[]): Promise<PreparedTables> {
    await prepareTables(this.#deps.db, this.#deps.clock, tables);
    await this.#recorder.prepare(tables);
    return new PreparedTables(tables);
  }

  async settled(table: Table): Promise<void> {
    if (table.deletes) await this.#recorder.caughtUp(table);
  }
}
