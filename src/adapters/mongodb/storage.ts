// Opens MongoDB as a store: one client, its options stated, and the check that the deployment can do what is needed.
import {
  type Db,
  MongoClient,
  type MongoClientOptions,
  MongoError,
  MongoServerSelectionError,
} from "mongodb";
import { AppError } from "../../domain/shared/errors.ts";
import type { ReputationOptions, ReputationStores } from "../../ports/reputation-stores.ts";
import type { FullStorage } from "../../ports/storage.ts";
import type { PreparedTables } from "../../ports/tables/table-store.ts";
import { ACCOUNTS, MongoAccountStore } from "./accounts/account-store.ts";
import { MongoSecretStore, SECRETS } from "./accounts/secret-store.ts";
import { MongoSessionStore, SESSIONS } from "./accounts/session-store.ts";
import { ATTEMPTS, MongoSignInGuard } from "./accounts/sign-in-guard.ts";
import { makeCollections } from "./driver/collections.ts";
import {
  REQUEST_CALLS,
  retry,
  type Stopwatch,
  SYNC_CALLS,
  startDeadline,
} from "./driver/deadline.ts";
import { hasCode, toAppError } from "./driver/errors.ts";
import { COUNTERS } from "./driver/id-counters.ts";
import type { StoreDeps } from "./driver/operations.ts";
import type { VersionedDeps } from "./driver/person-changes.ts";
import { PERSON_VERSIONS } from "./driver/person-versions.ts";
import { PrimaryWatch } from "./driver/primary-watch.ts";
import type { StoreClock } from "./driver/server-clock.ts";
import { TableVersions } from "./driver/table-versions.ts";
import { openMongoReputation } from "./reputation-stores.ts";
import { LEASES, MongoLeaseStore } from "./runs/lease-store.ts";
import { MongoMarkerStore } from "./runs/marker-store.ts";
import { MongoRejectedRecords, REJECTED, REJECTED_DETAILS } from "./runs/rejected-records.ts";
import { MongoRunStore, RUNS } from "./runs/run-store.ts";
import { MongoRowSource } from "./tables/row-source.ts";
import { TableDefinitions } from "./tables/table-inspection.ts";
import { MongoTableStore } from "./tables/table-store.ts";

/** Where the store is. */
export interface MongoStorageOptions {
  /** `mongodb://` or `mongodb+srv://` with a database name. */
  readonly url: string;
  /** Measures deadlines and how long anything is remembered. */
  readonly clock: Stopwatch;
  /**
   * Tells the time of sessions and lookups; without one the server does. The same for all instances on the database.
   */
  readonly storeClock?: StoreClock;
}

/** One try to find a server; a call of a port makes several until its own deadline. */
const SERVER_SELECTION_MS = 5_000;
const CONNECT_MS = 5_000;
/** With `CONNECT_MS` the time after which a server that froze is noticed and its calls end. */
const HEARTBEAT_MS = 2_000;
/** Connections per server; a page uses up to two at once. */
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

/** Collections of repsync's own. */
const INTERNAL_COLLECTIONS = [
  { name: MongoMarkerStore.collectionName },
  { name: TableDefinitions.collectionName },
  { name: TableVersions.collectionName },
  ...[PERSON_VERSIONS, COUNTERS, LEASES, RUNS, REJECTED, REJECTED_DETAILS],
  ...[ACCOUNTS, SESSIONS, ATTEMPTS, SECRETS],
];

/** First version that reads snapshots outside of transactions: MongoDB 5.0. */
const MIN_WIRE_VERSION = 13;
const AUTHENTICATION_FAILED = 18;
/** The characters that MongoDB takes in names of databases on every system, and no coded ones. */
const DATABASE_NAME = /^[^\s%."$*<>:|?\\/]{1,63}$/;
/** Databases that belong to MongoDB itself. */
const SYSTEM_DATABASES: ReadonlySet<string> = new Set(["admin", "config", "local"]);

/**
 * Connects to MongoDB.
 * Throws `invalid_request` for a URL that cannot be used, and `store_unavailable` when the deployment cannot be
 * reached, refuses the credentials, or is neither a replica set nor a sharded cluster. No message holds the URL.
 */
export async function openMongoStorage(options: MongoStorageOptions): Promise<FullStorage> {
  const { url, clock, storeClock = null } = options;
  const databaseName = readDatabaseName(url);
  try {
    return await retry(startDeadline(clock), async () => {
      const client = makeClient(url);
      try {
        return await openStorage({ client, db: client.db(databaseName), clock, storeClock });
      } catch (error) {
        await client.close();
        throw error;
      }
    });
  } catch (error) {
    throw openError(error);
  }
}

class MongoStorage implements FullStorage {
  readonly tables: MongoTableStore;
  readonly markers: MongoMarkerStore;
  readonly rows: MongoRowSource;
  readonly leases: MongoLeaseStore;
  readonly runs: MongoRunStore;
  readonly rejected: MongoRejectedRecords;
  readonly accounts: MongoAccountStore;
  readonly sessions: MongoSessionStore;
  readonly signIns: MongoSignInGuard;
  readonly secrets: MongoSecretStore;
  /** Of the accounts half, whose calls requests under `/v1` wait for. */
  readonly #parts: VersionedDeps;
  #closing: Promise<void> | undefined;

  constructor(parts: StoreDeps) {
    const versions = new TableVersions(parts.db);
    this.#parts = { ...parts, versions, callLimit: REQUEST_CALLS };
    this.tables = new MongoTableStore({ ...parts, versions });
    this.markers = new MongoMarkerStore(parts);
    this.rows = new MongoRowSource(parts);
    this.leases = new MongoLeaseStore(parts);
    this.runs = new MongoRunStore(parts);
    this.rejected = new MongoRejectedRecords(parts);
    this.accounts = new MongoAccountStore(this.#parts);
    this.sessions = new MongoSessionStore(this.#parts);
    this.signIns = new MongoSignInGuard(this.#parts);
    this.secrets = new MongoSecretStore(this.#parts);
  }

  openReputation(tables: PreparedTables, options: ReputationOptions): Promise<ReputationStores> {
    return openMongoReputation(this.#parts, tables, options);
  }

  async ping(timeoutMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      const message = `MongoDB did not answer within ${timeoutMs} ms`;
      timer = setTimeout(() => reject(new AppError("store_unavailable", message)), timeoutMs);
    });
    try {
      await Promise.race([this.#parts.db.command({ ping: 1 }), timeout]);
    } catch (error) {
      throw toAppError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#parts.client.close();
    return this.#closing;
  }
}

function readDatabaseName(url: string): string {
  const name = /^mongodb(?:\+srv)?:\/\/[^/?]+\/([^/?]*)/.exec(url)?.[1] ?? "";
  if (!DATABASE_NAME.test(name) || SYSTEM_DATABASES.has(name)) {
    // What stands in its place may be part of a password.
    const state = name === "" ? "none" : "none that can be used (in a password, write / as %2F)";
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

async function openStorage(
  parts: Omit<StoreDeps, "primaryWatch" | "callLimit">,
): Promise<FullStorage> {
  const { client, db } = parts;
  const primaryWatch = new PrimaryWatch(client, db);
  await client.connect();
  await checkDeployment(db);
  await makeCollections(db, INTERNAL_COLLECTIONS);
  return new MongoStorage({ ...parts, primaryWatch, callLimit: SYNC_CALLS });
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
