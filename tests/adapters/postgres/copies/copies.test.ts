import { describe, expect } from "bun:test";
import { NodeMac } from "../../../../src/adapters/node-crypto/node-crypto.ts";
import { dumpDatabase } from "../../../../src/adapters/postgres/copies/database-dump.ts";
import { PostgresDatabase } from "../../../../src/adapters/postgres/driver/database.ts";
import { Failure } from "../../../../src/adapters/postgres/driver/errors.ts";
import { Holder } from "../../../../src/adapters/postgres/driver/store-facts.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { EmptyStore } from "../../../../src/ports/copies/store-copies.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { copyStore, moveStore } from "../../../../src/usecases/operations/copy-store.ts";
import { copiesContract, copiesOf } from "../../../contract/copies/copies-contract.ts";
import { POSTGRESQL } from "../../../http/support/backends.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";
import { databaseTest, type TestDatabase, watchedDriver } from "../support.ts";

copiesContract(copiesOf(POSTGRESQL));

const mac = new NodeMac();
const READS_TABLES = "select name, entry";
const BEGINS = "begin isolation level";

async function openTransactions({ sql }: TestDatabase): Promise<number> {
  const text = `select count(*)::int as n from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'`;
  return (await sql.unsafe(text))[0].n;
}

describe.skipIf(!postgresAvailable)("PostgreSQL as the source of a copy", () => {
  databaseTest(
    "D-10.7 keeps no transaction open while a store is claimed, nor behind a copy that did not begin",
    async (database) => {
      await database.open();
      const { source } = copiesOf(POSTGRESQL);
      const stopped = await source(database.url);
      const open: number[] = [];
      const claim = async () => {
        open.push(await openTransactions(database));
        throw new Error("Not empty");
      };
      const target = {
        kind: "none",
        begin: () => Promise.reject(new Error("Full")),
      } as unknown as EmptyStore;
      try {
        await expect(moveStore(stopped, claim, mac, {})).rejects.toThrow("Not empty");
        await expect(copyStore(stopped, { target, mac }, {})).rejects.toThrow("Full");
        open.push(await openTransactions(database));
        expect(open).toEqual([0, 0]);
      } finally {
        await stopped.close();
      }
    },
  );

  databaseTest(
    "D-10.7 a copy that cannot begin to read says so, and leaves no connection",
    async (database) => {
      await database.open();
      const { url } = database;
      let breaksAt = "";
      const driver = watchedDriver(url, async (statement, text) => {
        if (breaksAt === "" || !text.startsWith(breaksAt)) return await statement();
        breaksAt = breaksAt === READS_TABLES ? BEGINS : "";
        if (breaksAt === "") throw new Failure(new Error("The connection broke"));
        return await statement();
      });
      const postgres = new PostgresDatabase({ driver, clock: new SystemClock() });
      const dump = () => dumpDatabase({ database: postgres, schema: "public" }, COLLECTIONS);
      for (const place of [READS_TABLES, "select name, value from repsync._facts"]) {
        breaksAt = place;
        await expect(dump()).rejects.toMatchObject({ kind: "store_unavailable" });
      }
      await (await dump()).close();
      await driver.close();
    },
  );

  databaseTest("D-10.7 a store of a former version may lack collections", async (database) => {
    const { source } = copiesOf(POSTGRESQL);
    const count = async () => {
      const stopped = await source(database.url);
      const { about, parts } = await stopped.dump();
      await Array.fromAsync(parts);
      await stopped.close();
      return about.items;
    };
    await database.open();
    const items = await count();
    await database.sql`drop table repsync.settings`;
    expect(await count()).toBe(items);
  });

  databaseTest(
    "D-10.7 deletes that nobody has listed are in a copy, up to its moment",
    async (database) => {
      const { sql, url } = database;
      const storage = await database.open();
      const columns = { k: { type: "text" }, at: { type: "datetime" } } as const;
      const entry = { upsert_key: ["k"], timestamp_column: "at", deletes: true, columns };
      await storage.tables.prepare([makeTable(entry)]);
      await sql`insert into items values ('a'), ('b')`;
      await sql`delete from items where k = 'a'`;
      let begun = 0;
      const driver = watchedDriver(url, async (statement, text) => {
        if (text.startsWith(BEGINS) && ++begun === 4) await sql`delete from items`;
        return await statement();
      });
      const postgres = new PostgresDatabase({ driver, clock: new SystemClock() });
      const { about, parts } = await dumpDatabase({ database: postgres, schema: "public" }, []);
      const items = await Array.fromAsync(parts, (part) => part.items);
      expect([begun, about.items, about.tables[0]?.deletes?.lastPlace]).toEqual([4, 2, 2]);
      expect(items.flat()).toMatchObject([
        { place: 1, key: { k: "a" } },
        { place: 2, key: { k: "b" } },
      ]);
      await driver.close();
    },
  );
});

describe.skipIf(!postgresAvailable)("PostgreSQL as the target of a copy", () => {
  databaseTest(
    "D-10.7 a service that begins while a store is taken is seen, or sees it",
    async (database) => {
      const { sql, url } = database;
      await database.open();
      const tool = await sql.reserve();
      let claiming: Promise<unknown> = Promise.resolve();
      const driver = watchedDriver(url, async (statement, text) => {
        if (text.startsWith("\ninsert into repsync._holders")) {
          claiming = copiesOf(POSTGRESQL)
            .claim(url)
            .then(
              (target) => target.giveUp().then(() => "taken"),
              (error) => error.message,
            );
          const waits = `select from pg_locks as l join pg_database as d on d.oid = l.database
          where d.datname = current_database() and not granted`;
          await pollUntil("the claim to wait", async () => (await sql.unsafe(waits)).length > 0);
        }
        return await statement();
      });
      const holder = new Holder(new PostgresDatabase({ driver, clock: new SystemClock() }));
      await tool.unsafe("begin; lock table repsync._facts in share row exclusive mode");
      await holder.begin();
      await tool.unsafe("rollback");
      tool.release();
      expect(await claiming).toContain("A running service, or another command, holds the store");
      await holder.end();
      await driver.close();
    },
  );

  databaseTest(
    "D-10.7 another takes over what a killed one holds no more",
    async ({ sql, url }) => {
      const { claim } = copiesOf(POSTGRESQL);
      const killed = await claim(url);
      await sql`update repsync._holders set process = 'killed'`;
      await expect(claim(url)).rejects.toThrow("holds the store");
      await sql`update repsync._holders set ends_at = clock_timestamp() - interval '1 s'`;
      await (await claim(url)).giveUp();
      await killed.giveUp();
    },
  );

  databaseTest("D-12.5 nothing is left of a copy that was given up", async ({ sql, url }) => {
    await sql.unsafe("drop schema repsync cascade");
    const table = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });
    const target = await copiesOf(POSTGRESQL).claim(url);
    expect(target.refusals?.(table, { k: "é".repeat(1_001) })).toEqual([
      "its key has more than 2000 bytes, for which an index of PostgreSQL may have no room",
    ]);
    expect(target.refusals?.(table, { k: "é".repeat(1_000) })).toEqual([]);
    await target.giveUp();
    expect(await sql`select to_regnamespace('repsync')`.values()).toEqual([[null]]);
    await sql`create table public.listings (k int)`;
    await expect(copiesOf(POSTGRESQL).claim(url)).rejects.toThrow("another program has a table");
    expect(await sql`select to_regnamespace('repsync')`.values()).toEqual([[null]]);
  });
});
