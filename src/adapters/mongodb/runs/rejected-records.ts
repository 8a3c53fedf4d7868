import type { AnyBulkWriteOperation, ClientSession, Collection, Db, Filter } from "mongodb";
import { type JsonObject, parseJson } from "../../../domain/shared/json.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type {
  NewRejection,
  RejectedQuery,
  RejectedRecord,
  RejectedRecords,
} from "../../../ports/runs/rejected-records.ts";
import { cutBatches, type InternalCollection } from "../driver/collections.ts";
import { takeNumbers } from "../driver/id-counters.ts";
import {
  COMMITTED,
  readCommitted,
  readSnapshot,
  SNAPSHOT,
  type StoreDeps,
  writeTogether,
} from "../driver/operations.ts";

/** The entries by number, in the order in which they were first noted. */
export const REJECTED: InternalCollection = {
  name: "repsync_rejected",
  indexes: [
    { name: "repsync_entry", key: { entry: 1 }, unique: true },
    { name: "repsync_table", key: { table: 1, _id: 1 } },
    { name: "repsync_table_direction", key: { table: 1, direction: 1, _id: 1 } },
  ],
};

/** The key, record and message of each entry as one JSON text, in parts: a row may be larger than a document. */
export const REJECTED_DETAILS: InternalCollection = {
  name: "repsync_rejected_details",
  indexes: [{ name: "repsync_part", key: { number: 1, part: 1 }, unique: true }],
};

interface EntryDocument {
  /** The entry's number. */
  readonly _id: number;
  /** Table, direction and key as one text. */
  readonly entry: string;
  readonly table: string;
  readonly direction: SyncDirection;
  readonly attempts: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

interface PartDocument {
  /** Number of the entry. */
  readonly number: number;
  /** Place of the part, from 0. */
  readonly part: number;
  readonly text: string;
}

/** UTF-16 code units of a part: at most three bytes each, so that it fits a document. */
const PART_CHARS = 4_000_000;

type Details = Pick<RejectedRecord, "key" | "record" | "message">;

interface Noted {
  readonly attempts: number;
  readonly firstAtMs: number;
  readonly last: NewRejection;
}

/** Digits of an id: with leading zeros, ids sort as their numbers do. */
const ID_DIGITS = 16;
/** Entries that one command looks up. */
const LOOKUP = { maxItems: 1_000, maxBytes: 8 * 1024 * 1024 };

export class MongoRejectedRecords implements RejectedRecords {
  readonly #deps: StoreDeps;
  readonly #entries: Collection<EntryDocument>;
  readonly #details: RejectedDetails;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#entries = deps.db.collection(REJECTED.name);
    this.#details = new RejectedDetails(deps.db);
  }

