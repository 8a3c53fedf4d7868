import type { Db, MongoClient } from "mongodb";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { RowWrite, WriteFailure, WriteOptions } from "../../../ports/tables/table-store.ts";
import { type Deadline, type Stopwatch, startDeadline } from "../driver/deadline.ts";
import { toCommitError } from "../driver/errors.ts";
import { IdCounters, type IdRange } from "../driver/id-counters.ts";
import type { TableVersions } from "../driver/table-versions.ts";
import { PushTransaction } from "./push-transaction.ts";
import { hasNumbers } from "./table-layout.ts";
import { planWrites } from "./write-statements.ts";

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
  readonly markers: ReadonlyMap<string, string>;
  readonly beforeCommit: () => void;
  readonly slot: number;
  readonly deadline: Deadline;
}

/** Fewest new rows after which the next push to the table is expected to bring only new ones, too. */
const MIN_LOAD_ROWS = 100;

/** Writes pushes. */
export class TableWriter {
  readonly #parts: TableWriterParts;
  readonly #counters: IdCounters;
  /** Tables that are being filled. */
  readonly #filling = new Set<string>();

  constructor(parts: TableWriterParts) {
    this.#parts = parts;
    this.#counters = new IdCounters(parts.db);
  }

  /** Expects the next push to these tables to bring new rows only. */
  expectNewRows(tableNames: readonly string[]): void {
    for (const name of tableNames) this.#filling.add(name);
  }

  async write(
    table: Table,
    writes: readonly RowWrite[],
    { markers = new Map(), beforeCommit = () => {} }: WriteOptions = {},
  ): Promise<readonly WriteFailure[]> {
    if (writes.length === 0 && markers.size === 0) return [];
    const { clock, versions } = this.#parts;
    const deadline = startDeadline(clock);
    try {
      return await versions.withSlot((slot) =>
        this.#push({ table, writes, markers, beforeCommit, slot, deadline }),
      );
    } catch (error) {
      throw toCommitError(error);
    }
  }

  async #push(planned: PlannedPush): Promise<readonly WriteFailure[]> {
    const { table, writes, deadline } = planned;
    const wanted = { tableName: table.name, count: writes.length };
    const takesIds = hasNumbers(table) && writes.length > 0;
    const ids: IdRange | null = takesIds ? await this.#counters.take(wanted, deadline) : null;
    const plan = planWrites({ table, writes, firstId: ids?.first ?? null });
    const { statements, ordered } = plan;
    const isWhole = !ordered && plan.failures.length === 0;
    const expectsNewKeys = isWhole && this.#filling.has(table.name);
    const push = {
      ...this.#parts,
      ...planned,
      tableName: table.name,
      ids,
      ordered,
      expectsNewKeys,
    };
    const { insertedRows, failures } = await new PushTransaction(push).commit(statements);
    const isFilling = insertedRows === statements.length && insertedRows >= MIN_LOAD_ROWS;
    if (isFilling) this.#filling.add(table.name);
    else if (statements.length > 0) this.#filling.delete(table.name);
    if (ids !== null) await this.#counters.giveBack(ids, insertedRows);
    return [...plan.failures, ...failures].toSorted((a, b) => a.index - b.index);
  }
}
