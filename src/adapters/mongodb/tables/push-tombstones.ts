// What a push does with the tombstones of its table, within its transaction and before its rows are written. D-7.6.
import type { ClientSession } from "mongodb";
import { compareDateTimes } from "../../../domain/shared/time.ts";
import { aheadLimit } from "../../../domain/sync/rows/time-rank.ts";
import { outlives, type Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { WriteRule } from "../../../ports/tables/table-writes.ts";
import type { StoreDeps } from "../driver/operations.ts";
import { noteOwnDeletes } from "../driver/own-deletes.ts";
import { readNowMs } from "../driver/server-clock.ts";
import { TombstoneDocuments } from "../driver/tombstone-documents.ts";
import { type KeyOfRow, keyOfRow, StoredRows } from "./stored-rows.ts";
import type { Upsert } from "./upserts.ts";

interface Buried {
  /** The upserts that no tombstone keeps out. */
  readonly upserts: readonly Upsert[];
  /** Positions of the others. */
  readonly kept: readonly number[];
  /** Rows that arrived tombstones removed. */
  readonly deleted: number;
  /** Canonical times of the rows that were later than a tombstone that arrived. */
  readonly keptTimes: readonly string[];
}

export class PushTombstones {
  readonly #deps: StoreDeps;
  readonly #table: Table;
  readonly #isGuarded: boolean;
  readonly #documents: TombstoneDocuments;
  readonly #stored: StoredRows;

  constructor(deps: StoreDeps, table: Table, rule: WriteRule) {
    this.#deps = deps;
    this.#table = table;
    this.#isGuarded = (rule.conflict ?? table.conflict) === "newer";
    this.#documents = new TombstoneDocuments(deps.db, deps.storeClock);
    this.#stored = new StoredRows(table, deps.db.collection(table.name), deps.clock);
  }

  /** Takes in the tombstones that arrived, and sorts out what tombstones keep out. */
  async apply(
    arrived: readonly Tombstone[],
    upserts: readonly Upsert[],
    tx: ClientSession,
  ): Promise<Buried> {
    const removed = await this.#bury(arrived, tx);
    const kept = await this.#keepOut(upserts, tx);
    return {
      ...removed,
      kept: [...kept],
      upserts: kept.size === 0 ? upserts : upserts.filter(({ index }) => !kept.has(index)),
    };
  }

  /** Takes tombstones in, one after the other, and removes the rows that are not later. */
  async #bury(
    arrived: readonly Tombstone[],
    tx: ClientSession,
  ): Promise<Pick<Buried, "deleted" | "keptTimes">> {
    if (arrived.length === 0) return { deleted: 0, keptTimes: [] };
    const table = this.#table;
    const limit = await this.#aheadLimit();
    const keys = arrived.map(({ key }) => keyOfRow(table, key));
    const kept = await this.#documents.find(table, textsOf(keys), tx);
    const times = await this.#stored.readTimes(keys, tx);
    const listed = new Map<string, Tombstone>();
    const removed: KeyOfRow[] = [];
    const keptTimes: string[] = [];
    for (const [place, key] of keys.entries()) {
      const { keyText } = key;
      const tombstone = arrived[place] as Tombstone;
      const time = times.get(keyText) ?? null;
      if (outlives(time, tombstone.deletedAt, limit)) {
        keptTimes.push(time as string);
        continue;
      }
      if (times.delete(keyText)) removed.push(key);
      if (isEarlier(tombstone.deletedAt, kept.get(keyText))) continue;
      kept.set(keyText, tombstone.deletedAt);
      listed.delete(keyText);
      listed.set(keyText, tombstone);
    }
    await this.#documents.list(table, [...listed.values()], tx);
    if (removed.length > 0) {
      await this.#stored.remove(removed, tx);
      await noteOwnDeletes(this.#deps.db, tx);
    }
    return { deleted: removed.length, keptTimes };
  }

  /**
   * Removes the tombstones of rows that are later, and gives the positions of those records that their tombstones keep
   * out, which are listed anew.
   */
  async #keepOut(upserts: readonly Upsert[], tx: ClientSession): Promise<ReadonlySet<number>> {
    const kept = await this.#documents.find(this.#table, textsOf(upserts), tx);
    const keptOut = new Set<number>();
    if (kept.size === 0) return keptOut;
    const limit = await this.#aheadLimit();
    const met = upserts.filter(({ keyText }) => kept.has(keyText)).toSorted(byIndex);
    const forgotten = await this.#outdated(met, kept, { limit, tx });
    const listed = new Map<string, Tombstone>();
    for (const { index, row, keyText, time } of met) {
      const deletedAt = kept.get(keyText);
      if (deletedAt === undefined || forgotten.has(keyText)) continue;
      if (outlives(time, deletedAt, limit)) {
        listed.delete(keyText);
        forgotten.add(keyText);
      } else if (this.#isGuarded) {
        keptOut.add(index);
        listed.delete(keyText);
        listed.set(keyText, { key: row, deletedAt });
      }
    }
    await this.#documents.forget(this.#table, forgotten, tx);
    await this.#documents.list(this.#table, [...listed.values()], tx);
    return keptOut;
  }

  /** Tombstones that are not earlier than a record, but whose row another program wrote anew with a later time. */
  async #outdated(
    met: readonly Upsert[],
    kept: ReadonlyMap<string, string>,
    { limit, tx }: { readonly limit: string; readonly tx: ClientSession },
  ): Promise<Set<string>> {
    const deletedAt = (keyText: string) => kept.get(keyText) as string;
    const keys = met.filter(({ keyText, time }) => !outlives(time, deletedAt(keyText), limit));
    const times = keys.length === 0 ? [] : await this.#stored.readTimes(keys, tx);
    const isOutdated = ([keyText, time]: [string, string | null]) =>
      outlives(time, deletedAt(keyText), limit);
    return new Set([...times].filter(isOutdated).map(([keyText]) => keyText));
  }

  async #aheadLimit(): Promise<string> {
    return aheadLimit(await readNowMs(this.#deps));
  }
}

function textsOf(keys: readonly KeyOfRow[]): Set<string> {
  return new Set(keys.map(({ keyText }) => keyText));
}

function byIndex(a: Upsert, b: Upsert): number {
  return a.index - b.index;
}

/** True when a tombstone is not later than the one that is kept. */
function isEarlier(deletedAt: string, kept: string | undefined): boolean {
  return kept !== undefined && compareDateTimes(deletedAt, kept) <= 0;
}
