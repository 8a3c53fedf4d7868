// Databases on the shared replica set, one per test, emptied and taken again: making all collections takes five times as long.
import { type Db, MongoClient, MongoServerError } from "mongodb";
import {
  DELETE_BARRIERS,
  DELETE_RECORDER,
} from "../../../src/adapters/mongodb/deletes/recorder-state.ts";
import { COUNTERS } from "../../../src/adapters/mongodb/driver/collections.ts";
import { HOLDERS } from "../../../src/adapters/mongodb/driver/holders.ts";
import { TIME } from "../../../src/adapters/mongodb/driver/operations.ts";
import { readFacts, STORE_FACTS } from "../../../src/adapters/mongodb/driver/store-facts.ts";
import {
  OWN_DELETES,
  TOMBSTONES,
} from "../../../src/adapters/mongodb/driver/tombstone-documents.ts";
import { VERSIONS } from "../../../src/adapters/mongodb/driver/versions.ts";
import { TABLE_DEFINITIONS } from "../../../src/adapters/mongodb/tables/table-fit.ts";
import { STORE_FORMAT } from "../../../src/domain/shared/store-format.ts";
import { COLLECTIONS } from "../../../src/repositories/collections.ts";
import { sharedMongo } from "./shared-mongo.ts";

const STORE = [DELETE_BARRIERS, DELETE_RECORDER, HOLDERS, COUNTERS, OWN_DELETES, TIME];
const TABLES = [TOMBSTONES, VERSIONS, TABLE_DEFINITIONS];
/** What stays, empty. */
const KEPT = [
  ...COLLECTIONS.map(({ name }) => `repsync_${name}`),
  ...[...STORE, ...TABLES].map(({ name }) => name),
];
const isKeptFact = (name: string) => name === "deployment_id" || name === "collections";
const MAX_TIME_EXPIRED = 50;
const EMPTY_MAX_MS = 1_000;

let made = 0;
const free: string[] = [];
let cleaner: MongoClient | null = null;

/**
 * The address of a database of one's own. It is empty, and may have the service's collections and identity; it has
 * nothing at all with `isNew`.
 */
export async function takeDatabase({ isNew = false } = {}): Promise<string> {
  const mongo = await sharedMongo();
  if (mongo === null) throw new Error("There is no mongod");
  const name = isNew ? undefined : free.pop();
  return mongo.uri(name ?? `test_${process.pid}_${made++}`);
}

/** Empties it for another test. */
export async function giveBackDatabase(url: string): Promise<void> {
  cleaner ??= new MongoClient(url);
  const db = cleaner.db(new URL(url).pathname.slice(1));
  try {
    const { format, ...others } = Object.fromEntries(await readFacts(db));
    const isUsable = format === String(STORE_FORMAT) && Object.keys(others).every(isKeptFact);
    if (!isUsable) {
      await db.command({ dropDatabase: 1, maxTimeMS: EMPTY_MAX_MS });
      return;
    }
    await empty(db);
    free.push(db.databaseName);
  } catch (error) {
    // What a killed service left open of a transaction holds its collections for a minute.
    if (!(error instanceof MongoServerError) || error.code !== MAX_TIME_EXPIRED) throw error;
  }
}

async function empty(db: Db): Promise<void> {
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  for (const { name } of found) {
    const isKept = KEPT.includes(name) || name === STORE_FACTS || name.startsWith("system.");
    if (!isKept) await db.command({ drop: name, maxTimeMS: EMPTY_MAX_MS });
  }
  const firsts = KEPT.map((coll) => ({
    $unionWith: {
      coll,
      pipeline: [{ $limit: 1 }, { $project: { _id: 0, coll: { $literal: coll } } }],
    },
  }));
  const filled = db.collection(STORE_FACTS).aggregate([{ $match: { $expr: false } }, ...firsts]);
  for (const { coll } of await filled.toArray()) {
    await db.collection(coll).deleteMany({}, { maxTimeMS: EMPTY_MAX_MS });
  }
}
