// Opens MongoDB as a store: one client, its options stated, and the check that the deployment can do what is needed.
import {
  type Db,
  MongoClient,
  type MongoClientOptions,
  MongoError,
  MongoServerSelectionError,
} from "mongodb";
import { AppError } from "../../domain/errors.ts";
import type { Storage } from "../../ports/storage.ts";
import { retry, type Stopwatch, startDeadline } from "./deadline.ts";
import { MongoMarkerStore } from "./marker-store.ts";
import { hasCode, toAppError } from "./mongo-errors.ts";
import { PrimaryWatch } from "./primary-watch.ts";
import { TableDefinitions } from "./table-definitions.ts";
import { createCollection } from "./table-preparer.ts";
import { MongoTableStore } from "./table-store.ts";
import { TableVersions } from "./table-versions.ts";

/** Where the store is. */
export interface MongoStorageOptions {
  /** `mongodb://` or `mongodb+srv://` with a database name. */
  readonly url: string;
  /** Measures deadlines and how long anything is remembered. */
  readonly clock: Stopwatch;
}

/** One try to find a server; a call of a port makes several until its own deadline. */
const SERVER_SELECTION_MS = 5_000;
const CONNECT_MS = 5_000;
/** With `CONNECT_MS` the time after which a server that froze is noticed and its calls end. */
const HEARTBEAT_MS = 2_000;
/** Connections per server; a page uses up to three at once. */
const MAX_POOL_CONNECTIONS = 64;
/** Wait for a free connection before the call is tried again. */
const WAIT_QUEUE_MS = 5_000;

/** What a URL may say otherwise. */
const TUNABLE: MongoClientOptions = {
  appName: "repsync",
  serverSelectionTimeoutMS: SERVER_SELECTION_MS,
  connectTimeoutMS: CONNECT_MS,
  heartbeatFrequencyMS: HEARTBEAT_MS,
  maxPoolSize: MAX_POOL_CONNECTIONS,
  waitQueueTimeoutMS: WAIT_QUEUE_MS,
};
/** What the promises of the ports rest on, whatever the URL says. */
const FIXED: MongoClientOptions = {
  readPreference: "primary",
  writeConcern: { w: "majority", journal: true },
  retryReads: true,
  retryWrites: true,
};

/** First version that reads snapshots outside of transactions: MongoDB 5.0. */
const MIN_WIRE_VERSION = 13;
const AUTHENTICATION_FAILED = 18;
/** Databases that belong to MongoDB itself. */
const SYSTEM_DATABASES: ReadonlySet<string> = new Set(["admin", "config", "local"]);

/**
 * Connects to MongoDB.
 * Throws `invalid_request` for a URL that cannot be used, and `store_unavailable` when the deployment cannot be
 * reached, refuses the credentials, or is neither a replica set nor a sharded cluster. No message holds the URL.
 */
export async function openMongoStorage(options: MongoStorageOptions): Promise<Storage> {
  const { url, clock } = options;
  const databaseName = readDatabaseName(url);
  try {
    return await retry(startDeadline(clock), async () => {
      const client = makeClient(url);
      try {
        return await openStorage(client, client.db(databaseName), clock);
      } catch (error) {
        await client.close();
        throw error;
      }
    });
  } catch (error) {
    throw openError(error);
  }
}

class MongoStorage implements Storage {
  readonly tables: MongoTableStore;
  readonly markers: MongoMarkerStore;
  readonly #client: MongoClient;
  readonly #db: Db;
  #closing: Promise<void> | undefined;

  constructor(parts: {
    client: MongoClient;
    db: Db;
    clock: Stopwatch;
    primaryWatch: PrimaryWatch;
  }) {
    this.#client = parts.client;
    this.#db = parts.db;
    this.tables = new MongoTableStore({ ...parts, versions: new TableVersions(parts.db) });
    this.markers = new MongoMarkerStore(parts);
  }

  async ping(timeoutMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      const message = `MongoDB did not answer within ${timeoutMs} ms`;
      timer = setTimeout(() => reject(new AppError("store_unavailable", message)), timeoutMs);
    });
    try {
      await Promise.race([this.#db.command({ ping: 1 }), timeout]);
    } catch (error) {
      throw toAppError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#client.close();
    return this.#closing;
  }
}

function readDatabaseName(url: string): string {
  const match = /^mongodb(?:\+srv)?:\/\/[^/?]+\/([^/?]*)/.exec(url);
  const name = decodeURIComponent(match?.[1] ?? "");
  if (name === "" || SYSTEM_DATABASES.has(name)) {
    const state = name === "" ? "none" : `"${name}"`;
    throw new AppError(
      "invalid_request",
      `The MongoDB URL needs a database name of its own, as in mongodb://host/repsync?replicaSet=rs0: it has ${state}`,
    );
  }
  return name;
}

function makeClient(url: string): MongoClient {
  const isInUrl = (name: string) => new RegExp(`[?&]${name}=`, "i").test(url);
  const tuned = Object.entries(TUNABLE).filter(([name]) => !isInUrl(name));
  try {
    return new MongoClient(url, { ...Object.fromEntries(tuned), ...FIXED });
  } catch (error) {
    // Errors of the URL parser hold the URL; those of the driver name the option.
    const detail = error instanceof MongoError ? `: ${error.message}` : "";
    throw new AppError("invalid_request", `The MongoDB URL cannot be read${detail}`);
  }
}

async function openStorage(client: MongoClient, db: Db, clock: Stopwatch): Promise<Storage> {
  const primaryWatch = new PrimaryWatch(client, db);
  await client.connect();
  await checkDeployment(db);
  const names = [
    MongoMarkerStore.collectionName,
    TableDefinitions.collectionName,
    TableVersions.collectionName,
  ];
  for (const name of names) await createCollection(db, name);
  return new MongoStorage({ client, db, clock, primaryWatch });
}

async function checkDeployment(db: Db): Promise<void> {
  const hello = await db.command({ hello: 1 });
  const isSharded = hello["msg"] === "isdbgrid";
  if (!isSharded && hello["setName"] === undefined) {
    throw new AppError(
      "store_unavailable",
      "MongoDB is a single server without transactions: start mongod with --replSet rs0 and run rs.initiate() once",
    );
  }
  if (Number(hello["maxWireVersion"]) < MIN_WIRE_VERSION) {
    throw new AppError("store_unavailable", "MongoDB is older than 5.0: upgrade it");
  }
}

function openError(error: unknown): AppError {
  if (hasCode(error, AUTHENTICATION_FAILED)) {
    const message = "MongoDB refused the credentials of the URL";
    return new AppError("store_unavailable", message, { cause: error });
  }
  if (error instanceof MongoServerSelectionError) {
    const servers = [...(error.reason?.servers.values() ?? [])];
    if (servers.some((server) => server.type === "RSGhost")) {
      const message =
        "MongoDB runs with --replSet but without a replica set: run rs.initiate() once";
      return new AppError("store_unavailable", message, { cause: error });
    }
  }
  return toAppError(error);
}
