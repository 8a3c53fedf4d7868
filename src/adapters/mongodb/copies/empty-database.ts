// An empty database that is being filled. D-10.7.
import { Buffer } from "node:buffer";
import { type Document, Long } from "mongodb";
import { STORE_FORMAT } from "../../../domain/shared/store-format.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { EmptyStore, StoreClaim } from "../../../ports/copies/store-copies.ts";
import {
  type Dump,
  type DumpedPart,
  type DumpedStore,
  type DumpedTable,
  type DumpedTombstone,
  type DumpOptions,
  tableOf,
} from "../../../ports/copies/store-dump.ts";
import type { AnyCollection } from "../../../ports/documents.ts";
import type { Logger } from "../../../ports/runtime/runtime.ts";
import { DELETE_RECORDER } from "../deletes/recorder-state.ts";
import { DocumentCollection } from "../documents/document-collection.ts";
import { DURABLE } from "../driver/collections.ts";
import { connect } from "../driver/connection.ts";
import type { Stopwatch } from "../driver/deadline.ts";
import { toAppError } from "../driver/errors.ts";
import { reserveNumbers } from "../driver/id-counters.ts";
import type { StoreDeps } from "../driver/operations.ts";
import { setFact } from "../driver/store-facts.ts";
import { counterOf, TOMBSTONES } from "../driver/tombstone-documents.ts";
import { TABLE_DEFINITIONS } from "../tables/table-inspection.ts";
import { ClaimedDatabase } from "./claim-empty-database.ts";
import { DatabaseDump } from "./database-dump.ts";
import { wholeDocument } from "./whole-documents.ts";

interface EmptyDatabaseOptions extends StoreClaim {
  readonly url: string;
  readonly clock: Stopwatch;
  readonly logger: Logger;
  readonly collections: readonly AnyCollection[];
  /** Makes these tables in the database, as a start does. */
  readonly prepare: (tables: readonly Table[]) => Promise<void>;
}

export class EmptyDatabase implements EmptyStore {
  readonly kind = "mongodb";
  readonly #options: EmptyDatabaseOptions;
  readonly #deps: Pick<StoreDeps, "client" | "db">;
  readonly #claim: ClaimedDatabase;
  /** True for what another database held. */
  #isOwnKind = false;
  #tables: ReadonlyMap<string, Table> = new Map();

  private constructor(
    options: EmptyDatabaseOptions,
    deps: Pick<StoreDeps, "client" | "db">,
    claim: ClaimedDatabase,
  ) {
    this.#options = options;
    this.#deps = deps;
    this.#claim = claim;
  }

  /** Throws `invalid_request` for a database that is not empty or that a service uses. */
  static async claim(options: EmptyDatabaseOptions): Promise<EmptyDatabase> {
    const { url, clock, logger } = options;
    const { client, db } = await connect(url, { clock, logger }, async () => {});
    try {
      const claim = await ClaimedDatabase.claim(db, options);
      return new EmptyDatabase(options, { client, db }, claim);
    } catch (error) {
      await client.close();
      throw failure(error);
    }
  }

  async begin({ store, tables }: DumpedStore): Promise<void> {
    this.#isOwnKind = store === "mongodb";
    const made = tables.map(tableOf);
    this.#tables = new Map(made.map((table) => [table.name, table]));
    await this.#options.prepare(made);
    await told(async () => {
      for (const table of tables) await this.#setNumbers(table);
    });
  }

  async write(part: DumpedPart): Promise<void> {
    const { name } = part;
    await told(async () => {
      if (part.of === "documents") await this.#writeDocuments(name, part.items);
      else if (part.of === "tombstones") await this.#writeTombstones(this.#table(name), part.items);
      else {
        const table = this.#table(name);
        const documents = part.items.map(({ row, rest = null }) =>
          wholeDocument(
            table,
            row,
            this.#isOwnKind && rest !== null ? Buffer.from(rest, "base64") : null,
          ),
        );
        await this.#insert(name, documents);
      }
    });
  }

  dump(options: DumpOptions = {}): Promise<Dump> {
    const { collections } = this.#options;
    return new DatabaseDump(this.#deps, collections).dump({ ...options, isStill: true });
  }

  async finish(deploymentId: string): Promise<void> {
    await told(async () => {
      await setFact(this.#db, "deployment_id", deploymentId);
      await setFact(this.#db, "format", String(STORE_FORMAT));
      await this.#claim.finish();
    });
    await this.#deps.client.close();
  }

  async giveUp(): Promise<void> {
    await this.#claim.giveUp();
    await this.#deps.client.close();
  }

  get #db() {
    return this.#deps.db;
  }

  #table(name: string): Table {
    const found = this.#tables.get(name);
    if (found === undefined) throw new Error(`No table "${name}" was dumped`);
    return found;
  }

  async #setNumbers({ name, isForeign, lastNumber, deletes }: DumpedTable): Promise<void> {
    if (lastNumber > 0) await reserveNumbers(this.#db, name, Long.fromNumber(lastNumber));
    if (isForeign && this.#isOwnKind) {
      const definitions = this.#db.collection<{ _id: string }>(TABLE_DEFINITIONS.name);
      const $set = { is_foreign: true };
      await definitions.updateOne({ _id: name }, { $set }, { writeConcern: DURABLE });
    }
    if (deletes === null) return;
    const { list, lastPlace, completeSince } = deletes;
    await reserveNumbers(this.#db, counterOf({ name }), Long.fromNumber(lastPlace));
    const $set = {
      [`tables.${name}.completeSince`]: new Date(completeSince),
      [`tables.${name}.list`]: list,
    };
    await this.#db
      .collection(DELETE_RECORDER.name)
      .updateOne({}, { $set }, { writeConcern: DURABLE });
  }

  async #writeDocuments(name: string, items: readonly object[]): Promise<void> {
    const collection = this.#options.collections.find((one) => one.name === name);
    if (collection === undefined) throw new Error(`No collection "${name}"`);
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
    const options = { ordered: false, writeConcern: DURABLE };
    await this.#db.collection(name).insertMany(documents, options);
  }
}

async function told(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw failure(error);
  }
}

function failure(error: unknown): unknown {
  const isOfDriver = error instanceof Error && "code" in error;
  return isOfDriver ? toAppError(error) : error;
}
