import type { AnyBulkWriteOperation, Collection, Db, Document } from "mongodb";
import { parseJson } from "../../../domain/shared/json.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  PortableEntry,
  PortablePart,
  PortableStore,
} from "../../../ports/copies/portable-store.ts";
import { type AnyCollection, copiedOf } from "../../../ports/documents.ts";
import { DELETE_RECORDER } from "../deletes/recorder-state.ts";
import { DocumentCollection } from "../documents/document-collection.ts";
import { DURABLE } from "../driver/collections.ts";
import { COUNTERS } from "../driver/id-counters.ts";
import { readFacts, setFact } from "../driver/store-facts.ts";
import { counterOf, TOMBSTONES } from "../driver/tombstone-documents.ts";
import { RowReader } from "../tables/row-reader.ts";
import { layoutOf } from "../tables/table-layout.ts";
import { storedFields } from "../tables/upserts.ts";
import { longOf, PLAIN_DOCUMENTS } from "./portable-documents.ts";

const BATCH = 1_000;
const READ = { readConcern: { level: "majority" }, batchSize: BATCH } as const;
const MOVED_COUNTERS: Readonly<Record<string, string>> = {};

interface Named extends Document {
  readonly _id: string;
}

export class PortableDatabase implements PortableStore {
  readonly #db: Db;
  readonly #collections: readonly DocumentCollection[];

  constructor(db: Db, collections: readonly AnyCollection[]) {
    this.#db = db;
    this.#collections = copiedOf(collections).map((one) => new DocumentCollection(one));
  }

  async *read(part: PortablePart, tables: readonly Table[]) {
    yield* inBatches(this.#entries(part, tables));
  }

  async *readRows(table: Table): AsyncGenerator<readonly Row[]> {
    const reader = new RowReader(layoutOf(table), table.columns);
    const documents = this.#db.collection(table.name).find({}, { ...READ, raw: true });
    yield* inBatches(
      mapped(documents as unknown as AsyncIterable<Uint8Array>, (bson) => reader.read(bson)),
    );
  }

  async writeRows(table: Table, rows: readonly Row[]): Promise<void> {
    const documents = rows.map((row) => storedFields(table, row));
    await this.#insert(table.name, documents);
  }

  async write(
    part: PortablePart,
    entries: readonly PortableEntry[],
    tables: readonly Table[],
  ): Promise<void> {
    const plain = PLAIN_DOCUMENTS[part];
    if (part === "tombstones") await this.#writeTombstones(entries, tables);
    else if (plain !== undefined) {
      await this.#replace(
        plain.collection,
        entries.map((entry) => plain.write(entry) as Named),
      );
    } else if (part === "facts") {
      for (const { value } of entries) await setFact(this.#db, "deployment_id", String(value));
    } else if (part === "delete_records") await this.#writeDeleteRecords(entries);
    else if (part === "counters") await this.#writeCounters(entries);
    else if (part === "documents") await this.#writeDocuments(entries);
    else throw new Error(`No way to write ${part}`);
  }

  async *#entries(part: PortablePart, tables: readonly Table[]): AsyncGenerator<PortableEntry> {
    const plain = PLAIN_DOCUMENTS[part];
    if (plain !== undefined) {
      const found = this.#db.collection(plain.collection).find(plain.filter ?? {}, READ);
      yield* mapped(found, (document) => plain.read(document));
    } else if (part === "facts") {
      const value = (await readFacts(this.#db)).get("deployment_id");
      yield { name: "deployment_id", value };
    } else if (part === "delete_records") yield* this.#deleteRecords(tables);
    else if (part === "counters") yield* this.#counters();
    else if (part === "documents") yield* this.#documents();
    else throw new Error(`No way to read ${part}`);
  }

  async *#deleteRecords(tables: readonly Table[]): AsyncGenerator<PortableEntry> {
    const state = await this.#named(DELETE_RECORDER.name).findOne({}, READ);
    for (const { name, deletes } of tables) {
      const recorded = state?.["tables"]?.[name];
      if (!deletes || recorded === undefined) continue;
      const completeSince = formatMs((recorded["completeSince"] as Date).getTime());
      yield { table: name, completeSince, listId: recorded["list"] };
    }
  }

  async *#documents(): AsyncGenerator<PortableEntry> {
    for (const own of this.#collections) {
      for await (const stored of this.#db.collection(own.name).find({}, READ)) {
        yield { collection: own.collection.name, doc: own.documentOf(stored) };
      }
    }
  }