  async note(rejections: readonly NewRejection[]): Promise<void> {
    if (rejections.length === 0) return;
    const noted = new Map<string, Noted>();
    for (const last of rejections) {
      const entry = entryOf(last.table, last.direction, last.key);
      const { attempts, firstAtMs } = noted.get(entry) ?? { attempts: 0, firstAtMs: last.lastAtMs };
      noted.set(entry, { attempts: attempts + 1, firstAtMs, last });
    }
    await writeTogether(this.#deps, (tx) => this.#note(noted, tx));
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
      const entries = await this.#entries.find(filter, options).toArray();
      const numbers = entries.map(({ _id }) => _id);
      const details = await this.#details.read(numbers, tx);
      return entries.map((entry) => readEntry(entry, details.get(entry._id) ?? ""));
    });
  }

  async clear(table: string, direction: SyncDirection, keys: readonly JsonObject[]): Promise<void> {
    if (keys.length === 0) return;
    const entries = [...new Set(keys.map((key) => entryOf(table, direction, key)))];
    await writeTogether(this.#deps, async (tx) => {
      const known = await this.#find(entries, tx);
      await this.#drop([...known.values()], tx);
    });
  }

  async remove(id: string): Promise<boolean> {
    return await writeTogether(this.#deps, async (tx) => {
      return (await this.#drop([numberOf(id)], tx)) > 0;
    });
  }

  async countByTable(direction?: SyncDirection): Promise<ReadonlyMap<string, number>> {
    const $match = direction === undefined ? {} : { direction };
    const stages = [{ $match }, { $group: { _id: "$table", entries: { $sum: 1 } } }];
    const counts = await readCommitted(this.#deps, () =>
      this.#entries.aggregate<{ _id: string; entries: number }>(stages, COMMITTED).toArray(),
    );
    return new Map(counts.map(({ _id, entries }) => [_id, entries]));
  }

  async #note(noted: ReadonlyMap<string, Noted>, tx: ClientSession): Promise<void> {
    const { db } = this.#deps;
    const numbers = await this.#find([...noted.keys()], tx);
    const count = noted.size - numbers.size;
    let next = count === 0 ? 0 : await takeNumbers(db, REJECTED.name, count, tx);
    const writes: AnyBulkWriteOperation<EntryDocument>[] = [];
    const details = new Map<number, string>();
    for (const [entry, { attempts, firstAtMs, last }] of noted) {
      const { table, direction, key, record, message, lastAtMs } = last;
      const number = numbers.get(entry);
      const _id = number ?? next++;
      const document = { _id, entry, table, direction, attempts, firstAtMs, lastAtMs };
      const update = { $set: { lastAtMs }, $inc: { attempts } };
      writes.push(
        number === undefined
          ? { insertOne: { document } }
          : { updateOne: { filter: { _id }, update } },
      );
      details.set(_id, JSON.stringify({ key, record, message } satisfies Details));
    }
    await this.#entries.bulkWrite(writes, { session: tx, ordered: false });
    await this.#details.set(details, tx);
  }

  /** The numbers of the known ones among the entries, by entry. */
  async #find(entries: readonly string[], tx: ClientSession): Promise<Map<string, number>> {
    const numbers = new Map<string, number>();
    for (const $in of cutBatches(entries, { ...LOOKUP, bytesOf: (entry) => 3 * entry.length })) {
      const found = this.#entries.find({ entry: { $in } }, { session: tx });
      for await (const { _id, entry } of found) numbers.set(entry, _id);
    }
    return numbers;
  }

  /** Drops entries and returns how many there were. */
  async #drop(numbers: readonly number[], tx: ClientSession): Promise<number> {
    if (numbers.length === 0) return 0;
    await this.#details.drop(numbers, tx);
    const dropped = await this.#entries.deleteMany({ _id: { $in: [...numbers] } }, { session: tx });
    return dropped.deletedCount;
  }
}

class RejectedDetails {
  readonly #parts: Collection<PartDocument>;

  constructor(db: Db) {
    this.#parts = db.collection(REJECTED_DETAILS.name);
  }

  /** Sets the details of entries, by number, within the caller's transaction. */
  async set(details: ReadonlyMap<number, string>, tx: ClientSession): Promise<void> {
    await this.drop([...details.keys()], tx);
    const documents = [...details].flatMap(([number, text]) =>
      splitText(text).map((partText, part) => ({ number, part, text: partText })),
    );
    await this.#parts.insertMany(documents, { session: tx });
  }

  /** Drops the details of entries, within the caller's transaction. */
  async drop(numbers: readonly number[], tx: ClientSession): Promise<void> {
    await this.#parts.deleteMany({ number: { $in: [...numbers] } }, { session: tx });
  }

  /** Reads the details of entries in the snapshot of `tx`. */
  async read(numbers: readonly number[], tx: ClientSession): Promise<ReadonlyMap<number, string>> {
    const options = { ...SNAPSHOT, session: tx, sort: { number: 1, part: 1 } } as const;
    const parts = this.#parts.find({ number: { $in: [...numbers] } }, options);
    const details = new Map<number, string>();
    for await (const { number, text } of parts) {
      details.set(number, (details.get(number) ?? "") + text);
    }
    return details;
  }
}

/** Identifies an entry. Keys with the same columns and values give the same text, in any order. */
function entryOf(table: string, direction: SyncDirection, key: JsonObject): string {
  const values = Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([table, direction, values]);
}

/** The number of an entry; 0, which no entry has, when the text is not an id. */
function numberOf(id: string): number {
  return /^\d+$/.test(id) && id.length === ID_DIGITS ? Number(id) : 0;
}

function readEntry(entry: EntryDocument, details: string): RejectedRecord {
  const { key, record, message } = parseJson(details) as unknown as Details;
  const { table, direction, attempts, firstAtMs, lastAtMs } = entry;
  const id = String(entry._id).padStart(ID_DIGITS, "0");
  return { id, table, direction, key, record, message, attempts, firstAtMs, lastAtMs };
}

/** Splits a text into parts, never between the two halves of a character. */
function splitText(text: string): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = start + PART_CHARS;
    const isBetween = (text.codePointAt(end - 1) ?? 0) > 0xffff;
    const cut = isBetween ? end - 1 : end;
    parts.push(text.slice(start, cut));
    start = cut;
  }
  return parts;
}
