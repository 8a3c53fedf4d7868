import type { Db, MongoClient } from "mongodb";
import { AppError } from "../../domain/errors.ts";
import type { Table } from "../../domain/sync/table.ts";
import type { RowWrite, WriteFailure } from "../../ports/table-store.ts";
import { type Deadline, type Stopwatch, startDeadline } from "./deadline.ts";
import { IdCounters, type IdRange } from "./id-counters.ts";
import { hasCode, isPassing, isUnreachable, refusalWord, toAppError } from "./mongo-errors.ts";
import { PushTransaction } from "./push-transaction.ts";
import type { TableVersions } from "./table-versions.ts";
import { planWrites } from "./write-statements.ts";

/** Server code TransactionTooLargeForCache. */
const TOO_LARGE_FOR_CACHE = 388;

/** What a writer works with. */
export interface TableWriterParts {
  readonly client: MongoClient;
  readonly db: Db;
  readonly clock: Stopwatch;
  readonly versions: TableVersions;
}

interface PlannedPush {
  readonly table: Table;
  readonly writes: readonly RowWrite[];
  readonly slot: number;
  readonly deadline: Deadline;
}

/** Writes pushes. */
export class TableWriter {
  readonly #parts: TableWriterParts;
  readonly #counters: IdCounters;

  constructor(parts: TableWriterParts) {
    this.#parts = parts;
    this.#counters = new IdCounters(parts.db);
  }

  async write(table: Table, writes: readonly RowWrite[]): Promise<readonly WriteFailure[]> {
    if (writes.length === 0) return [];
    const { clock, versions } = this.#parts;
    const deadline = startDeadline(clock);
    try {
      return await versions.withSlot((slot) => this.#push({ table, writes, slot, deadline }));
    } catch (error) {
      throw writeError(error);
    }
  }

  async #push({ table, writes, slot, deadline }: PlannedPush): Promise<readonly WriteFailure[]> {
    const isNumbered = table.columns.some((column) => column.autoIncrement && !column.isKey);
    const wanted = { tableName: table.name, count: writes.length };
    const ids: IdRange | null = isNumbered ? await this.#counters.take(wanted, deadline) : null;
    const plan = planWrites({ table, writes, firstId: ids?.first ?? null });
    const { ordered } = plan;
    const push = { ...this.#parts, tableName: table.name, ids, ordered, slot, deadline };
    const { insertedRows, failures } = await new PushTransaction(push).commit(plan.statements);
    if (ids !== null) await this.#counters.giveBack(ids, insertedRows);
    return [...plan.failures, ...failures].toSorted((a, b) => a.index - b.index);
  }
}

/** Here nothing was written: a commit with an unknown outcome is an `AppError` already. */
function writeError(error: unknown): AppError {
  if (error instanceof AppError || isUnreachable(error)) return toAppError(error);
  return new AppError("commit_failed", commitProblem(error), { cause: error });
}

function commitProblem(error: unknown): string {
  if (hasCode(error, TOO_LARGE_FOR_CACHE)) {
    return "The batch is too large for one transaction of this MongoDB: send fewer records at once";
  }
  return isPassing(error)
    ? `MongoDB could not commit the batch in time: ${refusalWord(error)}`
    : `MongoDB refused the batch: ${refusalWord(error)}`;
}
