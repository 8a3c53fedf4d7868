import type { Collection, Filter } from "mongodb";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type {
  DroppedRecord,
  RejectedQuery,
  RejectedRecord,
  RejectedRecords,
} from "../../../ports/runs/rejected-records.ts";
import {
  COMMITTED,
  readCommitted,
  readSnapshot,
  SNAPSHOT,
  type StoreDeps,
  writeTogether,
} from "../driver/operations.ts";
import { type Details, RejectedDetails } from "./rejected-details.ts";
import { type EntryDocument, REJECTED, RejectedEntries } from "./rejected-entries.ts";

/** Digits of an id: with leading zeros, ids sort as their numbers do. */
const ID_DIGITS = 16;
export class MongoRejectedRecords implements RejectedRecords {
  readonly #deps: StoreDeps;
  readonly #collection: Collection<EntryDocument>;
  readonly #entries: RejectedEntries;
  readonly #details: RejectedDetails;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#collection = deps.db.collection(REJECTED.name);
    this.#entries = new RejectedEntries(deps.db);
    this.#details = new RejectedDetails(deps.db);
  }

  async list(query: RejectedQuery): Promise<readonly RejectedRecord[]> {
    const { table, direction, beforeId, limit } = query;
    const filter: Filter<EntryDocument> = {
      ...(table === null ? {} : { table }),
      ...(direction === null ? {} : { direction }),
      ...(beforeId === null ? {} : { _id: { $lt: numberOf(beforeId) } }),
    };
    return await readSnapshot(this.#deps, async (tx) => {
      const options = { ...SNAPSHOT, session: tx, sort: { _id: -1 }, limit } as const;
      const entries = await this.#collection.find(filter, options).toArray();
      const numbers = entries.map(({ _id }) => _id);
      const details = await this.#details.read(numbers, tx);
      return entries.map((entry) => readEntry(entry, details.get(entry._id)));
    });
  }

  async find(id: string): Promise<RejectedRecord | null> {
    const number = numberOf(id);
    return await readSnapshot(this.#deps, async (tx) => {
      const options = { ...SNAPSHOT, session: tx } as const;
      const entry = await this.#collection.findOne({ _id: number }, options);
      if (entry === null) return null;
      return readEntry(entry, (await this.#details.read([number], tx)).get(number));
    });
  }

  async remove(id: string): Promise<boolean> {
    return await writeTogether(this.#deps, (tx) => this.#entries.remove(numberOf(id), tx));
  }

  async dropped(table: string, direction: SyncDirection): Promise<readonly DroppedRecord[]> {
    return await readCommitted(this.#deps, () => this.#entries.dropped(table, direction));
  }

  async countByTable(direction?: SyncDirection): Promise<ReadonlyMap<string, number>> {
    const $match = direction === undefined ? {} : { direction };
    const stages = [{ $match }, { $group: { _id: "$table", entries: { $sum: 1 } } }];
    const counts = await readCommitted(this.#deps, () =>
      this.#collection.aggregate<{ _id: string; entries: number }>(stages, COMMITTED).toArray(),
    );
    return new Map(counts.map(({ _id, entries }) => [_id, entries]));
  }
}

/** The number of an entry; 0, which no entry has, when the text is not an id. */
function numberOf(id: string): number {
  return /^\d+$/.test(id) && id.length === ID_DIGITS ? Number(id) : 0;
}

function readEntry(entry: EntryDocument, details: Details | undefined): RejectedRecord {
  if (details === undefined) throw new Error("An entry has no details");
  const { key, record, message } = details;
  const { table, direction, fingerprint = "", attempts, firstAtMs, lastAtMs } = entry;
  const id = String(entry._id).padStart(ID_DIGITS, "0");
  return { id, table, direction, key, record, message, fingerprint, attempts, firstAtMs, lastAtMs };
}
