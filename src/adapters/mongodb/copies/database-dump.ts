// Reads a whole database as of one moment. D-10.7.
import { Buffer } from "node:buffer";
import type { ClientSession, Collection, Db, Document } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { parseJson, rawNumber } from "../../../domain/shared/json.ts";
import { storeHeld } from "../../../domain/shared/store-format.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { StoppedStore } from "../../../ports/copies/store-copies.ts";
import {
  type Dump,
  type DumpedDeletes,
  type DumpedRow,
  type DumpedTable,
  type DumpedTombstone,
  type DumpReader,
  dumpedEntry,
  dumpOf,
} from "../../../ports/copies/store-dump.ts";
import { type AnyCollection, copiedOf } from "../../../ports/documents.ts";
import type { Logger } from "../../../ports/runtime/runtime.ts";
import { DELETE_RECORDER, type RecorderState } from "../deletes/recorder-state.ts";
import { DocumentCollection } from "../documents/document-collection.ts";
import { COUNTERS } from "../driver/collections.ts";
import { connect } from "../driver/connection.ts";
import type { Stopwatch } from "../driver/deadline.ts";
import {
  asAppErrors,
  driverFailure,
  hasCode,
  SNAPSHOT_TOO_OLD,
  SNAPSHOT_UNAVAILABLE,
} from "../driver/errors.ts";
import { Holder, isHeld } from "../driver/holders.ts";
import { COMMITTED } from "../driver/operations.ts";
import { STORE_FACTS } from "../driver/store-facts.ts";
import { counterOf, TOMBSTONES, type TombstoneDocument } from "../driver/tombstone-documents.ts";
import { RowReader } from "../tables/row-reader.ts";
import { TABLE_DEFINITIONS, type TableDefinition } from "../tables/table-fit.ts";
import { layoutOf } from "../tables/table-layout.ts";
import { restOf } from "./whole-documents.ts";

const SNAPSHOT_TRIES = 5;
/** Why a document cannot be written back. */
const UNKEPT =
  "its document has a value that no driver writes: undefined, a DBPointer, a time beyond the year 275760, or a text that is no UTF-8";
const BATCH = 1_000;

interface DumpedDatabase {
  readonly db: Db;
  /** True where nobody writes: then no snapshot is needed, and the server keeps no history for it. */
  readonly isStill?: boolean;
}

type ReadOptions = typeof COMMITTED | { readonly session: ClientSession };

/** As `DumpedSource.dump()`, with copies of the collections. */
export async function dumpDatabase(
  { db, isStill = false }: DumpedDatabase,
  all: readonly AnyCollection[],
): Promise<Dump> {
  const collections = copiedOf(all);
  for (let tries = 1; ; tries++) {
    const session = isStill ? null : db.client.startSession({ snapshot: true });
    const reading = new Reading(db, session === null ? COMMITTED : { session });
    const end = () => session?.endSession();
    try {
      const about = await reading.about(collections);
      const reader: DumpReader = {
        documents: (from) => reading.documents(new DocumentCollection(from)),
        rows: (table) => reading.rows(table),
        tombstones: ({ name }) => reading.tombstones(name),
        failure: readFailure,
        end,
      };
      return dumpOf(about, collections, reader);
    } catch (error) {
      await end();
      // A collection was just made.
      if (hasCode(error, SNAPSHOT_UNAVAILABLE) && tries < SNAPSHOT_TRIES) continue;
      throw readFailure(error);
    }
  }
}

class Reading {
  readonly #db: Db;
  readonly #read: ReadOptions;

  constructor(db: Db, read: ReadOptions) {
    this.#db = db;
    this.#read = read;
  }

