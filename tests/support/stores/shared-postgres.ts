// One PostgreSQL server for all tests of a process, started by the first that needs it, or that of POSTGRES_URL.
import { SQL } from "bun";
import { openPostgresStorage } from "../../../src/adapters/postgres/storage.ts";
import { SystemClock } from "../../../src/adapters/system/system.ts";
import { COLLECTIONS } from "../../../src/repositories/collections.ts";
import { afterAllTests } from "../test-run.ts";
import { findPostgres, startPostgres } from "./postgres-server.ts";

const named = process.env["POSTGRES_URL"];
const isLeftOut = process.env["TEST_STORES"] === "sqlite";
const found = isLeftOut
  ? { reason: "TEST_STORES is sqlite" }
  : named === undefined
    ? findPostgres()
    : { path: named };
const problem = "reason" in found ? found.reason : undefined;
if (problem && !isLeftOut) {
  if (process.env.CI === "true") throw new Error(`CI needs a PostgreSQL: ${problem}`);
  console.error(`\n*** PostgreSQL tests are SKIPPED, no server: ${problem} ***\n`);
}

/** Whether there is a server: `describe.skipIf(!postgresAvailable)`. The reason has been printed. */
export const postgresAvailable = problem === undefined;

let starting: Promise<string> | undefined;
let databases = 0;

/** The address of a new database, empty or a copy of one that nobody has open. */
export async function makePostgresDatabase(template: string | null = null): Promise<string> {
  starting ??= startAndStopLater();
  const url = new URL(await starting);
  const name = `repsync_test_${process.pid}_${++databases}`;
  const from = template === null ? "template0" : new URL(template).pathname.slice(1);
  const admin = new SQL({ url: url.href, max: 1 });
  // Much cheaper than by the log, where little else is written meanwhile.
  await admin.unsafe(`create database ${name} template ${from} strategy file_copy`);
  await admin.close();
  url.pathname = `/${name}`;
  return url.href;
}

let template: Promise<string> | undefined;

/** One with the service's collections and nothing in them: making them takes ten times as long as copying them. */
export async function makePreparedDatabase(): Promise<string> {
  template ??= makeTemplate();
  return await makePostgresDatabase(await template);
}

async function makeTemplate(): Promise<string> {
  const url = await makePostgresDatabase();
  const storage = await openPostgresStorage({ url, clock: new SystemClock() });
  await storage.documents.prepare(COLLECTIONS);
  await storage.close();
  const sql = new SQL({ url, max: 1 });
  // Each copy is a store that is new.
  await sql.unsafe("drop table repsync._facts, repsync._tables");
  await sql.close();
  return url;
}

export async function dropPostgresDatabase(url: string): Promise<void> {
  const admin = new SQL({ url: (await starting) ?? url, max: 1 });
  await admin.unsafe(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
  await admin.close();
}

async function startAndStopLater(): Promise<string> {
  if (named !== undefined) return named;
  const server = await startPostgres();
  if (process.env["BUN_TEST_WORKER_ID"] === undefined) afterAllTests(() => server.stop());
  return server.uri("postgres");
}
