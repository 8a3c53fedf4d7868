// One PostgreSQL server for all tests of a process, started by the first that needs it, or that of POSTGRES_URL.
import { SQL } from "bun";
import { afterAllTests } from "./after-all-tests.ts";
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
