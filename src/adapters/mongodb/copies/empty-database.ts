// Fills an empty database: a mark keeps every instance out until it is whole. D-10.7.
import { Buffer } from "node:buffer";
import { type Db, type Document, Long } from "mongodb";
import {
  checkFormat,
  STORE_FORMAT,
  storeHeld,
  storeNotEmpty,
} from "../../../domain/shared/store-format.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { EmptyStore, StoreClaim } from "../../../ports/copies/store-copies.ts";
import {
  type Dump,
  type DumpedPart,
  type DumpedStore,
  type DumpedTable,
  type DumpedTombstone,
  named,
  tableOf,
} from "../../../ports/copies/store-dump.ts";
import { DELETE_RECORDER } from "../deletes/recorder-state.ts";
import { DocumentCollection, keyDocument } from "../documents/document-collection.ts";
import { reserveNumbers } from "../driver/collections.ts";
import { connect } from "../driver/connection.ts";
import { asAppErrors, driverFailure } from "../driver/errors.ts";
import { HOLDERS, type Holder, holdToFill, isHeld } from "../driver/holders.ts";
import { readFacts, removeFact, STORE_FACTS, setFact } from "../driver/store-facts.ts";
import { counterOf, TOMBSTONES } from "../driver/tombstone-documents.ts";
import { TABLE_DEFINITIONS } from "../tables/table-fit.ts";
import { type DatabaseAddress, dumpDatabase } from "./database-dump.ts";
import { wholeDocument } from "./whole-documents.ts";

interface EmptyDatabaseOptions extends StoreClaim, DatabaseAddress {
  /** Makes the tables in the database, as a start does. */
  readonly prepare: (tables: readonly Table[]) => Promise<void>;
}

export class EmptyDatabase implements EmptyStore {
  readonly kind = "mongodb";
  readonly #options: EmptyDatabaseOptions;
  readonly #db: Db;
  readonly #holder: Holder;
  /** True when the content comes from MongoDB. */
  #isOwnKind = false;
  #tables: readonly Table[] = [];

  private constructor(options: EmptyDatabaseOptions, db: Db, holder: Holder) {
    this.#options = options;
    this.#db = db;
    this.#holder = holder;
  }

  /** Holds the database and empties it of what a start makes. Throws `invalid_request` when it is not empty, or in use. */
  static async claim(options: EmptyDatabaseOptions): Promise<EmptyDatabase> {
    const { db, client } = await connect(options.url, options);
    try {
      return new EmptyDatabase(options, db, await claim(db, options));
    } catch (error) {
      await client.close();
      throw driverFailure(error);
    }
  }

