// Where pulled records are written here: each page, the marker behind it and what was refused of it in one commit. D-4.5,
// D-7.1, D-7.7.
import { isAppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { isLeftOut } from "../../../domain/sync/people/erasure.ts";
import { isOfPeople, personOf } from "../../../domain/sync/people/owned-row.ts";
import { convertPulled } from "../../../domain/sync/rows/convert.ts";
import { rowKey } from "../../../domain/sync/rows/row-key.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import { aheadLimit, rankTimes } from "../../../domain/sync/rows/time-rank.ts";
import { halves } from "../../../domain/sync/run/pacing.ts";
import type { RejectedRecord } from "../../../domain/sync/run/rejections.ts";
import { isVersioned, type Row } from "../../../domain/sync/table/table.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import type { RowWrite } from "../../../ports/tables/table-writes.ts";
import type { CommitExtras, RowsToWrite, WriteOutcome } from "../shared/write-rows.ts";
import type { OwnTransfer } from "./begin-transfer.ts";
import { commitRows } from "./commit.ts";
import { fillColumns, withoutEmpty } from "./fill-columns.ts";
import { type Rejection, TableRejections } from "./table-rejections.ts";

/** What came of some records. */
export interface AppliedRecords {
  readonly rejected: readonly Rejection[];
  /** Those that were not written, as the row here is newer. */
  readonly kept: readonly JsonObject[];
  /** Those that were left out, as the people whom they name were erased here. D-8.2. */
  readonly erased: number;
  /** Really written. */
  readonly changed: number;
}

/** What is committed with the rows that are here as they came, `changed` of them otherwise than before. */
export type ExtrasOfRows = (
  rows: readonly Row[],
  changed: number,
) => Pick<CommitExtras, "memory" | "exchanged">;

/** Records, the rows they make, and those that make none. */
interface WritePlan {
  readonly records: readonly JsonObject[];
  readonly writes: readonly RowWrite[];
  readonly refused: ReadonlyMap<number, string>;
}

/** Made anew for each part of the records; what stands for all of them belongs to the last. */
type MakeExtras = (isLast: boolean) => ExtrasOfRows;

type WriteRules = Omit<RowsToWrite, "writes" | "deleted">;

const NO_EXTRAS: MakeExtras = () => () => ({});

export class RecordWriter {
  readonly #transfer: OwnTransfer;
  readonly rejections: TableRejections;

  private constructor(transfer: OwnTransfer, rejections: TableRejections) {
    this.#transfer = transfer;
    this.rejections = rejections;
  }

  /** `waiting` are the rejected records that may be written; all by default. */
  static async open(
    transfer: OwnTransfer,
    waiting?: readonly RejectedRecord[],
  ): Promise<RecordWriter> {
    return new RecordWriter(transfer, await TableRejections.open(transfer, waiting));
  }

  /**
   * Writes records, and what goes with them, in one commit, or by halves where that cannot be. Throws the lease's reason when
   * that is lost, `sync_failed` when too many were rejected.
   */
  async write(
    records: readonly JsonObject[],
    makeExtras: MakeExtras = NO_EXTRAS,
  ): Promise<AppliedRecords> {
    const { conflict, run } = this.#transfer;
    const fields = { "repsync.rows": records.length };
    const options = conflict === null ? {} : { conflict };
    const commit = () => this.#commitParts(records, options, makeExtras, true);
    return await run.deps.tracing.inSpan("writePage", commit, { fields });
  }

  /**
   * Writes records that an earlier run rejected; one that is older than the row that is here by now is dropped. They may have
   * come from another remote, so they are sent to the one of now too. D-7.7, D-11.10.
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
    const [first, second] = halves(records);
    const before = await this.#commitParts(first, options, makeExtras, false);
    const after = await this.#commitParts(second, options, makeExtras, isLast);
    return {
      rejected: [...before.rejected, ...after.rejected],
      kept: [...before.kept, ...after.kept],
      erased: before.erased + after.erased,
      changed: before.changed + after.changed,
    };
  }

  async #commit(
    records: readonly JsonObject[],
    options: WriteRules,
    extrasOf: ExtrasOfRows,
  ): Promise<AppliedRecords> {
    const { rejections } = this;
    const { table } = this.#transfer;
    const all = await planWrites(this.#transfer, records);
    const isGuarded = (options.conflict ?? table.conflict) === "newer" && isVersioned(table);
    const older = isGuarded ? await this.#olderOf(all) : [];
    const planned = { ...all, refused: without(all.refused, older) };
    const plan = await this.#withoutErased(planned);
    const extras = (outcome: WriteOutcome) => {
      const { rejected, accepted, here } = sortOut(plan, outcome);
      return { ...rejections.extras(rejected, accepted), ...extrasOf(here, outcome.changed) };
    };
    const outcome = await commitRows(this.#transfer, { ...options, writes: plan.writes }, extras);
    const { rejected, accepted } = sortOut(plan, outcome);
    rejections.settle(rejected, accepted);
    const kept = [...older, ...outcome.kept].map((index) => records[index] ?? {});
    const filled = await fillColumns(this.#transfer, kept);
    const unusable = planned.refused.size - plan.refused.size;
    const erased = outcome.erased.length + unusable;
    return { rejected, kept, erased, changed: outcome.changed + filled };
  }

  /** Which of the refused ones the row here would keep out anyway. D-11.10. */
  async #olderOf({ records, refused }: WritePlan): Promise<readonly number[]> {
    const { run, table } = this.#transfer;
    const keys = new Map([...refused.keys()].map((i) => [i, rowKey(table, records[i] ?? {})]));
    const usable = [...keys.values()].filter((key) => key.isUsable).map((key) => key.columns);
    if (usable.length === 0) return [];
    const rows = await run.deps.tables.byKeys(table, usable, "sent");
    const times = new Map(rows.map((row) => [keyText(table, row), rowTime(table, row)]));
    const limit = aheadLimit(run.deps.clock.nowMs());
    return [...keys].flatMap(([index, { text }]) => {
      const here = times.get(text);
      if (here === undefined) return [];
      return rankTimes(rowTime(table, records[index] ?? {}), here, limit) < 0 ? [index] : [];
    });
  }

  /** What is not known to be a row of somebody who was erased is not kept among the rejected ones either. D-8.2. */
  async #withoutErased(plan: WritePlan): Promise<WritePlan> {
    const { run, table } = this.#transfer;
    const { records, refused } = plan;
    if (refused.size === 0 || !isOfPeople(table)) return plan;
    const named = [...refused].map(([index]) => [index, personOf(records[index] ?? {})] as const);
    const names = named.map(([, name]) => name).filter((name) => name !== null);
    const facts = await run.deps.names.readFacts([...new Set(names)]);
    const limit = aheadLimit(run.deps.clock.nowMs());
    const isErased = ([index, name]: readonly [number, string | null]) => {
      const erased = facts.get(name ?? "")?.erased ?? null;
      return erased !== null && isLeftOut(table, records[index] ?? {}, erased, limit);
    };
    const leftOut = named.filter(isErased).map(([index]) => index);
    return { ...plan, refused: without(refused, leftOut) };
  }
}

