// One write of rows within a transaction. A record that the server refuses ends the whole transaction, so what may be refused
// is checked before, and what is refused still is found by tries that are taken back.
import type { ClientSession } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { earliestTime } from "../../../domain/sync/run/late-rows.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  RowWrite,
  WriteFailure,
  WriteRule,
  Written,
} from "../../../ports/tables/table-writes.ts";
import type { IdRange } from "../driver/id-counters.ts";
import type { VersionedDeps } from "../driver/person-changes.ts";
import { type ChangedNames, namesChangedBy } from "../driver/person-versions.ts";
import { type TransactionScope, tryTransaction } from "../driver/transaction.ts";
import { beginTurns } from "../driver/turns.ts";
import type { PushPlace } from "./push-place.ts";
import { PushRows, UnclearChange, type WriteWay, type WrittenRows } from "./push-rows.ts";
import { PushTombstones } from "./push-tombstones.ts";
import { RefusedUpsert } from "./push-writer.ts";
import { Rerun } from "./rerun.ts";
import { planInSteps, type Upsert, type UpsertPlan } from "./upserts.ts";

/** Upserts sent first behind a refused one, then twice as many each time: the next refused one may be near. */
const FIRST_TRIED = 8;

/** What a write did. */
interface Pushed extends Omit<Written, "visibleMs"> {
  /** The people whose rows may have changed. */
  readonly people: ChangedNames;
}

/** What became of the records, and of rows that tombstones removed. */
interface PushedRows extends WrittenRows {
  readonly deleted: number;
}

/** One attempt at a write. */
interface Attempt {
  readonly rule: WriteRule;
  readonly upserts: readonly Upsert[];
  readonly rows: PushRows;
  /** Null for a table without `deletes`. */
  readonly tombstones: PushTombstones | null;
}

/** A write, which may be attempted several times and knows each time what the attempts before have met. */
export class TablePush {
  readonly table: Table;
  readonly #place: PushPlace;
  /** Null before the first attempt. */
  #way: WriteWay | null = null;
  /** The records that the server refused, by position. */
  readonly #refused = new Map<number, { readonly row: Row; readonly failure: WriteFailure }>();
  #ids: IdRange | null = null;
  #planned: { readonly writes: readonly RowWrite[]; readonly plan: UpsertPlan } | null = null;
  #insertedRows = 0;

  constructor(place: PushPlace, table: Table) {
    this.#place = place;
    this.table = table;
  }

