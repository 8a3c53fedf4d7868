// The stores that are measured, and the processes that serve from them: the service and its floor.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SQL } from "bun";
import { CITIES_REGISTRY } from "../../src/cli/demo/move-cities.ts";
import { startReplicaSet } from "../support/stores/mongo-replica-set.ts";
import { startPostgres } from "../support/stores/postgres-server.ts";
import { ADMIN } from "./administrator.ts";
import { MIXED, makePushBody, type Shape, TABLES } from "./bench-rows.ts";
import { type Checkout, OURS } from "./beside/checkout.ts";
import { type Server, startServer } from "./child-process.ts";
import { pushRows, SYNC_KEY } from "./client.ts";
import { copyMongoConsent, copyPostgresConsent, copySqliteConsent } from "./copy-consent.ts";
import type { StoreName } from "./result.ts";

const FILL_ROWS = 5_000;
/** As a server with a GiB for itself has. */
const BUFFERS = ["shared_buffers=256MB"];
let services = 0;
let labels = 0;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** One store to measure with. */
export interface BenchStore {
  readonly name: StoreName;
  /** Starts the service, ours unless said otherwise, on a place of that label, which is empty the first time. */
  startService(
    label: string,
    env?: Readonly<Record<string, string>>,
    of?: Checkout,
  ): Promise<Server>;
  /** `STORAGE_URL` of the place of that label. */
  storageUrl(label: string): string;
  /** Copies the only consent in the place of that label to other people. */
  copyConsent(label: string, usernames: readonly string[]): Promise<void> | void;
  /** Starts the floor of a table on a place that the service has made. */
  startFloor(label: string, table: string): Promise<Server>;
}

/** Every store that can be had here. */
export interface BenchStores {
  readonly stores: readonly BenchStore[];
  /** Why others cannot be had. */
  readonly missing: readonly string[];
  /** Removes everything they have stored. */
  close(): Promise<void>;
}

/** Opens the named stores, `sqlite`, `mongodb` and `postgresql`; the servers where their programs are here. PostgreSQL's data is on the disk. */
export async function openStores(names: readonly string[]): Promise<BenchStores> {
  const folder = mkdtempSync(join(tmpdir(), "repsync-bench-"));
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeAtExit);
  const tables = { ...TABLES, ...CITIES_REGISTRY.tables };
  writeFileSync(registryFile(folder), JSON.stringify({ tables }));
  const stores = names.includes("sqlite") ? [sqliteStore(folder)] : [];
  const missing: string[] = [];
  const stops: (() => Promise<void>)[] = [];
  const open = async (name: string, start: () => Promise<void>) => {
    if (!names.includes(name.toLowerCase())) return;
    await start().catch((error: Error) => missing.push(`${name}: ${error.message}`));
  };
  await open("MongoDB", async () => {
    const set = await startReplicaSet({ members: 3, electionTimeoutMs: 10_000 });
    stops.push(() => set.stop());
    stores.push(mongoStore(folder, (database) => set.uri(database)));
  });
  await open("PostgreSQL", async () => {
    const server = await startPostgres({ isDurable: true, root: tmpdir(), settings: BUFFERS });
    const admin = new SQL({ url: server.uri("postgres"), max: 1 });
    stops.push(
      () => admin.close(),
      () => server.stop(),
    );
    stores.push(postgresStore(folder, (database) => server.uri(database), admin));
  });
  return {
    stores,
    missing,
    close: async () => {
      for (const stop of stops) await stop();
      removeAtExit();
      process.off("exit", removeAtExit);
    },
  };
}

/** A label that no other place has. */
export function newLabel(name: string): string {
  return `${name}_${++labels}`;
}

/** Starts a service, ours unless said otherwise, on a new place with so many rows. */
export async function startFilled(
  store: BenchStore,
  { rows, label = newLabel("filled"), checkout, shape }: FilledStart,
): Promise<Server> {
  const service = await store.startService(label, {}, checkout);
  try {
    await fill(service, rows, shape);
    return service;
  } catch (error) {
    await service.stop();
    throw error;
  }
}

interface FilledStart {
  readonly rows: number;
  readonly label?: string;
  readonly checkout?: Checkout;
  readonly shape?: Shape;
}

