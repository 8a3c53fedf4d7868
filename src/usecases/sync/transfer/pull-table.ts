// A pull: page by page, the rows here, the marker behind them and what was refused in one commit. D-4.5, D-7.1, D-7.7.
import { assert, isAppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { FIRST_TIME_MS } from "../../../domain/shared/time.ts";
import { peopleOf } from "../../../domain/sync/people/arrivals.ts";
import { isLeftOut, isOfPeople, personOf } from "../../../domain/sync/people/name-facts.ts";
import { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import { convertPulled, placeOfRefused } from "../../../domain/sync/rows/convert.ts";
import { aheadLimit, formatLike, rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Rejection } from "../../../domain/sync/run/rejections.ts";
import { bothChanges, isNoChange } from "../../../domain/sync/run/remote-memory.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import { askPage } from "../shared/remote-table.ts";
import { type MovedBatch, type MovedRecords, NOTHING_MOVED } from "../shared/run-context.ts";
import { type CommitExtras, planWrites, type RowsToWrite } from "../shared/write-rows.ts";
import type { OwnTransfer, Transfer } from "./open-transfer.ts";
import { TableRejections } from "./table-rejections.ts";
import {
  addUp,
  beginning,
  commitExtras,
  commitRows,
  fillColumns,
  inHalves,
  openExchange,
  openMarkers,
} from "./transfer-commits.ts";

/**
 * Pulls one table from its marker on: each page and the marker behind it in one commit, while the next page is on its way. D-4.5.
 * Throws `AppError`; committed pages stay, and the next run goes on behind them.
 */
export async function pullTable(transfer: Transfer): Promise<void> {
  const { deps, table, remote, report, handshake } = transfer;
  const { maxPageRows, clock } = deps;
  const markers = openMarkers(transfer, handshake.schema?.late ?? null);
  let begun = beginning(transfer, markers, true);
  const writer = new RecordWriter(transfer, await TableRejections.open(transfer));
  const exchange = await openExchange(transfer, markers);
  const retried = await retryRejected(writer);
  const size = remote.firstSize("page");
  const isTimelessFirst = handshake.schema !== null;
  const cursor = PullCursor.begin(table, markers.start, maxPageRows, isTimelessFirst);
  let isCounted = false;
  let asked = askPage(remote, cursor, size);
  for (let isDone = false; !isDone; ) {
    const pulled = await asked;
    report.addBytes(pulled);
    const accepted = cursor.accept(pulled.page);
    ({ isDone } = accepted);
    if (!isDone) asked = askPage(remote, cursor, size);
    if (accepted.totalRows !== null && !isCounted) {
      isCounted = true;
      report.start(accepted.totalRows + retried.rows);
      if (retried.rows > 0) report.batch(retried);
    }
    const records = accepted.records.filter((record) => !writer.rejections.isSettled(record));
    const passed = markers.advance(accepted.seenUpTo);
    if (records.length === 0 && isNoChange(passed)) continue;
    const beganMs = clock.monotonicMs();
    // Each part commits how the pull began, as a later one may fail; the last part also what the page has passed.
    const [atOnce, atEnd] = [begun, bothChanges(begun, passed)];
    const applied = await writer.write(records, (here, changed, isLast) =>
      exchange.extras(here, changed, isLast ? atEnd : atOnce),
    );
    begun = {};
    remote.progressed();
    const tookMs = clock.monotonicMs() - beganMs + (pulled.readMs ?? 0);
    size.takeIn(pulled.page.records.length, tookMs);
    report.expect((accepted.totalRows ?? 0) + retried.rows);
    if (records.length === 0) continue;
    const rows = Math.max(0, records.length - accepted.repeated);
    report.batch({ ...applied, rows, batchRows: pulled.page.limit });
  }
  report.countThere(cursor.tableRows);
  report.addRejected(-writer.rejections.replaced);
  await commitExtras(transfer, { memory: markers.finish() });
  await exchange.finish();
}

/** Retries the records that earlier runs rejected. */
async function retryRejected(writer: RecordWriter): Promise<MovedBatch> {
  const { rejections } = writer;
  let applied: AppliedRecords = { ...NOTHING_MOVED, stayed: [] };
  for await (const part of rejections.waitingParts()) {
    const records = part.map(({ record, key }) => record ?? key);
    applied = addUp(applied, await writer.retry(records));
  }
  return { ...applied, rows: rejections.waiting, batchRows: Math.max(1, rejections.waiting) };
}

/** By the markers, the totals of pages of one row, and the rejected records. Writes nothing. D-4.11. */
export async function countPulled(transfer: Transfer): Promise<void> {
  const { handshake, report, remote, table } = transfer;
  const { start } = openMarkers(transfer, handshake.schema?.late ?? null);
  const { waiting } = await TableRejections.open(transfer);
  const count = async (since: string | null) =>
    (await remote.pullPage({ since, offset: 0, limit: 1 })).page.total;
  const all = await count(null);
  let rows = waiting + all;
  if (start !== null && table.timestampColumn !== null) {
    const timed = await count(formatLike(start, FIRST_TIME_MS));
    rows = waiting + (await count(start)) + Math.max(0, all - timed);
  }
  report.start(rows);
  if (rows > 0) report.batch({ ...NOTHING_MOVED, rows, batchRows: rows });
}

interface AppliedRecords extends MovedRecords {
  /** Records that newer rows here kept out. */
  readonly stayed: readonly JsonObject[];
}

interface RefusedRecord extends Rejection {
  readonly index: number;
}

/**
 * Makes the state to commit with a part of the records: the rows of it that are here as they came, and how many of these were
 * different before. What stands for all records belongs to the last part.
 */
type MakeExtras = (
  here: readonly Row[],
  changed: number,
  isLast: boolean,
) => Pick<CommitExtras, "memory" | "exchanged">;

type WriteRules = Omit<RowsToWrite, "writes" | "deleted">;

const NO_EXTRAS: MakeExtras = () => ({});

/** Writes records of the remote here, for pulls, retries and repairs. */
export class RecordWriter {
  readonly #transfer: OwnTransfer;
  readonly rejections: TableRejections;

  constructor(transfer: OwnTransfer, rejections: TableRejections) {
    this.#transfer = transfer;
    this.rejections = rejections;
  }

  /** In one commit, or by halves. Throws the lease's reason when it is lost, and `sync_failed` when too many were rejected. */
  async write(
    records: readonly JsonObject[],
    makeExtras: MakeExtras = NO_EXTRAS,
  ): Promise<AppliedRecords> {
    const { conflict, deps, table } = this.#transfer;
    const fields = { "repsync.rows": records.length };
    // Repairs and forced runs bring back what was deleted here.
    const isGuarded = (conflict ?? table.conflict) === "newer";
    const options = { conflict: isGuarded ? "newer" : "restore" } as const;
    const commit = () => this.#commitParts(records, options, makeExtras, true);
    return await deps.tracing.inSpan("writePage", commit, { fields });
  }

  /**
   * Writes records that an earlier run rejected; one older than the row here is dropped. They may have come from another remote,
   * so the next push sends them, too. D-7.7, D-11.10.
   */
  async retry(records: readonly JsonObject[]): Promise<AppliedRecords> {
    const options = { conflict: "newer", isOwnRun: false } as const;
    return await this.#commitParts(records, options, NO_EXTRAS, true);
  }

  async #commitParts(
    records: readonly JsonObject[],
    options: WriteRules,
    makeExtras: MakeExtras,
    isLast: boolean,
  ): Promise<AppliedRecords> {
    try {
      return await this.#commit(records, options, makeExtras, isLast);
    } catch (error) {
      if (records.length < 2 || !isAppError(error, "batch_too_large")) throw error;
    }
    return await inHalves(records, (half, isLastHalf) =>
      this.#commitParts(half, options, makeExtras, isLast && isLastHalf),
    );
  }

  async #commit(
    records: readonly JsonObject[],
    options: WriteRules,
    makeExtras: MakeExtras,
    isLast: boolean,
  ): Promise<AppliedRecords> {
    const { rejections } = this;
    const { deps, table, silent } = this.#transfer;
    const { writes, failures } = await planWrites(deps, records, (record) => {
      const converted = convertPulled(table, withoutEmpty(record, silent));
      if (converted.row !== null) return converted;
      return placeOfRefused(table, record, converted.problem);
    });
    const refused = await this.#withoutErased(failures);
    let rejected: readonly RefusedRecord[] = [];
    let accepted: readonly JsonObject[] = [];
    const rows = { ...options, writes, isDivisible: true };
    const outcome = await commitRows(this.#transfer, rows, (result) => {
      const failed = result.failures.map((one) => {
        return { ...one, record: recordAt(records, one.index) };
      });
      rejected = [...refused, ...failed];
      const rejectedAt = new Set(rejected.map(({ index }) => index));
      accepted = records.filter((_, index) => !rejectedAt.has(index));
      const leftAt = new Set([...rejectedAt, ...result.kept, ...result.erased]);
      const here = writes.filter(({ index }) => !leftAt.has(index)).map(({ row }) => row);
      const extras = makeExtras(here, result.changed, isLast);
      return { ...rejections.extras(rejected, accepted), ...extras };
    });
    rejections.settle(rejected, accepted);
    const stayed = outcome.kept.map((index) => recordAt(records, index));
    const changed = outcome.changed + (await fillColumns(this.#transfer, stayed));
    const erased = outcome.erased.length + failures.length - refused.length;
    return { rejected, kept: stayed.length, stayed, erased, changed };
  }

  /** Refused records without those of people who were erased here. D-8.2. */
  async #withoutErased(refused: readonly RefusedRecord[]): Promise<readonly RefusedRecord[]> {
    const { deps, table } = this.#transfer;
    if (refused.length === 0 || !isOfPeople(table)) return refused;
    const facts = await deps.names.readFacts(peopleOf(refused.map(({ record }) => record)));
    const limit = aheadLimit(deps.clock.nowMs());
    return refused.filter(({ record }) => {
      const erased = facts.get(personOf(record) ?? "")?.erased ?? null;
      return erased === null || !isLeftOut(rowTime(table, record), erased, limit);
    });
  }
}

function recordAt<Fields>(records: readonly Fields[], index: number): Fields {
  const record = records[index];
  assert(record !== undefined, "A store names records by their positions in the batch");
  return record;
}

/** The record without silent columns that are null: an end that has just got a column has no values in it. */
function withoutEmpty(record: JsonObject, silent: readonly string[]): JsonObject {
  if (!silent.some((name) => record[name] === null)) return record;
  const isEmpty = (name: string) => record[name] === null && silent.includes(name);
  return Object.fromEntries(Object.entries(record).filter(([name]) => !isEmpty(name)));
}
