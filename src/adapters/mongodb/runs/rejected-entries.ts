// The entries of rejected records, and the memory of dropped ones, as they change within a transaction.
import type { AnyBulkWriteOperation, ClientSession, Collection, Db, Filter } from "mongodb";
import { type JsonObject, parseJson } from "../../../domain/shared/json.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type { DroppedRecord, NewRejection } from "../../../ports/runs/rejected-records.ts";
import { cutBatches, type InternalCollection } from "../driver/collections.ts";
import { takeNumbers } from "../driver/id-counters.ts";
import { COMMITTED } from "../driver/operations.ts";
import { type Details, RejectedDetails } from "./rejected-details.ts";

/** The entries by number, in the order in which they were first noted. */
export const REJECTED: InternalCollection = {
  name: "repsync_rejected",
  indexes: [
    { name: "repsync_entry", key: { entry: 1 }, unique: true },
    { name: "repsync_table", key: { table: 1, _id: 1 } },
    { name: "repsync_table_direction", key: { table: 1, direction: 1, _id: 1 } },
  ],
};

/** What was dropped, by the same names as entries. D-7.7. */
export const REJECTED_DROPPED: InternalCollection = {
  name: "repsync_rejected_dropped",
  indexes: [{ name: "repsync_table_direction", key: { table: 1, direction: 1 } }],
};

export interface EntryDocument {
  /** The entry's number. */
  readonly _id: number;
  /** Its name: table, direction and key as one text. */
  readonly entry: string;
  readonly table: string;
  readonly direction: SyncDirection;
  /** Absent in older entries. */
  readonly fingerprint?: string;
  readonly attempts: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

interface DroppedDocument {
  /** Name of the entry. */
  readonly _id: string;
  readonly table: string;
  readonly direction: SyncDirection;
  readonly fingerprint: string;
}

interface Noted {
  readonly attempts: number;
  readonly firstAtMs: number;
  readonly last: NewRejection;
}

/** Entries that one command looks up. */
const LOOKUP = { maxItems: 1_000, maxBytes: 8 * 1024 * 1024 };

/** Every method works within the caller's transaction, unless it says otherwise. */
export class RejectedEntries {
  readonly #db: Db;
  readonly #entries: Collection<EntryDocument>;
  readonly #dropped: Collection<DroppedDocument>;
  readonly #details: RejectedDetails;

  constructor(db: Db) {
    this.#db = db;
    this.#entries = db.collection(REJECTED.name);
    this.#dropped = db.collection(REJECTED_DROPPED.name);
    this.#details = new RejectedDetails(db);
  }