/** Our service, and its floor. */
export interface Pair {
  readonly service: Server;
  readonly floor: Server;
  stop(): Promise<void>;
}

/** Starts both, each on a place of its own with the same rows, made by a service. */
export async function startBoth(store: BenchStore, rows: number, shape: Shape): Promise<Pair> {
  const label = newLabel("floor");
  await (await startFilled(store, { rows, label, shape })).stop();
  const service = await startFilled(store, { rows, shape });
  try {
    const floor = await store.startFloor(label, shape.table);
    const stop = async () => {
      await Promise.all([service.stop(), floor.stop()]);
    };
    return { service, floor, stop };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** Pushes the first rows of a table. */
export async function fill(server: Server, rows: number, shape = MIXED): Promise<void> {
  for (let first = 0; first < rows; first += FILL_ROWS) {
    const some = shape.makeRows(first, Math.min(FILL_ROWS, rows - first));
    await pushRows(server.url, makePushBody(some), shape);
  }
}

function sqliteStore(folder: string): BenchStore {
  const file = (label: string) => join(folder, `${label}.db`);
  return {
    name: "SQLite",
    startService: (label, env, checkout) =>
      startService(folder, { url: `sqlite:${file(label)}`, env, checkout }),
    storageUrl: (label) => `sqlite:${file(label)}`,
    copyConsent: (label, usernames) => copySqliteConsent(file(label), usernames),
    startFloor: (label, table) =>
      startFloor(folder, { name: "sqlite-floor.ts", target: file(label), table }),
  };
}

function mongoStore(folder: string, uri: (database: string) => string): BenchStore {
  return {
    name: "MongoDB",
    startService: (label, env, checkout) =>
      startService(folder, { url: uri(label), env, checkout }),
    storageUrl: uri,
    copyConsent: (label, usernames) => copyMongoConsent(uri(label), usernames),
    startFloor: (label, table) =>
      startFloor(folder, { name: "mongo-floor.ts", target: uri(label), table }),
  };
}

function postgresStore(folder: string, uri: (database: string) => string, admin: SQL): BenchStore {
  const made = new Set<string>();
  return {
    name: "PostgreSQL",
    startService: async (label, env, checkout) => {
      if (!made.has(label)) await admin.unsafe(`create database ${label} template template0`);
      made.add(label);
      return await startService(folder, { url: uri(label), env, checkout });
    },
    storageUrl: uri,
    copyConsent: (label, usernames) => copyPostgresConsent(uri(label), usernames),
    startFloor: (label, table) =>
      startFloor(folder, { name: "postgres-floor.ts", target: uri(label), table }),
  };
}

/** A service to start; `env` has the last word. */
interface ServiceStart {
  readonly url: string;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly checkout: Checkout | undefined;
}

function startService(
  folder: string,
  { url, env = {}, checkout = OURS }: ServiceStart,
): Promise<Server> {
  return startServer({
    command: checkout.bun,
    args: [checkout.main],
    env: {
      PORT: "0",
      STORAGE_URL: url,
      SYNC_ENABLED: "true",
      SYNC_API_KEY: SYNC_KEY,
      ADMIN_USERNAME: ADMIN.username,
      ADMIN_PASSWORD: ADMIN.password,
      SYNC_TABLES: registryFile(folder),
      ACCOUNT_WRITES_PER_MINUTE: "100000",
      ...env,
    },
    logFile: join(folder, `service-${++services}.log`),
    findUrl: listeningUrl,
  });
}

function startFloor(
  folder: string,
  {
    name,
    target,
    table,
  }: { readonly name: string; readonly target: string; readonly table: string },
): Promise<Server> {
  return startServer({
    command: process.execPath,
    args: [join(ROOT, "tests/bench/floors", name)],
    env: { FLOOR_TARGET: target, FLOOR_TABLE: table },
    logFile: join(folder, "floor.log"),
    findUrl: listeningUrl,
  });
}

function registryFile(folder: string): string {
  return join(folder, "tables.json");
}

function listeningUrl(line: string): string | null {
  return / is listening on (\S+)$/.exec(line)?.[1] ?? null;
}
