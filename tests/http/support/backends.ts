// The stores that the same HTTP tests run on.
import { describe } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import { keepResource } from "../../support/resources.ts";
import { giveBackDatabase, takeDatabase } from "../../support/stores/mongo-databases.ts";
import { mongoAvailable } from "../../support/stores/shared-mongo.ts";
import {
  dropPostgresDatabase,
  makePreparedDatabase,
  postgresAvailable,
} from "../../support/stores/shared-postgres.ts";
import { IS_QUICK } from "../../support/test-run.ts";
import { makeTempFolder } from "./make-temp-folder.ts";

/** One kind of store. */
export interface Backend {
  readonly name: string;
  /** False: there is none here, and why has been printed. */
  readonly isAvailable: boolean;
  /** Where columns hold values of their own types alone. D-12.1. */
  readonly holds?: "own types";
  /** Where late commits of other programs are told of, and no allowance is needed. D-12.3. */
  readonly tellsCommits?: true;
  /** A `STORAGE_URL` that nobody else uses. */
  makeUrl(): Promise<string>;
}

/** A file, removed after the test. */
export const SQLITE_FILE: Backend = {
  name: "SQLite file",
  isAvailable: true,
  makeUrl: async () => `sqlite:${join(makeTempFolder(), "repsync.db")}`,
};

/** A database of the replica set that all tests share, emptied after the test. */
export const MONGODB: Backend = {
  name: "MongoDB",
  isAvailable: mongoAvailable,
  async makeUrl() {
    const url = await takeDatabase();
    keepResource(() => giveBackDatabase(url));
    return url;
  },
};

/** A database of the server that all tests share, with the service's collections made: dropped after the test. */
export const POSTGRESQL: Backend = {
  name: "PostgreSQL",
  isAvailable: postgresAvailable,
  holds: "own types",
  tellsCommits: true,
  async makeUrl() {
    const url = await makePreparedDatabase();
    keepResource(() => dropPostgresDatabase(url));
    return url;
  },
};

/** A connection of another program to PostgreSQL or a SQLite file, closed after the test. */
export function connectSql(url: string): SQL {
  const sql = new SQL(url, { max: 1 });
  keepResource(() => sql.close());
  return sql;
}

const SERVERS: readonly Backend[] = [MONGODB, POSTGRESQL];
export const BACKENDS: readonly Backend[] = [SQLITE_FILE, ...SERVERS];

/** Declares tests of what is decided above the store, in a file: the suites of repositories and ports play on every store. */
export function onOneBackend(name: string, tests: (backend: Backend) => void): void {
  describe(`${name} on ${SQLITE_FILE.name}`, () => tests(SQLITE_FILE));
}

/** Declares the same tests for each kind of store. */
export function onEveryBackend(name: string, tests: (backend: Backend) => void): void {
  onBackends(BACKENDS, name, tests);
}

/** The same for those whose share of the tests is worth its time. */
export function onBackends(
  backends: readonly Backend[],
  name: string,
  tests: (backend: Backend) => void,
): void {
  const played = IS_QUICK ? backends.filter((each) => !SERVERS.includes(each)) : backends;
  for (const backend of played) {
    describe.skipIf(!backend.isAvailable)(`${name} on ${backend.name}`, () => tests(backend));
  }
}
