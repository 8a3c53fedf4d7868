// One push as one transaction. A record that the server refuses ends the whole transaction, so what may be refused is
// checked before, and what is refused still is found by tries that are taken back.
import type { ClientSession } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { aheadLimit } from "../../../domain/sync/rows/time-rank.ts";
import { isVersioned, type Table } from "../../../domain/sync/table/table.ts";
import type {
  WriteFailure,
  WriteOptions,
  WriteOutcome,
} from "../../../ports/tables/table-store.ts";
import type { IdRange } from "../driver/id-counters.ts";
import type { VersionedDeps } from "../driver/person-changes.ts";
import type { ChangedNames } from "../driver/person-versions.ts";
import { readNowMs } from "../driver/server-clock.ts";
import { commitTransaction, type TransactionScope, tryTransaction } from "../driver/transaction.ts";
import { ArrivingPeople } from "../people/arriving-people.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { setExtras } from "../runs/commit-extras.ts";
import { commitUnder } from "../runs/lease-store.ts";
import { noteLateTimes } from "./late-rows.ts";
import { lateTimesOf } from "./late-times.ts";
import { PushRows, UnclearChange, type WriteWay, type WrittenRows } from "./push-rows.ts";
import { PushTombstones } from "./push-tombstones.ts";
import { RefusedUpsert } from "./push-writer.ts";
import { StoredRows } from "./stored-rows.ts";
import { type Upsert, withRow } from "./upserts.ts";

/** Upserts sent first behind a refused one, then twice as many each time: the next refused one may be near. */
const FIRST_TRIED = 8;

export interface PushDeps extends VersionedDeps {
  readonly erasedNames: ErasedNames;
}

interface TablePushRequest {
  readonly table: Table;
  readonly upserts: readonly Upsert[];
  /** Records that are not sent. */
  readonly failures: readonly WriteFailure[];
  /** Whether the upserts take effect one after the other. */
  readonly ordered: boolean;
  /** Whether all keys are likely to be new. */
  readonly expectsNewKeys: boolean;
  /** Numbers for new rows, one per record; null for a table that is not numbered. */
  readonly ids: IdRange | null;
  readonly options: WriteOptions;
  /** The people whose rows it changes. */
  readonly people: ChangedNames;
  /** Lane of the table's version that no other push of this instance uses. */
  readonly lane: number;
}

interface TablePushResult {
  readonly outcome: WriteOutcome;
  readonly insertedRows: number;
  /** Whether it has noted late rows. */
  readonly hasLate: boolean;
}

/** What became of the records, and of rows that tombstones removed. */
interface Written extends WrittenRows {
  readonly deleted: number;
  /** Positions of the records of people who were erased. */
  readonly erased: readonly number[];
}

export class TablePush {
  readonly #deps: PushDeps;
  readonly #scope: TransactionScope;
  readonly #push: TablePushRequest;
  readonly #rows: PushRows;
  /** Null for a table without `deletes`. */
  readonly #tombstones: PushTombstones | null;
  /** Null for a table whose rows belong to nobody. */
  readonly #people: ArrivingPeople<Upsert> | null;

  constructor(deps: PushDeps, scope: TransactionScope, push: TablePushRequest) {
    this.#deps = deps;
    this.#scope = scope;
    this.#push = push;
    this.#rows = new PushRows(deps, push.table, { ...push.options, ...push });
    this.#tombstones = push.table.deletes
      ? new PushTombstones(deps, push.table, push.options)
      : null;
    this.#people = arrivingPeople(deps, push);
  }