  /** Looks into every collection, so that one that the snapshot lacks is found before the first part. */
  async about(collections: readonly AnyCollection[]) {
    const [id] = await this.#all(STORE_FACTS, { _id: "deployment_id" });
    const [state] = await this.#all(DELETE_RECORDER.name);
    const definitions = await this.#all(TABLE_DEFINITIONS.name);
    const counters = new Map(
      (await this.#all(COUNTERS.name)).map(({ _id, last }) => [String(_id), Number(last)]),
    );
    const tables = (definitions as unknown as TableDefinition[]).map((definition) =>
      described(definition, state as RecorderState | undefined, counters),
    );
    const own = collections.map((one) => new DocumentCollection(one).name);
    const names = [...own, ...tables.map(({ name }) => name)];
    let items = 0;
    for (const name of [...names, TOMBSTONES.name]) {
      await this.#collection(name).findOne({}, { ...this.#read, projection: { _id: 1 } });
      items += await this.#collection(name).estimatedDocumentCount();
    }
    const deploymentId = String(id?.["value"]);
    return { store: "mongodb" as const, deploymentId, tables, items };
  }

  async *documents(own: DocumentCollection): AsyncGenerator<object> {
    const sorted = { ...this.#read, batchSize: BATCH, sort: { _id: 1 } as const };
    for await (const stored of this.#collection(own.name).find({}, sorted)) {
      yield own.documentOf(stored);
    }
  }

  async *rows(table: Table): AsyncGenerator<DumpedRow> {
    const reader = new RowReader(layoutOf(table), table.columns);
    const raw = { ...this.#read, batchSize: BATCH, raw: true };
    for await (const document of this.#collection(table.name).find({}, raw)) {
      const bson = document as unknown as Uint8Array;
      const row = withRawZero(reader.read(bson));
      const rest = restOf(table, row, bson);
      yield rest === null
        ? { row, unkept: UNKEPT }
        : { row, rest: Buffer.from(rest).toString("base64") };
    }
  }

  async *tombstones(table: string): AsyncGenerator<DumpedTombstone> {
    const sorted = { ...this.#read, batchSize: BATCH, sort: { place: 1 } as const };
    const found = this.#collection(TOMBSTONES.name).find({ table }, sorted);
    for await (const tombstone of found) {
      const { place, key, deletedAt, takenAt } = tombstone as unknown as TombstoneDocument;
      yield { place, key: parseJson(key) as Row, deletedAt, takenAtMs: takenAt.getTime() };
    }
  }

  async #all(name: string, filter: Document = {}): Promise<readonly Document[]> {
    return await this.#collection(name)
      .find(filter, { ...this.#read, sort: { _id: 1 } })
      .toArray();
  }

  #collection(name: string): Collection {
    return this.#db.collection(name);
  }
}

function described(
  { _id: name, columns, upsert_key, timestamp_column, has_numbers, is_foreign }: TableDefinition,
  state: RecorderState | undefined,
  counters: ReadonlyMap<string, number>,
): DumpedTable {
  const kept = { columns, key: upsert_key, timestamp: timestamp_column };
  return {
    name,
    entry: dumpedEntry({ ...kept, numbered: has_numbers }),
    isForeign: is_foreign,
    lastNumber: counters.get(name) ?? 0,
    deletes: timestamp_column === null ? null : deletesOf(name, state, counters),
  };
}

function deletesOf(
  name: string,
  state: RecorderState | undefined,
  counters: ReadonlyMap<string, number>,
): DumpedDeletes | null {
  const recorded = state?.tables[name];
  if (recorded === undefined) return null;
  return {
    list: recorded.list,
    lastPlace: counters.get(counterOf({ name })) ?? 0,
    completeSince: formatMs(recorded.completeSince.getTime()),
  };
}

/** Gives -0 as other stores do. */
function withRawZero(row: Row): Row {
  for (const name in row) {
    if (Object.is(row[name], -0)) (row as Record<string, unknown>)[name] = rawNumber("-0");
  }
  return row;
}

function readFailure(error: unknown): unknown {
  if (hasCode(error, SNAPSHOT_TOO_OLD)) {
    const text =
      "MongoDB keeps too little of its history for a backup of one moment: raise minSnapshotHistoryWindowInSeconds (300 by default) to more seconds than the backup takes";
    return new AppError("store_unavailable", text, { cause: error });
  }
  return driverFailure(error);
}

export interface DatabaseAddress {
  readonly url: string;
  readonly clock: Stopwatch;
  readonly logger: Logger;
  readonly collections: readonly AnyCollection[];
}

export async function openStoppedDatabase(address: DatabaseAddress): Promise<StoppedStore> {
  const { db, client } = await connect(address.url, address);
  const holder = new Holder(db);
  return {
    dump: () => dumpDatabase({ db, isStill: true }, address.collections),
    async requireStopped() {
      await asAppErrors(holder.begin());
      if (await isHeld(db, holder.id)) throw storeHeld();
    },
    async close() {
      await holder.end();
      await client.close();
    },
  };
}
