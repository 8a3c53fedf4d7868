// Rows that other programs write while a body of repsync does.
import { describe, expect } from "bun:test";
import { PostgresDocuments } from "../../../../src/adapters/postgres/documents/postgres-documents.ts";
import { PostgresDatabase } from "../../../../src/adapters/postgres/driver/database.ts";
import { PostgresTables } from "../../../../src/adapters/postgres/tables/postgres-tables.ts";
import { PostgresTombstones } from "../../../../src/adapters/postgres/tables/tombstones.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import type { Row, Table } from "../../../../src/domain/sync/table/table.ts";
import { failureOf } from "../../../support/failures.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import type { RunStorage } from "../../../support/run-parts.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest as it, type TestDatabase, watchedDriver } from "../support.ts";

const ENTRY: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: {
    ...{ k: { type: "text" }, at: { type: "datetime" } },
    ...{ v: { type: "integer" }, note: { type: "text" } },
  },
};
const PLAIN = makeTable(ENTRY, "plain");
const DELETING = makeTable({ ...ENTRY, deletes: true }, "deleting");
const OLD = "2024-01-01T00:00:00Z";
const NEW = "2024-01-02T00:00:00Z";

async function open(database: TestDatabase, table: Table): Promise<RunStorage> {
  const storage = await database.open();
  await storage.tables.prepare([table]);
  return storage;
}

async function rowsOf({ tables }: RunStorage, table: Table): Promise<readonly Row[]> {
  return (await tables.page(table, { from: { afterKey: null, throughKey: null }, limitRows: 9 }))
    .rows;
}

/** Writes records of which a body has read the rows, when something else has happened since that; how often it ran. */
async function writeAfter(
  storage: RunStorage,
  table: Table,
  row: Row,
  meanwhile: () => Promise<unknown>,
) {
  let runs = 0;
  const written = await storage.documents.transact({ name: "test.write" }, async (tx) => {
    await tx.read({ rowsOf: table, keys: [row] });
    if (runs++ === 0) await meanwhile();
    return await tx.tables.write(table, [{ index: 0, row }], { conflict: "newer" });
  });
  return { runs, written };
}

/** Resolves once somebody has waited for a lock for so long. */
async function hasWaited({ sql }: TestDatabase, ms: number): Promise<void> {
  for (let isSo = false; !isSo; ) {
    const [found] = await sql`
      select exists (select from pg_locks where waitstart <= clock_timestamp() - ${ms} * interval '1 ms') as is_so`;
    isSo = found.is_so;
  }
}

