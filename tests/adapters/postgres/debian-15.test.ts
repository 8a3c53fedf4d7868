// What triggers and snapshots do, once more on the oldest server that is taken, as Debian 12 has it. D-12.2.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { BUN } from "../../../.ci/setup.mjs";

const FOLDER = "/usr/lib/postgresql/15";
const TABLES = [
  "foreign-tables",
  "rights",
  "late-commits",
  "other-writers",
  "own-triggers",
  "stamp-trigger",
  "tombstones",
];

test.skipIf(!existsSync(FOLDER))(
  "D-12.2 PostgreSQL 15 does for rows what newer ones do",
  async () => {
    const files = TABLES.map((name) => `./tests/adapters/postgres/tables/${name}.test.ts`);
    const { BUN_TEST_WORKER_ID: _, TEST_FILES_UNDER_WAY: __, ...env } = process.env;
    const child = Bun.spawn([BUN, "test", "--timeout=60000", ...files], {
      env: { ...env, POSTGRES_FOLDER: FOLDER },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [said, code] = await Promise.all([child.stderr.text(), child.exited]);
    const failed = said.split("\n").filter((line) => line.startsWith("(fail)"));
    expect({ failed, code }).toEqual({ failed: [], code: 0 });
  },
  300_000,
);
