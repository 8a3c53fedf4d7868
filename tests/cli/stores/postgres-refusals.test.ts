// Tables of the registry that PostgreSQL cannot hold, or cannot change: refused before anything is written. D-11.4, D-2.4.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { ERROR_KINDS } from "../../../src/domain/shared/error-kinds.ts";
import {
  BUN,
  MAIN,
  runProcess,
  serviceEnv,
  startService,
} from "../../e2e/support/service-process.ts";
import { connectSql } from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { keepResource } from "../../support/resources.ts";
import {
  dropPostgresDatabase,
  makePostgresDatabase,
  postgresAvailable,
} from "../../support/stores/shared-postgres.ts";
import { runCli } from "../support/run-cli.ts";

setDefaultTimeout(120_000);

const TEXT = { type: "text" };
const WIDE = Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`c${i}`, TEXT]));
const UNHELD = {
  marks: { upsert_key: ["ctid"], columns: { ctid: TEXT, xmin: TEXT, oid: TEXT } },
  fine: { upsert_key: ["Ctid"], columns: { Ctid: TEXT, place: TEXT } },
  wide: { upsert_key: Object.keys(WIDE), columns: WIDE },
  wider: {
    ...{ timestamp_column: "at", upsert_key: Object.keys(WIDE) },
    columns: { ...WIDE, at: { type: "datetime" } },
  },
  tombs: {
    ...{ timestamp_column: "at", upsert_key: ["place", "k"], deletes: true },
    columns: { place: TEXT, k: TEXT, at: { type: "datetime" } },
  },
};
const LINES = [
  'Table "marks": its column "ctid" has a name that PostgreSQL keeps for itself: give it another one; its column "xmin" has a name that PostgreSQL keeps for itself: give it another one',
  'Table "wider": its order has 33 columns, the timestamp and the upsert key, and PostgreSQL\'s indexes at most 32: shorten the key',
  'Table "tombs": its key column "place" has the name of one in its record of deletes: give it another one',
];
const HINT = ERROR_KINDS.schema_conflict.hint;

async function makeUrl(): Promise<string> {
  const url = await makePostgresDatabase();
  keepResource(() => dropPostgresDatabase(url));
  return url;
}

describe.skipIf(!postgresAvailable)("a registry for PostgreSQL", () => {
  test("D-11.4.2 all tables that the server cannot hold are named with all their columns, and nothing is made", async () => {
    const folder = makeTempFolder();
    const url = await makeUrl();
    const env = { ...serviceEnv(folder, UNHELD), STORAGE_URL: url, LOG_LEVEL: "" };
    const text = `${LINES.join("\n")}\n${HINT}\n`;
    const status = await runCli(["status"], { folder, env });
    expect([status.code, status.stderr]).toEqual([2, text]);
    const start = await runProcess([...BUN, MAIN], { folder, env });
    expect([start.code, start.stderr]).toEqual([2, `repsync cannot start: ${text}`]);
    const sql = connectSql(url);
    const made = await sql`select nspname from pg_namespace where nspname = 'repsync'`;
    expect([...made]).toEqual([]);
    const { fine, wide } = UNHELD;
    await startService({ folder, env, tables: { fine, wide } });
  });

  test("D-2.4 a changed type, key and column that may not be null are told with what to do", async () => {
    const folder = makeTempFolder();
    const url = await makeUrl();
    const entry = { upsert_key: ["k"], columns: { k: TEXT, v: TEXT } };
    const env = { ...serviceEnv(folder, { notes: entry }), STORAGE_URL: url, LOG_LEVEL: "" };
    const service = await startService({ folder, env, tables: { notes: entry } });
    await service.push("notes", { records: [{ k: "a", v: "b" }] });
    await service.stop();
    const changed = {
      upsert_key: ["v"],
      columns: { k: { type: "integer" }, v: TEXT, w: { ...TEXT, nullable: false } },
    };
    const other = { ...serviceEnv(folder, { notes: changed }), STORAGE_URL: url, LOG_LEVEL: "" };
    const start = await runProcess([...BUN, MAIN], { folder, env: other });
    expect([start.code, start.stderr]).toEqual([
      2,
      `repsync cannot start: Table "notes": its rows have the upsert key k, not v; column "k" is of type text, not integer; column "v" is of the key, and may be null in the database; the new column "w" must be nullable, as the table has rows. Undo the change, or export the table, drop it and import it again\n${HINT}\n`,
    ]);
  });
});