describe.skipIf(!postgresAvailable)(
  "rows that other programs write to PostgreSQL meanwhile",
  () => {
    it("S-4.2.9 of a row that is removed meanwhile nothing comes back", async (database) => {
      const storage = await open(database, PLAIN);
      await database.sql`insert into plain values ('a', ${OLD}, 1, 'of the row that goes')`;
      const row = { k: "a", at: NEW, v: 2 };
      const { runs } = await writeAfter(storage, PLAIN, row, () => database.sql`delete from plain`);
      expect(runs).toBe(2);
      expect(await rowsOf(storage, PLAIN)).toEqual([{ k: "a", at: NEW, v: 2, note: null }]);
    });

    it("D-7.6 a row that is deleted meanwhile stays so, where the record is not later", async (database) => {
      const storage = await open(database, DELETING);
      await database.sql`insert into deleting values ('a', ${OLD}, 1, null)`;
      const row = { k: "a", at: NEW, v: 2 };
      const { written } = await writeAfter(
        storage,
        DELETING,
        row,
        () => database.sql`delete from deleting`,
      );
      expect([written.kept, await rowsOf(storage, DELETING)]).toEqual([[0], []]);
    });

    it("D-7.6 a row that is moved to a key whose tombstone comes meanwhile takes that away", async (database) => {
      const storage = await open(database, DELETING);
      await database.sql`insert into deleting values ('a', ${NEW}, 1, null)`;
      const { documents, tombstones } = storage;
      const deleted = [{ index: 0, key: { k: "b" }, deletedAt: OLD }];
      let runs = 0;
      await documents.transact({ name: "test.move" }, async (tx) => {
        await tx.read({ rowsOf: DELETING, where: ["k", ["a"]] });
        if (runs++ === 0) {
          await documents.transact({ name: "test.delete" }, (other) =>
            other.tables.write(DELETING, [], { deleted }),
          );
        }
        await tx.tables.change(DELETING, "k", "a", { k: "b" });
      });
      expect([runs, await tombstones.byKeys(DELETING, [{ k: "b" }])]).toEqual([2, []]);
    });

    // The server ends whoever looks first whether there is a deadlock: a second after it began to wait.
    for (const waitedMs of [0, 700]) {
      it(`D-12.3 in a deadlock with another program that has waited for ${waitedMs} ms it is repsync that begins again`, async (database) => {
        const storage = await open(database, PLAIN);
        await database.sql`insert into plain values ('a', ${OLD}, 1, null), ('b', ${OLD}, 1, null)`;
        const other = await database.sql.reserve();
        const write = (k: string) => ({ index: 0, row: { k, at: NEW, v: 2 } });
        let [runs, theirs]: [number, Promise<unknown>] = [0, Promise.resolve()];
        await storage.documents.transact({ name: "test.deadlock" }, async (tx) => {
          await tx.tables.write(PLAIN, [write("a")]);
          if (runs++ === 0) {
            await other`begin`;
            await other`update plain set note = 'theirs' where k = 'b'`;
            theirs = other`update plain set note = 'theirs' where k = 'a'`.execute();
            theirs = theirs.then(() => other`commit`);
            await hasWaited(database, waitedMs);
          }
          await tx.tables.write(PLAIN, [write("b")]);
        });
        await theirs;
        other.release();
        expect(runs).toBeGreaterThan(1);
        expect(await rowsOf(storage, PLAIN)).toEqual(
          ["a", "b"].map((k) => ({ k, at: NEW, v: 2, note: "theirs" })),
        );
      });
    }

    it("D-12.3 a tombstone that an open transaction takes away holds no list up, and is listed once that was taken back", async (database) => {
      const storage = await open(database, DELETING);
      await database.sql`insert into deleting values ('a', ${OLD}, 1, null), ('b', ${OLD}, 1, null)`;
      await database.sql`delete from deleting`;
      const other = await database.sql.reserve();
      await other`begin`;
      await other`insert into deleting values ('a', now() + interval '1 minute', 1, null)`;
      const list = async (after: string | null) => {
        const query = { after, sinceTime: null, limitRows: 9 };
        const { items, cursor } = await storage.tombstones.list(DELETING, query);
        return { keys: items.map(({ key }) => key["k"]), cursor };
      };
      const first = await list(null);
      expect(first.keys).toEqual(["b"]);
      await other`rollback`;
      other.release();
      expect((await list(first.cursor)).keys).toEqual(["a"]);
    });

    it("D-7.6 instances that give places to tombstones at once give each its own", async (database) => {
      const [storage, { sql, url }] = [await open(database, DELETING), database];
      const query = { after: null, sinceTime: null, limitRows: 1 };
      let others: Promise<unknown> | null = null;
      let gives = false;
      const driver = watchedDriver(url, async (statement, text) => {
        gives ||= text.includes("set place");
        if (text === "commit" && gives && others === null) {
          await sql`delete from deleting where k = 'b'`;
          others = storage.tombstones.list(DELETING, query);
          await hasWaited(database, 0);
        }
        return await statement();
      });
      const second = new PostgresDatabase({ driver, clock: new SystemClock() });
      const tombstones = new PostgresTombstones(second, new PostgresTables(second, "public"));
      await sql`insert into deleting values ('a', ${OLD}, 1, null), ('b', ${OLD}, 1, null)`;
      await sql`delete from deleting where k = 'a'`;
      const { items, cursor } = await tombstones.list(DELETING, query);
      await others;
      const next = await storage.tombstones.list(DELETING, { ...query, after: cursor });
      expect([...items, ...next.items].map(({ key }) => key["k"])).toEqual(["a", "b"]);
      await second.close();
    });

    it("D-12.4 columns are looked at again once their table has changed, and before each write while it may have heirs", async (database) => {
      const { sql, url } = database;
      await open(database, PLAIN);
      let looks = 0;
      const driver = watchedDriver(url, (statement, text) => {
        if (text.includes("format_type")) looks++;
        return statement();
      });
      const second = new PostgresDatabase({ driver, clock: new SystemClock() });
      const tables = new PostgresTables(second, "public");
      const documents = new PostgresDocuments(second, tables);
      const looksOfWrite = async (v: number) => {
        const before = looks;
        const writes = [{ index: 0, row: { k: "a", at: OLD, v } }];
        await documents.transact({ name: "test" }, (tx) => tx.tables.write(PLAIN, writes));
        return looks - before;
      };
      expect([await looksOfWrite(1), await looksOfWrite(2)]).toEqual([1, 0]);
      await sql.unsafe(`alter table ${PLAIN.name} alter v type int4`);
      expect(await failureOf(looksOfWrite(3))).toMatchObject({ kind: "schema_conflict" });
      await sql.unsafe(`alter table ${PLAIN.name} alter v type int8`);
      expect([await looksOfWrite(3), await looksOfWrite(4)]).toEqual([1, 0]);
      await sql.unsafe(`create table heir () inherits (${PLAIN.name})`);
      expect(await failureOf(looksOfWrite(5))).toMatchObject({ kind: "schema_conflict" });
      await sql.unsafe("drop table heir");
      expect([await looksOfWrite(5), await looksOfWrite(6)]).toEqual([1, 1]);
      await second.close();
    });

    it("D-7.1 a row that comes meanwhile is met", async (database) => {
      const storage = await open(database, PLAIN);
      const row = { k: "a", at: OLD, v: 2 };
      const insert = () => database.sql`insert into plain values ('a', ${NEW}, 1, 'theirs')`;
      const { written } = await writeAfter(storage, PLAIN, row, insert);
      expect(written.kept).toEqual([0]);
      expect(await rowsOf(storage, PLAIN)).toEqual([{ k: "a", at: NEW, v: 1, note: "theirs" }]);
    });
  },
);