  /** Notes refused records as `CommitExtras` says. */
  async note(rejections: readonly NewRejection[], tx: ClientSession): Promise<void> {
    const noted = await this.#withoutDropped(rejections, tx);
    if (noted.size === 0) return;
    const numbers = await this.#findNumbers([...noted.keys()], tx);
    const count = noted.size - numbers.size;
    let next = count === 0 ? 0 : await takeNumbers(this.#db, REJECTED.name, count, tx);
    const writes: AnyBulkWriteOperation<EntryDocument>[] = [];
    const details = new Map<number, NewRejection>();
    for (const [entry, { attempts, firstAtMs, last }] of noted) {
      const { table, direction, fingerprint, lastAtMs } = last;
      const number = numbers.get(entry);
      const _id = number ?? next++;
      const document = { _id, entry, table, direction, fingerprint, attempts, firstAtMs, lastAtMs };
      const update = { $set: { fingerprint, lastAtMs }, $inc: { attempts } };
      writes.push(
        number === undefined
          ? { insertOne: { document } }
          : { updateOne: { filter: { _id }, update } },
      );
      details.set(_id, last);
    }
    await this.#entries.bulkWrite(writes, { session: tx, ordered: false });
    await this.#details.set(details, tx);
  }

  /** Drops the entries of accepted records as `CommitExtras` says. */
  async clear(
    table: string,
    direction: SyncDirection,
    keys: readonly JsonObject[],
    tx: ClientSession,
  ): Promise<void> {
    const places = keys.map((key) => ({ table, direction, key }));
    const names = [...new Set(places.filter((place) => !hasNull(place.key)).map(placeName))];
    const numbers = [...(await this.#findNumbers(names, tx)).values()];
    await this.#forget(names, tx);
    for (const place of places.filter(({ key }) => hasNull(key))) {
      const named = namesAt(place);
      const found = await this.#entries.find({ entry: named }, { session: tx }).toArray();
      numbers.push(...found.map(({ _id }) => _id));
      await this.#dropped.deleteMany({ _id: named }, { session: tx });
    }
    if (numbers.length === 0) return;
    await this.#details.drop(numbers, tx);
    await this.#entries.deleteMany({ _id: { $in: numbers } }, { session: tx });
  }

  /** As `RejectedRecords.remove`, by number. */
  async remove(number: number, tx: ClientSession): Promise<boolean> {
    const removed = await this.#entries.findOneAndDelete({ _id: number }, { session: tx });
    if (removed === null) return false;
    const { entry, table, direction, fingerprint = "" } = removed;
    await this.#details.drop([number], tx);
    const document = { table, direction, fingerprint };
    await this.#dropped.replaceOne({ _id: entry }, document, { session: tx, upsert: true });
    return true;
  }

  /** Removes what waits of rows of a person, and what was dropped. D-8.2. */
  async forgetPerson(
    tables: readonly string[],
    username: string,
    tx: ClientSession,
  ): Promise<void> {
    const isNamed = ({ key, record }: Details) =>
      [key, record].some((fields) => fields?.["username"] === username);
    const named = [...(await this.#details.naming(username, tx))].filter(([, found]) =>
      isNamed(found),
    );
    const filter = { _id: { $in: named.map(([number]) => number) }, table: { $in: [...tables] } };
    const entries = await this.#entries.find(filter, { session: tx }).toArray();
    const numbers = entries.map(({ _id }) => _id);
    await this.#details.drop(numbers, tx);
    await this.#entries.deleteMany({ _id: { $in: numbers } }, { session: tx });
    const dropped = await this.#dropped
      .find({ table: { $in: [...tables] } }, { session: tx })
      .toArray();
    const ids = dropped.map(({ _id }) => _id).filter((id) => keyOf(id)["username"] === username);
    await this.#forget(ids, tx);
  }

  /** As `RejectedRecords.dropped`, outside of transactions. */
  async dropped(table: string, direction: SyncDirection): Promise<DroppedRecord[]> {
    const found = await this.#dropped.find({ table, direction }, COMMITTED).toArray();
    return found.map(({ _id, fingerprint }) => ({ key: keyOf(_id), fingerprint }));
  }

  /** What is to be noted, by name; forgets drops of keys that have another record now. */
  async #withoutDropped(
    rejections: readonly NewRejection[],
    tx: ClientSession,
  ): Promise<ReadonlyMap<string, Noted>> {
    const dropped = await this.#findDropped([...new Set(rejections.map(entryName))], tx);
    const forgotten: string[] = [];
    const noted = new Map<string, Noted>();
    for (const last of rejections) {
      const entry = entryName(last);
      if (dropped.get(entry) === last.fingerprint) continue;
      if (dropped.delete(entry)) forgotten.push(entry);
      const { attempts, firstAtMs } = noted.get(entry) ?? { attempts: 0, firstAtMs: last.lastAtMs };
      noted.set(entry, { attempts: attempts + 1, firstAtMs, last });
    }
    await this.#forget(forgotten, tx);
    return noted;
  }

  /** The numbers of the known ones among the entries, by name. */
  async #findNumbers(names: readonly string[], tx: ClientSession): Promise<Map<string, number>> {
    const numbers = new Map<string, number>();
    for (const $in of cutNames(names)) {
      const found = this.#entries.find({ entry: { $in } }, { session: tx });
      for await (const { _id, entry } of found) numbers.set(entry, _id);
    }
    return numbers;
  }

  /** The fingerprints of those that were dropped, by name. */
  async #findDropped(names: readonly string[], tx: ClientSession): Promise<Map<string, string>> {
    const fingerprints = new Map<string, string>();
    for (const $in of cutNames(names)) {
      const found = this.#dropped.find({ _id: { $in } }, { session: tx });
      for await (const { _id, fingerprint } of found) fingerprints.set(_id, fingerprint);
    }
    return fingerprints;
  }

  async #forget(names: readonly string[], tx: ClientSession): Promise<void> {
    for (const $in of cutNames(names)) {
      await this.#dropped.deleteMany({ _id: { $in } }, { session: tx });
    }
  }
}

type Place = Pick<NewRejection, "table" | "direction" | "key">;

function cutNames(names: readonly string[]): string[][] {
  return cutBatches(names, { ...LOOKUP, bytesOf: (name) => 3 * name.length });
}

/** Keys with the same columns and values give the same text, in any order. */
function placeName({ table, direction, key }: Place): string {
  const values = Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([table, direction, values]);
}

/** Identifies an entry. Records of which a key column is null are apart by their content, too. */
export function entryName(rejection: NewRejection): string {
  const name = placeName(rejection);
  if (!hasNull(rejection.key)) return name;
  return `${name.slice(0, -1)},${JSON.stringify(rejection.fingerprint)}]`;
}

/** The names of all entries of a key with a null in it. */
function namesAt(place: Place): Filter<string> {
  const start = `${placeName(place).slice(0, -1)},`;
  return { $gte: start, $lt: `${start}\uffff` };
}

export function keyOf(name: string): JsonObject {
  const [, , values] = parseJson(name) as unknown as [string, string, [string, JsonObject][]];
  return Object.fromEntries(values);
}

function hasNull(key: JsonObject): boolean {
  return Object.values(key).includes(null);
}
