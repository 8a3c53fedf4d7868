// Servers that repsync may not use, and a pooler, which it may. D-12.2.
import { describe, expect, test } from "bun:test";
import { openDatabase, problemOf } from "../../../../src/adapters/postgres/driver/open-database.ts";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { STAMP_NOW } from "../../../../src/domain/sync/rows/row-time.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { withRunParts } from "../../../support/run-parts.ts";
import { findPostgres, startPostgres } from "../../../support/stores/postgres-server.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { startPooler } from "../../../support/stores/transaction-pooler.ts";
import { databaseTest } from "../support.ts";

const clock = new SystemClock();
const USABLE = {
  version: 150_000,
  encoding: "UTF8",
  isStandby: false,
  fsync: "on",
  hasSchema: true,
  shown: "15.0",
};

describe("servers of PostgreSQL", () => {
  test.each([
    [{}, null],
    [{ version: 140_017, shown: "14.17" }, "PostgreSQL must be 15 or newer, and this is 14.17"],
    [{ encoding: "SQL_ASCII" }, "The encoding of the database must be UTF8, and this is SQL_ASCII"],
    [{ isStandby: true }, "The server is a standby: name the primary in STORAGE_URL"],
    [
      { fsync: "off" },
      "The server has fsync = off, and would lose what it has confirmed: set it to on",
    ],
  ])("D-12.2 one that says %j", (change, problem) => {
    expect(problemOf({ ...USABLE, ...change }, "public")).toBe(problem);
  });

  test.skipIf("reason" in findPostgres()).each([
    ["fsync = off", { settings: ["fsync=off"] }, "The server has fsync = off, and would lose"],
    ["a standby", { isStandby: true }, "The server is a standby: name the primary"],
  ])(
    "D-12.2 a real one with %s is refused",
    async (_, options, text) => {
      const server = await startPostgres(options);
      try {
        const opening = openPostgresStorage({ url: server.uri("postgres"), clock });
        await expect(opening).rejects.toMatchObject({
          kind: "invalid_request",
          message: expect.stringContaining(text),
        });
      } finally {
        await server.stop();
      }
    },
    60_000,
  );
});

describe.skipIf(!postgresAvailable)("a pooler before PostgreSQL", () => {
  databaseTest("D-12.2 one in transaction mode is no hindrance", async (database) => {
    const pooler = await startPooler(database.url, 3);
    const open = async () => {
      const storage = await openPostgresStorage({ url: pooler.url, clock });
      await storage.documents.prepare(COLLECTIONS);
      return withRunParts(storage);
    };
    const instances = await Promise.all([open(), open()]);
    const items = makeTable({
      ...{ timestamp_column: "at", upsert_key: ["k"], stamped: true, deletes: true },
      columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
    });
    const [first, second] = await Promise.all(
      instances.map((storage) => TableUnderTest.prepare(storage, items)),
    );
    if (first === undefined || second === undefined) throw new Error("No instance");
    const write = async (n: number) => {
      const table = n % 2 === 0 ? first : second;
      for (let v = 0; v < 5; v++) {
        await table.writeWith({ stamps: STAMP_NOW }, { k: `${n}`, v });
        expect((await table.rows()).some((row) => row["k"] === `${n}`)).toBe(true);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, n) => write(n)));
    const rows = (await second.rows()).map(({ k, v }) => [k, v]);
    expect(rows.sort()).toEqual(Array.from({ length: 8 }, (_, n) => [`${n}`, 4]));
    await database.sql.unsafe("delete from items where k = '0'");
    const query = { after: null, sinceTime: null, limitRows: 10 };
    const { items: deleted } = await instances[0].tombstones.list(items, query);
    expect(deleted.map(({ key }) => key)).toEqual([{ k: "0" }]);
    for (const storage of instances) await storage.close();
    pooler.close();
  });
});

describe.skipIf(!postgresAvailable)("transactions on PostgreSQL", () => {
  databaseTest(
    "D-12.2 they wait for the disk, end with their call and are hidden no row from",
    async ({ sql, url }) => {
      const name = new URL(url).pathname.slice(1);
      const { database } = await openDatabase({ url, clock });
      await sql.unsafe(`alter database ${name} set synchronous_commit = off`);
      const [[isTimed] = []] =
        await sql`select current_setting('transaction_timeout', true)`.values();
      // Of PostgreSQL 17 and later.
      if (isTimed !== null)
        await sql.unsafe(`alter database ${name} set transaction_timeout = '1min'`);
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and application_name = 'repsync'`;
      const [line] = await database.transact({ name: "test" }, (tx) =>
        tx.query(`select current_setting('synchronous_commit'), current_setting('row_security'),
        coalesce(current_setting('transaction_timeout', true), '0'), bool_and(setting::int4 between 1 and 120000) from pg_settings
        where name in ('statement_timeout', 'idle_in_transaction_session_timeout')`),
      );
      expect(line).toEqual(["on", "off", "0", true]);
      await database.close();
    },
  );
});