  get #deps(): VersionedDeps {
    return this.#place.deps;
  }

  /** Writes all records but the refused ones. Throws `Rerun` when the transaction is over, and driver errors. */
  async write(writes: readonly RowWrite[], rule: WriteRule, tx: ClientSession): Promise<Pushed> {
    const plan = await this.#plan(writes);
    const { upserts, failures } = this.#withoutRefused(plan);
    const attempt = this.#begin(upserts, rule, plan.ordered);
    this.#way ??= this.#firstWay(plan, attempt);
    try {
      const written = await this.#write(attempt, this.#way, tx);
      this.#insertedRows = written.inserted.length;
      return this.#pushed(written, failures, changedPeople(this.table, writes, rule));
    } catch (error) {
      throw this.#rerunAfter(error, attempt, this.#way);
    }
  }

  /** To be called once the last attempt is committed. */
  async end(): Promise<void> {
    const records = this.#planned?.plan.upserts.length ?? 0;
    this.#place.noteInserted(this.table, this.#insertedRows, records);
    await this.#place.giveBack(this.#ids, this.#insertedRows);
  }

  async #plan(writes: readonly RowWrite[]): Promise<UpsertPlan> {
    if (this.#planned?.writes === writes) return this.#planned.plan;
    // Another attempt may have more records: the numbers of the one before are then left out.
    if (this.#ids === null || this.#ids.count < writes.length) {
      this.#ids = await this.#place.takeIds(this.table, writes.length);
    }
    const steps = planInSteps(this.table, writes, this.#ids?.first ?? null);
    const plan = await beginTurns(this.#deps.clock).run(steps);
    this.#planned = { writes, plan };
    return plan;
  }

  #begin(upserts: readonly Upsert[], rule: WriteRule, ordered: boolean): Attempt {
    const { table } = this;
    const deps = this.#deps;
    const tombstones = table.deletes ? new PushTombstones(deps, table, rule) : null;
    const rows = new PushRows(deps, table, { ...rule, ordered, ids: this.#ids });
    return { rule, upserts, rows, tombstones };
  }

  #firstWay(plan: UpsertPlan, { rows, upserts }: Attempt): WriteWay {
    const expectsNewKeys = isForInserts(plan) && this.#place.isFilling(this.table);
    return expectsNewKeys ? "inserting" : rows.wayFor(upserts);
  }

  /** The upserts of a plan but those that were refused. A record that is another one now may be taken. */
  #withoutRefused(plan: UpsertPlan): Pick<UpsertPlan, "upserts" | "failures"> {
    if (this.#refused.size === 0) return plan;
    const upserts: Upsert[] = [];
    const failures = [...plan.failures];
    for (const upsert of plan.upserts) {
      const refused = this.#refused.get(upsert.index);
      if (refused !== undefined && isSameRow(refused.row, upsert.row)) {
        failures.push(refused.failure);
      } else upserts.push(upsert);
    }
    return { upserts, failures };
  }

  async #write(attempt: Attempt, way: WriteWay, tx: ClientSession): Promise<PushedRows> {
    const { upserts, rows } = attempt;
    const buried = await this.#bury(attempt, upserts, tx);
    const written = await rows.write(way, buried?.upserts ?? upserts, tx);
    const kept = [...written.kept, ...(buried?.kept ?? [])];
    const keptTimes = [...written.keptTimes, ...(buried?.keptTimes ?? [])];
    return { ...written, kept, keptTimes, deleted: buried?.deleted ?? 0 };
  }

  async #bury({ rule, tombstones }: Attempt, upserts: readonly Upsert[], tx: ClientSession) {
    if (tombstones === null) return undefined;
    return await tombstones.apply(rule.deleted ?? [], upserts, tx);
  }

  #pushed(written: PushedRows, refused: readonly WriteFailure[], people: ChangedNames): Pushed {
    const failures = [...refused, ...written.failures];
    return {
      failures: failures.toSorted((a, b) => a.index - b.index),
      kept: written.kept.toSorted((a, b) => a - b),
      changed: written.inserted.length + written.changedRows,
      deleted: written.deleted,
      earliestChanged: earliestTime(written.changedTimes),
      earliestKept: earliestTime(written.keptTimes),
      people,
    };
  }

  #rerunAfter(error: unknown, attempt: Attempt, way: WriteWay): unknown {
    if (error instanceof UnclearChange) return this.#rerunBy("deciding");
    if (!(error instanceof RefusedUpsert)) return error;
    if (way === "inserting") return this.#rerunBy(attempt.rows.wayFor(attempt.upserts));
    return new Rerun((scope) => this.#findRefused(attempt, way, error, scope));
  }

  #rerunBy(way: WriteWay): Rerun {
    return new Rerun(async () => {
      this.#way = way;
    });
  }

  /**
   * Finds every upsert from the first refused one on that the server refuses. A try ends at the first, the next one goes on
   * behind it, so each upsert is sent about once. What is refused only together with others shows in the next attempt.
   */
  async #findRefused(
    attempt: Attempt,
    way: WriteWay,
    first: RefusedUpsert,
    scope: TransactionScope,
  ): Promise<void> {
    const { upserts, rows } = attempt;
    // It may have been sent with another row.
    const note = (refused: RefusedUpsert, among: readonly Upsert[]) => {
      const place = among.findIndex(({ index }) => index === refused.upsert.index);
      const { index, row } = among[place] as Upsert;
      this.#refused.set(index, { row, failure: refused.failure });
      return place + 1;
    };
    let next = note(first, upserts);
    while (!scope.deadline.isOver()) {
      const rest = upserts.slice(next);
      const tried = tryTransaction(scope, async (tx) => {
        const buried = await this.#bury(attempt, rest, tx);
        await rows.tryOut(way, buried?.upserts ?? rest, FIRST_TRIED, tx);
      });
      const refused = await refusalOf(tried);
      if (refused === null) return;
      next += note(refused, rest);
    }
    const message = `MongoDB refused more records than could be found in time: ${this.#refused.size} until then`;
    throw new AppError("commit_failed", message, { cause: first });
  }
}

/** True when the records of a plan can be inserted as they are, if all their keys are new. */
function isForInserts({ upserts, ordered, failures }: UpsertPlan): boolean {
  const isWhole = !ordered && failures.length === 0 && upserts.length > 0;
  return isWhole && upserts.every(({ refusedIfNew }) => refusedIfNew === undefined);
}

function isSameRow(a: Row, b: Row): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function changedPeople(
  table: Table,
  writes: readonly RowWrite[],
  { deleted = [] }: WriteRule,
): ChangedNames {
  return namesChangedBy(table, [...writes.map(({ row }) => row), ...deleted.map(({ key }) => key)]);
}

/** The refusal that ended a try; null when all of it was taken. */
async function refusalOf(tried: Promise<void>): Promise<RefusedUpsert | null> {
  try {
    await tried;
    return null;
  } catch (error) {
    if (error instanceof RefusedUpsert) return error;
    throw error;
  }
}
