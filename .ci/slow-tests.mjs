// What `npm test` leaves to `npm run test:slow`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./setup.mjs";

/**
 * What kills, waits for elections, makes servers or disks fail, makes many rows or requests, or needs the package registry and
 * programs of others; and what only one kind of server has. MongoDB's suite of rows takes longer than any other file: those of
 * PostgreSQL and SQLite stay.
 */
export const SLOW = [
  "tests/adapters/mongodb/accounts/",
  "tests/adapters/mongodb/audit/",
  "tests/adapters/mongodb/deletes/",
  "tests/adapters/mongodb/driver/",
  "tests/adapters/mongodb/lookups/",
  "tests/adapters/mongodb/runs/",
  "tests/adapters/mongodb/tables/",
  "tests/adapters/mongodb/stores.test.ts",
  "tests/adapters/postgres/driver/",
  "tests/adapters/postgres/tables/",
  "tests/adapters/postgres/debian-15.test.ts",
  "tests/adapters/sqlite/lookups/disk-faults.test.ts",
  "tests/cli/files/large-files.test.ts",
  "tests/e2e/crash.test.ts",
  "tests/e2e/demo.test.ts",
  "tests/e2e/examples.test.ts",
  "tests/e2e/large-pages.test.ts",
  "tests/e2e/memory.test.ts",
  "tests/e2e/runs-failover.test.ts",
  "tests/e2e/runs-kill.test.ts",
  "tests/e2e/start/start-set-up.test.ts",
  "tests/http/odd-characters.test.ts",
  "tests/usecases/sync/compare/compare-scale.test.ts",
  "tests/deno/",
  "tests/docs/deploy/",
  "tests/package/",
];

/** What declares tests above the ports that play on servers: functions of tests/http and of tests/repositories/support. */
const ON_SERVERS =
  /\bon(EveryBackend|Backends)\(|\bisEverywhere: true|\b(repository|reputation)Tests\b/;

/** The files with such tests: `npm test` plays them on SQLite. */
export function filesOnServers() {
  const files = readdirSync(join(ROOT, "tests"), { recursive: true });
  return files
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => join("tests", file))
    .filter((file) => ON_SERVERS.test(readFileSync(join(ROOT, file), "utf8")));
}