function without(refused: WritePlan["refused"], indices: readonly number[]): WritePlan["refused"] {
  return new Map([...refused].filter(([index]) => !indices.includes(index)));
}

/** Converts the records, with turns for others in between. D-7.9. */
async function planWrites(
  { run, table, silent }: OwnTransfer,
  records: readonly JsonObject[],
): Promise<WritePlan> {
  const { clock, timer } = run.deps;
  const turns = new Turns(clock, () => timer.sleep(0));
  const writes: RowWrite[] = [];
  const refused = new Map<number, string>();
  for (const [index, record] of records.entries()) {
    if (turns.isOver) await turns.next();
    const { write, problem } = convertPulled(table, record);
    if (write === null) refused.set(index, problem);
    else writes.push({ index, ...write, row: withoutEmpty(write.row, silent) });
  }
  return { records, writes, refused };
}

interface SortedOut {
  readonly rejected: readonly Rejection[];
  readonly accepted: readonly JsonObject[];
  /** The rows that are here as they came. */
  readonly here: readonly Row[];
}

function sortOut({ records, writes, refused }: WritePlan, outcome: WriteOutcome): SortedOut {
  const { failures, kept, erased } = outcome;
  const problems = new Map([...refused, ...failures.map((f) => [f.index, f.message] as const)]);
  const keptAt = new Set([...kept, ...erased]);
  const isHere = ({ index }: RowWrite) => !problems.has(index) && !keptAt.has(index);
  return {
    rejected: [...problems].map(([index, message]) => ({ record: records[index] ?? {}, message })),
    accepted: records.filter((_, index) => !problems.has(index)),
    here: writes.filter(isHere).map(({ row }) => row),
  };
}
