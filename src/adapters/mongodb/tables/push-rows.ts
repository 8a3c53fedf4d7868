// How the rows of a push are written, within a transaction.
import type { ClientSession } from "mongodb";
import { compareDateTimes } from "../../../domain/shared/time.ts";
import { aheadLimit } from "../../../domain/sync/rows/time-rank.ts";
import { earliestTime } from "../../../domain/sync/run/late-rows.ts";
import { isVersioned, type Table } from "../../../domain/sync/table/table.ts";
import type { WriteFailure, WriteRule } from "../../../ports/tables/table-writes.ts";
import type { StoreDeps } from "../driver/operations.ts";
import { readNowMs } from "../driver/server-clock.ts";
import { beginTurns } from "../driver/turns.ts";
import { mayBeLateBefore, type PushedTimes } from "./late-times.ts";
import { decidePush, type PushDecision } from "./push-decision.ts";
import { PushWriter, type PushWriterOptions } from "./push-writer.ts";
import { StoredRows } from "./stored-rows.ts";
import type { Upsert } from "./upserts.ts";

/**
 * `inserting`: as new rows, at a quarter of the time, where all keys are likely to be new. `upserting`: without a look at
 * the rows that are there. `deciding`: what has to be written is found out first.
 */
export type WriteWay = "inserting" | "upserting" | "deciding";

/** What became of the records. */
export interface WrittenRows extends PushedTimes {
  readonly inserted: readonly Upsert[];
  /** Rows that were there and are now different. */
  readonly changedRows: number;
  /** Positions of the records that rank below the row here. */
  readonly kept: readonly number[];
  readonly failures: readonly WriteFailure[];
}

/** Some rows that may be late have changed and others have not, and the server does not say which. */
export class UnclearChange extends Error {}

const NOTHING: WrittenRows = {
  inserted: [],
  changedRows: 0,
  kept: [],
  failures: [],
  changedTimes: [],
  keptTimes: [],
};

export class PushRows {
  readonly #deps: StoreDeps;
  readonly #table: Table;
  readonly #writer: PushWriter;
  readonly #stored: StoredRows;
  readonly #isOrdered: boolean;
  readonly #isGuarded: boolean;

  constructor(
    deps: StoreDeps,
    table: Table,
    { conflict = table.conflict, ordered, ids }: WriteRule & PushWriterOptions,
  ) {
    const collection = deps.db.collection(table.name);
    this.#deps = deps;
    this.#table = table;
    this.#writer = new PushWriter(collection, { ordered, ids }, deps.clock);
    this.#stored = new StoredRows(table, collection, deps.clock);
    this.#isOrdered = ordered;
    this.#isGuarded = conflict === "newer" && isVersioned(table);
  }

  /** The way to write records of which some keys may be known. */
  wayFor(upserts: readonly Upsert[]): WriteWay {
    if (this.#isGuarded || upserts.some(({ refusedIfNew }) => refusedIfNew !== undefined)) {
      return "deciding";
    }
    const { timestampColumn: time, keyColumns, updateColumns } = this.#table;
    if (time === null) return "upserting";
    const given = updateColumns.length === 0 ? [] : [...keyColumns, ...updateColumns];
    const keepsTimes = given.length > 0 && given.every(({ name }) => name !== time);
    const mayKeepTime = keepsTimes || upserts.some(({ row }) => !Object.hasOwn(row, time));
    return this.#isOrdered || mayKeepTime ? "deciding" : "upserting";
  }

  /** Throws `RefusedUpsert`, and `UnclearChange` when only `deciding` finds out what has to be noted. */
  async write(way: WriteWay, upserts: readonly Upsert[], tx: ClientSession): Promise<WrittenRows> {
    if (upserts.length === 0) return NOTHING;
    if (way === "upserting") return await this.#upsert(upserts, tx);
    if (way === "deciding") return await this.#writeDecided(upserts, tx);
    await this.#writer.insert(upserts, tx);
    return { ...NOTHING, inserted: upserts, changedTimes: timesOf(upserts) };
  }

  /** Writes in parts, of which each has twice as many as the one before. Throws `RefusedUpsert`. */
  async tryOut(
    way: WriteWay,
    upserts: readonly Upsert[],
    firstCount: number,
    tx: ClientSession,
  ): Promise<void> {
    const sent = way === "deciding" ? (await this.#decide(upserts, tx)).sent : upserts;
    for (let i = 0, count = firstCount; i < sent.length; i += count, count *= 2) {
      await this.#writer.upsert(sent.slice(i, i + count), tx);
    }
  }

  /** Rows that may be late are written first: of them it matters which have changed. */
  async #upsert(upserts: readonly Upsert[], tx: ClientSession): Promise<WrittenRows> {
    const hasTimes = this.#table.timestampColumn !== null;
    const limit = hasTimes ? mayBeLateBefore(this.#table, await readNowMs(this.#deps)) : null;
    const [late, rest] = await this.#partByTime(upserts, limit);
    const first = await this.#writer.upsert(late, tx);
    const knownRows = late.length - first.inserted.length;
    if (first.changedRows > 0 && first.changedRows < knownRows) throw new UnclearChange();
    const second = await this.#writer.upsert(rest, tx);
    const inserted = [...first.inserted, ...second.inserted];
    await this.#writer.closeGaps(inserted, tx);
    return {
      ...NOTHING,
      inserted,
      changedRows: first.changedRows + second.changedRows,
      // The others are late only where the push takes longer than was foreseen; noted in vain they do no harm.
      changedTimes: [
        ...timesOf(first.changedRows > 0 ? late : first.inserted),
        earliestTime(timesOf(rest)),
      ],
    };
  }

  /** Those with a time before the limit, and the others. */
  async #partByTime(upserts: readonly Upsert[], limit: string | null) {
    const turns = beginTurns(this.#deps.clock);
    const late: Upsert[] = [];
    const rest: Upsert[] = [];
    for (const upsert of upserts) {
      if (turns.isOver) await turns.next();
      const { time } = upsert;
      const isLate = limit !== null && time !== null && compareDateTimes(time, limit) < 0;
      (isLate ? late : rest).push(upsert);
    }
    return [late, rest] as const;
  }

  async #writeDecided(upserts: readonly Upsert[], tx: ClientSession): Promise<WrittenRows> {
    const { sent, sentTimes, ...others } = await this.#decide(upserts, tx);
    const written = await this.#writer.upsert(sent, tx);
    await this.#writer.closeGaps(written.inserted, tx);
    return { ...others, ...written, changedTimes: sentTimes };
  }

  async #decide(upserts: readonly Upsert[], tx: ClientSession): Promise<PushDecision> {
    const limit = this.#isGuarded ? aheadLimit(await readNowMs(this.#deps)) : null;
    return await decidePush(this.#stored, upserts, {
      aheadLimit: limit,
      tx,
      turns: beginTurns(this.#deps.clock),
    });
  }
}

function timesOf(upserts: readonly Upsert[]): (string | null)[] {
  return upserts.map(({ time }) => time);
}
