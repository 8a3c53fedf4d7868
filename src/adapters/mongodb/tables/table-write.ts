// A write of rows within a transaction. A refused record ends the transaction, so records are checked first, and what the server still
// refuses is found by tries that are taken back.

import type { ClientSession, Long } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  RowWrite,
  WriteFailure,
  WriteRule,
  Written,
} from "../../../ports/tables/table-writes.ts";
import { beginTurns } from "../driver/deadline.ts";
import { takeNumbers } from "../driver/id-counters.ts";
import { Rerun, type TransactionScope, tryTransaction } from "../driver/transaction.ts";
import { type ChangedNames, namesChangedBy, type VersionedDeps } from "../driver/versions.ts";
import { PartlyLate, RowWrites } from "./row-writes.ts";
import { RefusedUpsert } from "./upsert-sender.ts";
import { mayInsert, planUpserts, type Upsert, type UpsertPlan } from "./upserts.ts";

/** After so many new rows, the next write to the table is expected to have new rows only. */
const MIN_LOAD_ROWS = 100;

interface WrittenWithPeople extends Written {
  /** The people whose rows may have changed. */
  readonly people: ChangedNames;
}

/** A write that may be attempted several times, and remembers what earlier attempts met. */
export class TableWrite {
  readonly table: Table;
  readonly #deps: VersionedDeps;
  readonly #filling: Set<string>;
  /** False after a refusal: a unique index may have refused a row that counted as new. */
  #insertsNew = true;
  #readsFirst = false;
  #meetsFirst = false;
  /** Records that the server refused, by position. */
  readonly #refused = new Map<number, { readonly row: Row; readonly failure: WriteFailure }>();
  #numbers: { readonly first: Long; readonly count: number } | null = null;
  /** The records of the last attempt, and how many of their rows are new. */
  #records = 0;
  #newRows = 0;

  constructor(deps: VersionedDeps, filling: Set<string>, table: Table) {
    this.#deps = deps;
    this.#filling = filling;
    this.table = table;
  }

  /** Writes all records but refused ones. Throws `Rerun` when the transaction is over, and errors of the driver. */
  async write(
    writes: readonly RowWrite[],
    rule: WriteRule,
    tx: ClientSession,
  ): Promise<WrittenWithPeople> {
    const plan = await beginTurns(this.#deps.clock).run(planUpserts(this.table, writes));
    const { upserts, failures } = this.#withoutRefused(plan);
    const insertsNew = this.#insertsNew;
    const isFilling = insertsNew && isForInserts(plan) && this.#filling.has(this.table.name);
    const options = {
      ...rule,
      ordered: plan.ordered,
      insertsNew,
      isFilling,
      readsFirst: this.#readsFirst,
      meetsFirst: this.#meetsFirst,
      takeNumbers: (count: number) => this.#takeNumbers(count),
      onMeeting: () => {
        this.#meetsFirst = true;
      },
    };
    const rows = new RowWrites(this.#deps, this.table, options);
    try {
      const { newRows, ...written } = await rows.write(upserts, tx);
      this.#records = plan.upserts.length;
      this.#newRows = newRows;
      return {
        ...written,
        failures: [...failures, ...written.failures].sort((a, b) => a.index - b.index),
        people: changedPeople(this.table, writes, rule),
      };
    } catch (error) {
      if (error instanceof PartlyLate) {
        throw new Rerun(async () => {
          this.#readsFirst = true;
        });
      }
      if (!(error instanceof RefusedUpsert)) throw error;
      throw new Rerun(async (scope) => {
        if (this.#insertsNew) this.#insertsNew = false;
        else await this.#findRefused(rows, upserts, error, scope);
      });
    }
  }

  /** To be called after the commit. */
  end(): void {
    if (this.#records >= MIN_LOAD_ROWS && this.#newRows === this.#records) {
      this.#filling.add(this.table.name);
    } else if (this.#records > 0) this.#filling.delete(this.table.name);
  }

  /** The first of `count` numbers, of an earlier attempt where they suffice. Taken outside of the transaction, in which all writes would conflict. */
  async #takeNumbers(count: number): Promise<Long> {
    if (this.#numbers === null || this.#numbers.count < count) {
      const first = await takeNumbers(this.#deps.db, this.table.name, count);
      this.#numbers = { first, count };
    }
    return this.#numbers.first;
  }

  /** Leaves out refused upserts, unless the record has changed since. */
  #withoutRefused(plan: UpsertPlan): Pick<UpsertPlan, "upserts" | "failures"> {
    if (this.#refused.size === 0) return plan;
    const upserts: Upsert[] = [];
    const failures = [...plan.failures];
    for (const upsert of plan.upserts) {
      const refused = this.#refused.get(upsert.index);
      if (refused !== undefined && this.#isSameRow(refused.row, upsert.row)) {
        failures.push(refused.failure);
      } else upserts.push(upsert);
    }
    return { upserts, failures };
  }

  /** True for rows that differ at most in their time, which a body may set anew in each attempt. */
  #isSameRow(a: Row, b: Row): boolean {
    if (a === b) return true;
    const textOf = (row: Row) =>
      JSON.stringify({ ...row, [this.table.timestampColumn ?? ""]: null });
    return textOf(a) === textOf(b);
  }

  /**
   * Finds the refused upserts, the first of which is known. A try ends at a refused upsert, and the next begins behind it, so each is sent
   * about once. The next attempt finds an upsert that is refused only together with others.
   */
  async #findRefused(
    rows: RowWrites,
    upserts: readonly Upsert[],
    first: RefusedUpsert,
    scope: TransactionScope,
  ): Promise<void> {
    const note = ({ upsert, failure }: RefusedUpsert, among: readonly Upsert[]) => {
      this.#refused.set(upsert.index, { row: upsert.row, failure });
      return among.findIndex(({ index }) => index === upsert.index) + 1;
    };
    let next = note(first, upserts);
    while (!scope.deadline.isOver()) {
      const rest = upserts.slice(next);
      const tried = tryTransaction(scope, (tx) => rows.tryOut(rest, tx));
      const failure: unknown = await tried.then(
        () => null,
        (error) => error,
      );
      if (failure === null) return;
      if (!(failure instanceof RefusedUpsert)) throw failure;
      next += note(failure, rest);
    }
    const message = `MongoDB refused more records than could be found in time: ${this.#refused.size} until then`;
    throw new AppError("commit_failed", message, { cause: first });
  }
}

/** True when the records can be inserted, if all keys are new. */
function isForInserts({ upserts, ordered }: UpsertPlan): boolean {
  return !ordered && upserts.every(mayInsert);
}

function changedPeople(
  table: Table,
  writes: readonly RowWrite[],
  { deleted = [] }: WriteRule,
): ChangedNames {
  return namesChangedBy(table, [...writes.map(({ row }) => row), ...deleted.map(({ key }) => key)]);
}