  async begin({ store, tables }: DumpedStore): Promise<void> {
    this.#isOwnKind = store === "mongodb";
    this.#tables = tables.map(tableOf);
    await this.#options.prepare(this.#tables);
    for (const table of tables) await asAppErrors(this.#setNumbers(table));
  }

  async write(part: DumpedPart): Promise<void> {
    const { name } = part;
    if (part.of === "documents") return await this.#writeDocuments(name, part.items);
    const table = named(this.#tables, name);
    if (part.of === "tombstones") return await this.#writeTombstones(table, part.items);
    const documents = part.items.map(({ row, rest = null }) => {
      const isWhole = this.#isOwnKind && rest !== null;
      return wholeDocument(table, row, isWhole ? Buffer.from(rest, "base64") : null);
    });
    await this.#insert(name, documents);
  }

  dump(): Promise<Dump> {
    return dumpDatabase({ db: this.#db, isStill: true }, this.#options.collections);
  }

  async finish(deploymentId: string): Promise<void> {
    await asAppErrors(setFact(this.#db, "deployment_id", deploymentId));
    await asAppErrors(setFact(this.#db, "format", String(STORE_FORMAT)));
    await asAppErrors(removeFact(this.#db, "filled_by"));
    await this.#holder.end();
    await this.#db.client.close();
  }

  async giveUp(): Promise<void> {
    try {
      await empty(this.#db, this.#options.tables);
      await this.#db.dropCollection(STORE_FACTS);
    } catch {
      // The mark stays, as nobody may use the rest.
    }
    await this.#holder.end();
    await this.#db.client.close();
  }

  async #setNumbers({ name, isForeign, lastNumber, deletes }: DumpedTable): Promise<void> {
    if (lastNumber > 0) await reserveNumbers(this.#db, name, Long.fromNumber(lastNumber));
    if (isForeign && this.#isOwnKind) {
      const definitions = this.#db.collection<{ _id: string }>(TABLE_DEFINITIONS.name);
      const $set = { is_foreign: true };
      await definitions.updateOne({ _id: name }, { $set });
    }
    if (deletes === null) return;
    const { list, lastPlace, completeSince } = deletes;
    await reserveNumbers(this.#db, counterOf({ name }), Long.fromNumber(lastPlace));
    const $set = {
      [`tables.${name}.completeSince`]: new Date(completeSince),
      [`tables.${name}.list`]: list,
    };
    await this.#db.collection(DELETE_RECORDER.name).updateOne({}, { $set });
  }

  async #writeDocuments(name: string, items: readonly object[]): Promise<void> {
    const collection = named(this.#options.collections, name);
    const own = new DocumentCollection(collection);
    const documents = items.map((doc) => own.storedOf(collection.keyOf(doc), doc));
    await this.#insert(own.name, documents);
  }

  async #writeTombstones(table: Table, items: readonly DumpedTombstone[]): Promise<void> {
    const documents = items.map(({ place, key, deletedAt, takenAtMs }) => ({
      _id: `${table.name}/${keyText(table, key)}`,
      table: table.name,
      place,
      key: JSON.stringify(key),
      deletedAt,
      takenAt: new Date(takenAtMs),
    }));
    await this.#insert(TOMBSTONES.name, documents as unknown as Document[]);
  }

  async #insert(name: string, documents: Document[]): Promise<void> {
    if (documents.length === 0) return;
    await asAppErrors(this.#db.collection(name).insertMany(documents, { ordered: false }));
  }
}

async function claim(db: Db, options: StoreClaim): Promise<Holder> {
  if (await isHeld(db)) throw storeHeld();
  // One of several processes goes on.
  const holder = await holdToFill(db);
  if (holder === null) throw storeHeld();
  try {
    await mark(db, options);
    await empty(db, options.tables);
    return holder;
  } catch (error) {
    await holder.end();
    throw error;
  }
}

async function mark(db: Db, { adminUsername, tables, by }: StoreClaim): Promise<void> {
  const facts = new Map(await readFacts(db));
  const isUnfinished = facts.delete("filled_by");
  checkFormat(facts, true);
  if (!isUnfinished) await refuseFull(db, adminUsername, tables);
  // A service that starts now finds the mark, or is found below.
  await setFact(db, "filled_by", by);
  if (!(await isHeld(db))) return;
  if (!isUnfinished) await removeFact(db, "filled_by");
  throw storeHeld();
}

async function refuseFull(
  db: Db,
  adminUsername: string | null,
  tables: readonly string[],
): Promise<void> {
  const known = await db.collection<{ _id: string }>(TABLE_DEFINITIONS.name).find().toArray();
  for (const name of new Set([...tables, ...known.map(({ _id }) => _id)])) {
    if ((await db.collection(name).findOne({}, { projection: { _id: 1 } })) === null) continue;
    throw storeNotEmpty(`table "${name}" has rows`);
  }
  const isOther: Document = { _id: { $ne: keyDocument([adminUsername ?? ""]) } };
  const other = await db.collection("repsync_accounts").findOne(isOther);
  if (other !== null) throw storeNotEmpty("it has accounts");
}

/** Drops the service's collections but the mark and the holders, and the tables to fill. */
async function empty(db: Db, tables: readonly string[]): Promise<void> {
  const kept: readonly string[] = [STORE_FACTS, HOLDERS.name];
  const found = await db.listCollections({ type: "collection" }, { nameOnly: true }).toArray();
  for (const { name } of found) {
    const isOwn = name.startsWith("repsync_") && !kept.includes(name);
    if (isOwn || tables.includes(name)) await db.dropCollection(name);
  }
}
