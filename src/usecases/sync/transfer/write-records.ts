// Writes records of the remote here, for pulls and repairs: the rows of a page, the marker behind it and what was
// refused of it in one commit. D-4.5, D-7.1, D-7.7.
import { assert, isAppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { peopleOf } from "../../../domain/sync/people/arrivals.ts";
import { isLeftOut, isOfPeople, personOf } from "../../../domain/sync/people/name-facts.ts";
import { convertPulled, placeOfRefused } from "../../../domain/sync/rows/convert.ts";
import { keyText, recordKey } from "../../../domain/sync/rows/row-key.ts";
import { aheadLimit, rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Rejection } from "../../../domain/sync/run/rejections.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { RowWrite } from "../../../ports/tables/table-writes.ts";
import type { MovedRecords } from "../shared/run-context.ts";
import {
  type CommitExtras,
  changesOf,
  planWrites,
  type RowsToWrite,
  type WriteOutcome,
} from "../shared/write-rows.ts";
import type { TableRejections } from "./table-rejections.ts";
import { commitRows, inHalves, type OwnTransfer } from "./transfer.ts";

export interface AppliedRecords extends MovedRecords {
  /** Records that newer rows here kept out. */
  readonly stayed: readonly JsonObject[];
}

/** Makes the state to commit with rows that are here as they came, `changed` of which were different before. */
export type ExtrasOfRows = (
  rows: readonly Row[],
  changed: number,
) => Pick<CommitExtras, "memory" | "exchanged">;

/** Records, the rows they make, and those that make none. */
interface WritePlan {
  readonly records: readonly JsonObject[];
  readonly writes: readonly RowWrite[];
  readonly refused: readonly RefusedRecord[];
}

/** A record that can be no row here. */
interface RefusedRecord extends Rejection {
  readonly index: number;
}

/** Makes the extras of a part of the records; those that stand for all of them belong to the last part. */
type MakeExtras = (isLast: boolean) => ExtrasOfRows;

type WriteRules = Omit<RowsToWrite, "writes" | "deleted">;

const NO_EXTRAS: MakeExtras = () => () => ({});
/** Attempts to fill a row that others write to. */
const MAX_TRIES = 3;

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
      return await this.#commit(records, { ...options, isDivisible: true }, makeExtras(isLast));
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
    extrasOf: ExtrasOfRows,
  ): Promise<AppliedRecords> {
    const { rejections } = this;
    const { deps, table, silent } = this.#transfer;
    const { writes, failures } = await planWrites(deps, records, (record) => {
      const converted = convertPulled(table, record);
      if (converted.row === null) return placeOfRefused(table, record, converted.problem);
      return { ...converted, row: withoutEmpty(converted.row, silent) };
    });
    const refused = await this.#withoutErased(failures);
    const plan = { records, writes, refused };
    const extras = (outcome: WriteOutcome) => {
      const { rejected, accepted, here } = sortOut(plan, outcome);
      return { ...rejections.extras(rejected, accepted), ...extrasOf(here, outcome.changed) };
    };
    const outcome = await commitRows(this.#transfer, { ...options, writes }, extras);
    const { rejected, accepted } = sortOut(plan, outcome);
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

/** `here`: the rows that are here as they came. */
function sortOut({ records, writes, refused }: WritePlan, outcome: WriteOutcome) {
  const { failures, kept, erased } = outcome;
  const failed = failures.map((one) => ({ ...one, record: recordAt(records, one.index) }));
  const rejected = [...refused, ...failed];
  const rejectedAt = new Set(rejected.map(({ index }) => index));
  const leftAt = new Set([...rejectedAt, ...kept, ...erased]);
  return {
    rejected,
    accepted: records.filter((_, index) => !rejectedAt.has(index)),
    here: writes.filter(({ index }) => !leftAt.has(index)).map(({ row }) => row),
  };
}

function recordAt<Fields>(records: readonly Fields[], index: number): Fields {
  const record = records[index];
  assert(record !== undefined, "A store names records by their positions in the batch");
  return record;
}

/** The row without silent columns that are null: an end that has just got a column has no values in it. */
function withoutEmpty(row: Row, silent: readonly string[]): Row {
  if (!silent.some((name) => row[name] === null)) return row;
  const isEmpty = (name: string) => row[name] === null && silent.includes(name);
  return Object.fromEntries(Object.entries(row).filter(([name]) => !isEmpty(name)));
}

/**
 * Fills added columns that are null in rows that stayed here, and changes nothing else. A row that changes meanwhile is looked at
 * again. Resolves to the number of rows changed. D-7.3.
 */
async function fillColumns(transfer: OwnTransfer, stayed: readonly JsonObject[]): Promise<number> {
  const { table, added } = transfer;
  const offered = new Map<string, Row>();
  for (const record of added.length === 0 ? [] : stayed) {
    const { row } = convertPulled(table, record);
    if (row !== null) offered.set(keyText(table, row), row);
  }
  let changed = 0;
  for (let tries = 0; tries < MAX_TRIES && offered.size > 0; tries++) {
    const rows = await filledRows(transfer, offered);
    if (rows.length === 0) break;
    const outcome = await commitRows(transfer, { writes: changesOf(rows), conflict: "newer" });
    changed += outcome.changed;
    const keptKeys = new Set(outcome.kept.map((index) => keyText(table, recordAt(rows, index))));
    for (const key of offered.keys()) if (!keptKeys.has(key)) offered.delete(key);
  }
  return changed;
}

/** The rows with something to fill: their key and time here, and the columns to fill. */
async function filledRows(
  { deps, table, added }: OwnTransfer,
  offered: ReadonlyMap<string, Row>,
): Promise<Row[]> {
  const keys = [...offered.values()].map((row) => recordKey(table, row));
  const stored = await deps.tables.byKeys(table, keys, "sent");
  return stored.flatMap((row) => {
    const there = offered.get(keyText(table, row)) ?? {};
    const filled = added.filter((name) => isNull(row[name]) && !isNull(there[name]));
    if (filled.length === 0) return [];
    const values = filled.map((name): [string, Row[string]] => [name, there[name] ?? null]);
    return [{ ...placeOf(table, row), ...Object.fromEntries(values) }];
  });
}

function placeOf(table: Table, row: Row): Row {
  const { timestampColumn } = table;
  const time = timestampColumn === null ? {} : { [timestampColumn]: row[timestampColumn] ?? null };
  return { ...recordKey(table, row), ...time };
}

function isNull(value: Row[string] | undefined): boolean {
  return value === undefined || value === null;
}
