// Writes of rows within a transaction, over all attempts of a body. A refused record ends the transaction, so records are checked first,
// and what the server still refuses is found by tries that are taken back.
import type { ClientSession } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { isOfPeople } from "../../../domain/sync/people/name-facts.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  RowWrite,
  TableWrites,
  WriteFailure,
  WriteRule,
  Written,
} from "../../../ports/tables/table-writes.ts";
import { beginTurns } from "../driver/deadline.ts";
import { Rerun, runTransaction, type TransactionScope } from "../driver/transaction.ts";
import {
  type ChangedNames,
  joinedNames,
  namesChangedBy,
  type VersionedDeps,
} from "../driver/versions.ts";
import { type Learnt, RowWrites } from "./row-writes.ts";
import { changeRowsBy } from "./stored-rows.ts";
import { RefusedUpsert } from "./upsert-sender.ts";
import { mayInsert, planUpserts, type Upsert, type UpsertPlan } from "./upserts.ts";

/** The writes of a body in order, over all its attempts. */
export class BodyWrites {
  readonly #deps: VersionedDeps;
  readonly #filling: Set<string>;
  readonly #tableWrites: TableWrite[] = [];
  /** True once the body has tried to write or change rows. */
  hasRows = false;

  /** `filling`: names of tables whose last write had new rows only. */
  constructor(deps: VersionedDeps, filling: Set<string>) {
    this.#deps = deps;
    this.#filling = filling;
  }

  /** The write with this number, with what earlier attempts have learned. */
  at(number: number, table: Table): TableWrite {
    const known = this.#tableWrites[number];
    if (known?.table === table) return known;
    const write = new TableWrite(this.#deps, this.#filling, table);
    this.#tableWrites[number] = write;
    return write;
  }

  begin(tx: ClientSession): BodyTables {
    return new BodyTables(this.#deps, this, tx);
  }

  /** To be called after the commit. */
  end(): void {
    for (const write of this.#tableWrites) write.end();
  }
}

/** The rows that one attempt writes. */
export class BodyTables implements TableWrites {
  readonly #deps: VersionedDeps;
  readonly #bodyWrites: BodyWrites;
  readonly #tx: ClientSession;
  #begun = 0;
  readonly #changedTables = new Set<string>();
  #people: ChangedNames = [];
  #excludesPushes = false;

  constructor(deps: VersionedDeps, bodyWrites: BodyWrites, tx: ClientSession) {
    this.#deps = deps;
    this.#bodyWrites = bodyWrites;
    this.#tx = tx;
  }

  async write(table: Table, writes: readonly RowWrite[], rule: WriteRule = {}): Promise<Written> {
    const rows = [...writes.map(({ row }) => row), ...(rule.deleted ?? []).map(({ key }) => key)];
    this.#bodyWrites.hasRows ||= rows.length > 0;
    const written = await this.#bodyWrites.at(this.#begun++, table).write(writes, rule, this.#tx);
    const people = namesChangedBy(table, rows);
    if (written.changed + written.deleted > 0) this.#note(table, people);
    // A tombstone names a person even where no row was removed, and must not outlive an erasure.
    else if (rule.deleted !== undefined) this.#people = joinedNames(this.#people, people);
    return written;
  }

  async change(table: Table, column: string, value: string, fields: Row | null): Promise<void> {
    this.#bodyWrites.hasRows = true;
    const change = { fields, tx: this.#tx };
    const count = await changeRowsBy(this.#deps.db, table, [column, value], change);
    if (count > 0) this.#note(table, peopleOf(table, [column, value], fields));
  }

  async excludePushes(): Promise<void> {
    this.#excludesPushes = true;
    await this.#deps.versions.meetPushes(this.#tx);
  }

  /** Raises versions, also those of `others`. False when no row was written and no push excluded. */
  async finish(others: ChangedNames, lane: number): Promise<boolean> {
    const people = joinedNames(this.#people, others);
    const changes = { tables: this.#changedTables, people };
    await this.#deps.versions.raise(changes, { tx: this.#tx, lane });
    return this.#bodyWrites.hasRows || this.#excludesPushes;
  }

  #note({ name }: Table, people: ChangedNames): void {
    this.#changedTables.add(name);
    this.#people = joinedNames(this.#people, people);
  }
}

function peopleOf(
  table: Table,
  [column, value]: readonly [string, string],
  fields: Row | null,
): ChangedNames {
  if (!isOfPeople(table)) return [];
  if (column !== "username") return "everybody";
  const { username } = fields ?? {};
  return typeof username === "string" ? [value, username] : [value];
}

/** After so many new rows, the next write to the table is expected to have new rows only. */
const MIN_LOAD_ROWS = 100;

/** A write that may be attempted several times, and remembers what earlier attempts met. */
class TableWrite {
  readonly table: Table;
  readonly #deps: VersionedDeps;
  readonly #filling: Set<string>;
  readonly #learnt: Learnt = {
    insertsNew: true,
    readsFirst: false,
    meetsFirst: false,
    numbers: null,
  };
  /** Records that the server refused, by position. */
  readonly #refused = new Map<number, { readonly row: Row; readonly failure: WriteFailure }>();
  /** The records of the last attempt, and how many of their rows are new. */
  #records = 0;
  #newRows = 0;

  constructor(deps: VersionedDeps, filling: Set<string>, table: Table) {
    this.#deps = deps;
    this.#filling = filling;
    this.table = table;
  }

  /** Writes all records but refused ones. Throws `Rerun` when the transaction is over, and errors of the driver. */
  async write(writes: readonly RowWrite[], rule: WriteRule, tx: ClientSession): Promise<Written> {
    const plan = await beginTurns(this.#deps.clock).run(planUpserts(this.table, writes));
    const { upserts, failures } = this.#withoutRefused(plan);
    const learnt = this.#learnt;
    const { ordered } = plan;
    const mayBeNew = learnt.insertsNew && !ordered && plan.upserts.every(mayInsert);
    const isFilling = mayBeNew && this.#filling.has(this.table.name);
    const rows = new RowWrites(this.#deps, this.table, { rule, learnt, ordered, isFilling });
    try {
      const { newRows, ...written } = await rows.write(upserts, tx);
      this.#records = plan.upserts.length;
      this.#newRows = newRows;
      const all = [...failures, ...written.failures].sort((a, b) => a.index - b.index);
      return { ...written, failures: all };
    } catch (error) {
      if (!(error instanceof RefusedUpsert)) throw error;
      if (learnt.insertsNew) {
        learnt.insertsNew = false;
        throw new Rerun();
      }
      throw new Rerun((scope) => this.#findRefused(rows, upserts, error, scope));
    }
  }

  /** To be called after the commit. */
  end(): void {
    if (this.#records >= MIN_LOAD_ROWS && this.#newRows === this.#records) {
      this.#filling.add(this.table.name);
    } else if (this.#records > 0) this.#filling.delete(this.table.name);
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
      const tryOut = (tx: ClientSession) => rows.tryOut(rest, tx);
      const tried = runTransaction(scope, tryOut, (tx) => tx.abortTransaction());
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
