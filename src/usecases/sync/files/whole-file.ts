// An import of all rows of a table: rows that are not in the file are removed afterwards. D-14.7.
import { AppError } from "../../../domain/shared/errors.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import { tombstoneOf } from "../../../domain/sync/rows/tombstone.ts";
import { deleteLimit } from "../../../domain/sync/run/remote-memory.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { RowWrite } from "../../../ports/tables/table-writes.ts";
import { storeNowMs } from "../../../repositories/repository.ts";
import { type WriteRowsDeps, writeRows } from "../shared/write-rows.ts";
import { exportRows } from "./export-rows.ts";
import type { ImportReport } from "./import-file.ts";
import type { ImportWriter, WrittenBatch } from "./import-writer.ts";

interface Removal {
  /** Null where there is no store yet. */
  readonly deps: WriteRowsDeps | null;
  /** The report of the import, which gets the number of removed rows, however the removal ends. */
  readonly report: ImportReport;
  /** Null for the limit of the registry. */
  readonly maxDeletes: number | null;
  /** Asked before each batch that is removed, and each part that is counted; what it throws ends the removal. */
  requireGoingOn(): Promise<void>;
  /** Asked before the first row goes. */
  isAllowed(rows: number): Promise<boolean>;
  /** Told why rows stay. */
  onRefused(text: string): void;
}

/** Remembers the keys of the file, while another writer writes its rows. */
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

  /**
   * Removes rows that are not in the file, or counts them in a dry run; a row that changes meanwhile stays. Throws `sync_failed`
   * where they are more than may be removed, and what `requireGoingOn` throws.
   */
  async removeOthers(removal: Removal): Promise<void> {
    const { report, deps } = removal;
    const { counts } = report;
    const refusal =
      counts.failed > 0 ? "records failed" : counts.read === 0 ? "the file has no records" : null;
    if (refusal !== null) removal.onRefused(`No row was removed, as ${refusal}`);
    const others = refusal !== null || deps === null ? 0 : await this.#countOthers(deps, removal);
    report.removed = report.isDryRun ? others : 0;
    if (report.isDryRun || deps === null || others === 0) return;
    if (await removal.isAllowed(others)) await this.#remove(deps, removal);
    else removal.onRefused("No row was removed");
  }

  async #countOthers(
    { tables }: WriteRowsDeps,
    { maxDeletes, requireGoingOn }: Removal,
  ): Promise<number> {
    const table = this.#table;
    let [all, others] = [0, 0];
    for await (const part of exportRows(tables, table)) {
      await requireGoingOn();
      all += part.length;
      others += this.#othersOf(part).length;
    }
    const limit = deleteLimit(table, maxDeletes, all);
    if (others <= limit) return others;
    const text = `${others} rows of "${table.name}" are not in the file, at most ${limit} may be removed; none was`;
    const hint = `If that is right, allow them with --max-deletes ${others} (max_deletes)`;
    throw new AppError("sync_failed", text, { hint });
  }

  async #remove(deps: WriteRowsDeps, removal: Removal): Promise<void> {
    const { report } = removal;
    const table = this.#table;
    const nowMs = await storeNowMs(deps.documents);
    for await (const part of exportRows(deps.tables, table)) {
      await removal.requireGoingOn();
      const deleted = this.#othersOf(part).map((row, index) => ({
        index,
        ...tombstoneOf(table, row, nowMs),
      }));
      if (deleted.length === 0) continue;
      const written = await writeRows(deps, table, { writes: [], deleted });
      report.removed = (report.removed ?? 0) + written.deleted;
      for (const { message } of written.refusedDeletes?.slice(0, 1) ?? []) {
        removal.onRefused(
          `Rows stay that the file does not have, ${written.refusedDeletes?.length} here: ${message}`,
        );
      }
    }
  }

  #othersOf(rows: readonly Row[]): Row[] {
    return rows.filter((row) => this.#keys.find({ key: keyText(this.#table, row) }).note === 0);
  }
}
