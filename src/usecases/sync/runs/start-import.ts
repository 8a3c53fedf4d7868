// An import of a file that comes by HTTP: watched as runs are, from its first byte to its last. D-14.4.
import type { AppError } from "../../../domain/shared/errors.ts";
import type { ImportEvent } from "../../../domain/sync/run/import-events.ts";
import type { ImportRun, RunStatus } from "../../../domain/sync/run/run.ts";
import { requireOwned } from "../../../domain/sync/run/table-owner.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import type { FileFormat, FileFormats } from "../../../ports/files.ts";
import { type FormOptions, importEntry, withFileForm } from "../files/file-form.ts";
import { recordsOf } from "../files/file-records.ts";
import { ImportReport, importFile } from "../files/import-file.ts";
import { DryWriter, StoreWriter } from "../files/import-writer.ts";
import { numbersOf, requireNumbered } from "../files/record-reader.ts";
import { WholeFile } from "../files/whole-file.ts";
import { requireDeletes } from "../pages/delete-rows.ts";
import { asSyncError, type SyncDeps } from "../shared/sync-deps.ts";
import { rowsElsewhere } from "../shared/sync-status.ts";
import { StartedWork } from "./started-work.ts";

interface ImportDeps extends SyncDeps {
  readonly files: FileFormats;
}

export interface ImportRequest {
  readonly tableName: string;
  readonly format: FileFormat;
  readonly form: FormOptions;
  readonly isDryRun: boolean;
  readonly isLax: boolean;
  /** Also into a table whose rows the remote owns. */
  readonly isForced: boolean;
  /** Gives records the numbers behind those of the rows here. */
  readonly isAppending: boolean;
  /** Brings back rows of a stamped table that were deleted. */
  readonly restores: boolean;
  /** Not null: rows that are not in the file are removed afterwards. `maxDeletes`: null for the limit of the registry. */
  readonly whole: { readonly maxDeletes: number | null } | null;
  /** Opens the file, called at once; reading ends with the reason of `stop` when that is aborted. */
  open(stop: AbortSignal): AsyncIterable<Uint8Array>;
  /** Asked before each batch; what it throws ends the import. */
  requireStill(): Promise<void>;
  /** Notes the rows written, however the import ends. Not called in a dry run. */
  note(counts: Readonly<Record<string, number>>): Promise<void>;
}

const PROGRESS_MS = 500;

export class StartedImport extends StartedWork<ImportEvent, ImportRun> {
  /** Never rejects. */
  readonly outcome: Promise<ImportRun>;
  readonly #table: Table;
  readonly #request: ImportRequest;
  readonly #report: ImportReport;
  error: AppError | null = null;

  /** Starts it. Throws `unknown_table`, `invalid_request` and `conflict`; every other failure is an event. */
  constructor(deps: ImportDeps, request: ImportRequest) {
    const { format, form, isDryRun } = request;
    const named = (name: string) => name.replaceAll("-", "_");
    const given = importEntry(form, format, named);
    const table = withFileForm(findTable(deps.registry, request.tableName), given, named);
    if (!request.isForced) requireOwned(table, "conflict", "Import there, or with force here");
    if (request.isAppending) requireNumbered(table, "append");
    if (request.whole !== null) requireDeletes(table);
    super(deps, { text: "The import was stopped", hint: "Import the file again" });
    this.#table = table;
    this.#request = request;
    this.#report = new ImportReport(table.name, isDryRun);
    const bytes = request.open(this.stopping);
    this.outcome = this.perform({
      name: "importFile",
      fields: { "repsync.table": table.name, "repsync.dry_run": isDryRun },
      open: () => bytes,
      do: (file) => this.#import(deps, file),
    });
  }

  async #import(deps: ImportDeps, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const [table, request, report, stop] = [
      this.#table,
      this.#request,
      this.#report,
      this.stopping,
    ];
    const { format, isDryRun, isLax, isAppending, restores } = request;
    const { tables, files } = deps;
    const numbers = await numbersOf(table, format, isAppending ? { tables } : null);
    const stamps = { fileTime: null, restores };
    if (isDryRun) await tables.settled(table);
    const writer = isDryRun
      ? new DryWriter(deps, table, stamps)
      : new StoreWriter(deps, table, stamps);
    const whole = request.whole === null ? null : new WholeFile(writer, table);
    const encoding = request.form.encoding ?? null;
    const chunks = (known: typeof encoding) =>
      files.decode(bytes, { name: "The file", encoding: known });
    const tellProgress = () => this.publish({ type: "progress", rows: report.counts.read });
    try {
      const elsewhere = await rowsElsewhere(deps, table);
      if (elsewhere !== null) report.addNote(`${elsewhere}: pull them instead, with their times`);
      await importFile(whole ?? writer, {
        table,
        isLax,
        numbers,
        append: "append",
        report,
        names: deps.names,
        stop,
        requireStill: () => request.requireStill(),
        records: recordsOf(files, { format, table, encoding, chunks }),
        onProgress: () => this.atMostEvery(PROGRESS_MS, tellProgress),
      });
      await whole?.removeOthers({
        deps,
        report,
        maxDeletes: request.whole?.maxDeletes ?? null,
        async requireGoingOn() {
          stop.throwIfAborted();
          await request.requireStill();
        },
        isAllowed: async () => true,
        onRefused: (text) => report.addNote(text),
      });
    } finally {
      if (!isDryRun) await this.#note();
    }
    this.publish({ type: "done", ...report.result() });
  }

  async #note(): Promise<void> {
    const { new: added, changed, same, failed } = this.#report.counts;
    const { removed, table } = this.#report;
    const counts = { new: added, changed, same, failed };
    try {
      await this.#request.note(removed === null ? counts : { ...counts, removed });
    } catch (error) {
      // The rows are there all the same.
      this.deps.logger.error("An import was not noted", error, { table });
    }
  }

  fail(cause: unknown): void {
    const table = this.#table.name;
    this.deps.logger.warn("Import failed", { table, error: String(cause) });
    this.error = asSyncError(cause);
    const result = this.#report.result();
    this.publish({ type: "error", table, error: this.error.text, result });
  }

  protected get isPartial(): boolean {
    return this.#report.counts.failed > 0;
  }

  describe(status: RunStatus): ImportRun {
    const { runId } = this;
    const table = this.#table.name;
    return { runId, kind: "import", trigger: "api", status, table, ...this.times(status) };
  }
}
