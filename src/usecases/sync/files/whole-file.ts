// An import of a file that holds all rows of its table: what the file does not have is removed afterwards. D-14.7.
import { AppError } from "../../../domain/shared/errors.ts";
import { keyOf, keyRow } from "../../../domain/sync/rows/row-key.ts";
import { RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import { deletionTime } from "../../../domain/sync/rows/tombstone.ts";
import { deleteLimit } from "../../../domain/sync/run/delete-place.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { TableStore } from "../../../ports/tables/table-store.ts";
import type { RowWrite } from "../../../ports/tables/table-writes.ts";
import type { DeleteRowDeps } from "../deletes/delete-row.ts";
import { writeRows } from "../shared/write-rows.ts";
import { exportRows } from "./export-rows.ts";
import type { ImportWriter, WrittenBatch } from "./import-writer.ts";

/** Remembers the keys of the file while another writer writes its rows. */
export class WholeFile implements ImportWriter {
  readonly #writer: ImportWriter;
  readonly #table: Table;
  readonly #keys = new RowMemory();

  constructor(writer: ImportWriter, table: Table) {
    this.#writer = writer;
    this.#table = table;
  }

  async write(writes: readonly RowWrite[]): Promise<WrittenBatch> {
    for (const { row } of writes) this.#keys.note({ key: keyText(this.#table, row) }, 1);
    return await this.#writer.write(writes);
  }

  /** Rows of the table that the file does not have. Throws `sync_failed` where they are more than may be removed. */
  async countOthers(tables: TableStore, maxDeletes: number | null): Promise<number> {
    const table = this.#table;
    let [all, others] = [0, 0];
    for await (const part of exportRows(tables, table)) {
      all += part.length;
      others += this.#othersOf(part).length;
    }
    const limit = deleteLimit(table, maxDeletes, all);
    if (others <= limit) return others;
    const text = `${others} rows of "${table.name}" are not in the file, at most ${limit} may be removed; none was`;
    const hint = `If that is right, allow them with --max-deletes ${others} (max_deletes)`;
    throw new AppError("sync_failed", text, { hint });
  }

  /** Removes them; a row that is written to meanwhile stays. Returns how many went. Throws the stop's reason. */
  async removeOthers(deps: DeleteRowDeps, stop: AbortSignal): Promise<number> {
    const table = this.#table;
    let removed = 0;
    for await (const part of exportRows(deps.tables, table)) {
      stop.throwIfAborted();
      const deleted = this.#othersOf(part).map((row, index) => ({
        index,
        key: keyRow(table, keyOf(table, row)),
        deletedAt: deletionTime(rowTime(table, row), deps.clock.nowMs()),
      }));
      if (deleted.length === 0) continue;
      removed += (await writeRows(deps, table, { writes: [], deleted })).deleted;
    }
    return removed;
  }

  #othersOf(rows: readonly Row[]): Row[] {
    return rows.filter((row) => this.#keys.find({ key: keyText(this.#table, row) }).note === 0);
  }
}