  /**
   * Commits all upserts but the refused ones, with what belongs to them. Throws `AppError`, and driver errors after which
   * nothing was written.
   */
  async commit(): Promise<TablePushResult> {
    const failures: WriteFailure[] = [];
    let { upserts } = this.#push;
    let way: WriteWay = this.#push.expectsNewKeys ? "inserting" : this.#rows.wayFor(upserts);
    for (;;) {
      const result = await orProblem(this.#commitAll(way, upserts, failures));
      if (result instanceof UnclearChange) {
        way = "deciding";
      } else if (!(result instanceof RefusedUpsert)) {
        return result;
      } else if (way === "inserting") {
        way = this.#rows.wayFor(upserts);
      } else {
        const found = await this.#findRefused(way, upserts, result);
        failures.push(...found.map(({ failure }) => failure));
        const refused = new Set(found.map(({ upsert }) => upsert.index));
        upserts = upserts.filter(({ index }) => !refused.has(index));
      }
    }
  }

  #commitAll(
    way: WriteWay,
    upserts: readonly Upsert[],
    refused: readonly WriteFailure[],
  ): Promise<TablePushResult> {
    const { table, options, people, lane } = this.#push;
    const { db, versions } = this.#deps;
    return commitTransaction(this.#scope, async (tx) => {
      const written = await this.#write(way, upserts, tx);
      const outcome = this.#outcome(written, refused);
      if (outcome.changed + outcome.deleted > 0) await versions.raise(table.name, people, lane, tx);
      const hasLate = await this.#noteLate(written, tx);
      const extras = options.beforeCommit?.(outcome);
      if (extras !== undefined) await setExtras(db, table.name, extras, tx);
      if (options.lease !== undefined) await commitUnder(db, options.lease, tx);
      return { outcome, insertedRows: written.inserted.length, hasLate };
    });
  }

  async #write(way: WriteWay, upserts: readonly Upsert[], tx: ClientSession): Promise<Written> {
    const arrived = await this.#people?.meet(upserts, tx);
    const left = arrived?.records ?? upserts;
    const buried = await this.#bury(left, tx);
    const written = await this.#rows.write(way, buried?.upserts ?? left, tx);
    // What was merged with the owner's is told to where it came from, too.
    const merged = arrived?.merged.map(({ time }) => time) ?? [];
    const kept = [...written.kept, ...(arrived?.kept ?? []), ...(buried?.kept ?? [])];
    const keptTimes = [...written.keptTimes, ...merged, ...(buried?.keptTimes ?? [])];
    const deleted = buried?.deleted ?? 0;
    return { ...written, kept, keptTimes, deleted, erased: arrived?.erased ?? [] };
  }

  async #bury(upserts: readonly Upsert[], tx: ClientSession) {
    if (this.#tombstones === null) return undefined;
    const { deleted = [] } = this.#push.options;
    const arrived = (await this.#people?.withoutErased(deleted, tx)) ?? deleted;
    return await this.#tombstones.apply(arrived, upserts, tx);
  }

  #outcome(written: Written, refused: readonly WriteFailure[]): WriteOutcome {
    const failures = [...this.#push.failures, ...refused, ...written.failures];
    return {
      failures: failures.toSorted((a, b) => a.index - b.index),
      kept: written.kept.toSorted((a, b) => a - b),
      changed: written.inserted.length + written.changedRows,
      deleted: written.deleted,
      ...(written.erased.length === 0 ? {} : { erased: written.erased.toSorted((a, b) => a - b) }),
    };
  }

  async #noteLate(written: WrittenRows, tx: ClientSession): Promise<boolean> {
    const { table, options } = this.#push;
    const isTimed = [written.changedTimes, written.keptTimes].some((times) => times.length > 0);
    if (!isTimed || table.timestampColumn === null) return false;
    const nowMs = await readNowMs(this.#deps);
    const times = lateTimesOf(table, written, options.isOwnRun ?? false, nowMs);
    return await noteLateTimes(this.#deps.db, table.name, times, tx);
  }

  /**
   * Every upsert from the first refused one on that the server refuses. A try ends at the first, the next one goes on
   * behind it, so each upsert is sent about once. What is refused only together with others shows when the rest is
   * committed.
   */
  async #findRefused(
    way: WriteWay,
    upserts: readonly Upsert[],
    first: RefusedUpsert,
  ): Promise<RefusedUpsert[]> {
    const found = [first];
    let next = placeOf(upserts, first) + 1;
    while (!this.#scope.deadline.isOver()) {
      const rest = upserts.slice(next);
      const tried = tryTransaction(this.#scope, async (tx) => {
        const left = (await this.#people?.meet(rest, tx))?.records ?? rest;
        const buried = await this.#bury(left, tx);
        await this.#rows.tryOut(way, buried?.upserts ?? left, FIRST_TRIED, tx);
      });
      const outcome = await orProblem(tried);
      if (!(outcome instanceof RefusedUpsert)) return found;
      found.push(outcome);
      next += placeOf(rest, outcome) + 1;
    }
    const message = `MongoDB refused more records than could be found in time: ${found.length} until then`;
    throw new AppError("commit_failed", message, { cause: first });
  }
}

function arrivingPeople(
  deps: PushDeps,
  { table, options }: TablePushRequest,
): ArrivingPeople<Upsert> | null {
  const stored = new StoredRows(table, deps.db.collection(table.name), deps.clock);
  const isGuarded = (options.conflict ?? table.conflict) === "newer" && isVersioned(table);
  return ArrivingPeople.of<Upsert>(table, {
    db: deps.db,
    erasedNames: deps.erasedNames,
    readHere: (upserts, tx) => stored.readRows(upserts, tx),
    withRow: (upsert, row) => withRow(table, upsert, row),
    aheadLimit: async () => aheadLimit(await readNowMs(deps)),
    isGuarded,
  });
}

/** Where the record of a refused upsert is, which may have been sent with another row. */
function placeOf(upserts: readonly Upsert[], { upsert }: RefusedUpsert): number {
  return upserts.findIndex(({ index }) => index === upsert.index);
}

/** The result of work, or what ended it that another try takes care of. */
async function orProblem<T>(work: Promise<T>): Promise<T | RefusedUpsert | UnclearChange> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RefusedUpsert || error instanceof UnclearChange) return error;
    throw error;
  }
}