  async #writeDocuments(entries: readonly PortableEntry[]): Promise<void> {
    for (const own of this.#collections) {
      const documents = entries
        .filter(({ collection }) => collection === own.collection.name)
        .map(({ doc }) => own.storedOf(own.collection.keyOf(doc), doc as object));
      await this.#replace(own.name, documents as Named[]);
    }
  }

  async *#counters(): AsyncGenerator<PortableEntry> {
    const names = Object.entries(MOVED_COUNTERS);
    for await (const { _id, last } of this.#named(COUNTERS.name).find({}, READ)) {
      const [name] = names.find(([, own]) => own === _id) ?? [];
      const list = `${TOMBSTONES.name}/`;
      if (name !== undefined) yield { name, last: Number(last) };
      else if (_id.startsWith(list)) {
        yield { name: `tombstones/${_id.slice(list.length)}`, last: Number(last) };
      } else yield { name: `table/${_id}`, last: Number(last) };
    }
  }

  async #writeDeleteRecords(entries: readonly PortableEntry[]): Promise<void> {
    for (const { table, completeSince, listId } of entries) {
      const place = `tables.${String(table)}`;
      const $set = {
        [`${place}.completeSince`]: new Date(String(completeSince)),
        [`${place}.list`]: String(listId),
      };
      await this.#named(DELETE_RECORDER.name).updateOne({}, { $set });
    }
  }

  async #writeTombstones(
    entries: readonly PortableEntry[],
    tables: readonly Table[],
  ): Promise<void> {
    const documents = entries.map((entry) => {
      const table = tables.find(({ name }) => name === entry["table"]);
      const key = parseJson(String(entry["key"])) as Row;
      if (table === undefined) throw new Error("A tombstone of a table that is not there");
      const _id = `${table.name}/${keyText(table, key)}`;
      return { _id, ...PLAIN_DOCUMENTS.tombstones?.write(entry) };
    });
    await this.#insert(TOMBSTONES.name, documents);
  }

  async #writeCounters(entries: readonly PortableEntry[]): Promise<void> {
    for (const { name, last } of entries) {
      const [kind = "", table = ""] = String(name).split("/");
      const own = MOVED_COUNTERS[kind] ?? (kind === "table" ? table : counterOf({ name: table }));
      const change = { $max: { last: longOf(last) } };
      await this.#named(COUNTERS.name).updateOne({ _id: own }, change, { upsert: true });
    }
  }

  async #insert(name: string, documents: readonly Document[]): Promise<void> {
    if (documents.length === 0) return;
    const options = { ordered: false, writeConcern: DURABLE };
    await this.#db.collection(name).insertMany([...documents], options);
  }

  /** A start may have made some of them. */
  async #replace(name: string, documents: readonly Named[]): Promise<void> {
    const operations = documents.map(({ _id, ...replacement }) => ({
      replaceOne: { filter: { _id }, replacement, upsert: true },
    }));
    await this.#bulk(name, operations as AnyBulkWriteOperation<Named>[]);
  }

  async #bulk(name: string, operations: AnyBulkWriteOperation<Named>[]): Promise<void> {
    if (operations.length === 0) return;
    const options = { ordered: true, writeConcern: DURABLE };
    await this.#named(name).bulkWrite(operations, options);
  }

  #named(name: string): Collection<Named> {
    return this.#db.collection<Named>(name);
  }
}

async function* mapped<From, To>(items: AsyncIterable<From>, map: (item: From) => To) {
  for await (const item of items) yield map(item);
}

async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncGenerator<readonly Item[]> {
  let batch: Item[] = [];
  for await (const item of items) {
    if (batch.push(item) < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
