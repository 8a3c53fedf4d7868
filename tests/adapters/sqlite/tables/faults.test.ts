import { describe, expect, test } from "bun:test";
import { rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import type {
  OpenSqlite,
  SqliteConnection,
} from "../../../../src/adapters/sqlite/driver/connection.ts";
import { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { FullStorage } from "../../../../src/ports/storage.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { asWrites, TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { failureOf } from "../../../support/failures.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readPage } from "../../../support/rows/read-rows.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { runParts } from "../../../support/run-parts.ts";
import { SqliteFile } from "../support.ts";

const ITEMS = makeTable({
  upsert_key: ["k"],
  columns: { k: { type: "text" }, v: { type: "integer" } },
});
const OTHERS = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } }, "others");

const SQLITE_BUSY = 5;

/** The real driver. The file is held, as by a process that opens it first, until a connection that reads has met it. */
function heldFromReader(met: unknown[]): OpenSqlite {
  const opened: SqliteConnection[] = [];
  const tell = (sql: string) => opened[0]?.prepare(sql).run([]);
  return async (path) => {
    const connection = await openBunSqlite(path);
    if (opened.push(connection) !== 2) return connection;
    tell("PRAGMA journal_mode = DELETE");
    tell("BEGIN EXCLUSIVE");
    const { prepare } = connection;
    return Object.assign(connection, {
      prepare(sql: string) {
        try {
          return prepare(sql);
        } catch (error) {
          met.push(connection.resultCode(error));
          tell("ROLLBACK");
          tell("PRAGMA journal_mode = WAL");
          throw error;
        }
      },
    });
  };
}

/** The real driver, set up so that the database refuses something by itself. */
function openWith(pragma: string): OpenSqlite {
  return async (path) => {
    const connection = await openBunSqlite(path);
    connection.prepare(`PRAGMA ${pragma}`).run([]);
    return connection;
  };
}

function writeItems(storage: FullStorage, ...rows: { k: string; v: number }[]): Promise<unknown> {
  return writeTo(storage, ITEMS, asWrites(rows));
}

describe("SQLite: when nothing can be written", () => {
  const rows = Array.from({ length: 2000 }, (_, v) => ({ k: `key ${v} ${"x".repeat(500)}`, v }));

  test("S-4.2.11 a full disk fails the whole write, and later ones succeed", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open({}, openWith("max_page_count = 200"));
      const table = await TableUnderTest.prepare(storage, ITEMS);
      await table.write({ k: "a", v: 1 });
      expect(await failureOf(writeItems(storage, { k: "b", v: 2 }, ...rows))).toEqual({
        kind: "commit_failed",
        message: "The database wrote nothing: the disk is full",
      });
      expect(await table.rows()).toEqual([{ k: "a", v: 1 }]);
      await table.write({ k: "c", v: 3 });
      expect(await table.count()).toBe(2);
    }));

  test("S-4.2.11 a commit that fails is rolled back, and later writes succeed", () =>
    SqliteFile.use(async (file) => {
      const elsewhere = file.openElsewhere();
      elsewhere.run("CREATE TABLE parents (v INTEGER PRIMARY KEY)");
      elsewhere.run("INSERT INTO parents VALUES (1)");
      elsewhere.run(
        "CREATE TABLE items (k TEXT, v INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED)",
      );
      const storage = await file.open({}, openWith("foreign_keys = on"));
      const table = await TableUnderTest.prepare(storage, ITEMS);
      await table.write({ k: "a", v: 1 });
      expect(await failureOf(writeItems(storage, { k: "b", v: 1 }, { k: "c", v: 2 }))).toEqual({
        kind: "commit_failed",
        message: "The database wrote nothing: a rule that it checks at the end is broken",
      });
      expect(await table.rows()).toEqual([{ k: "a", v: 1 }]);
      await table.write({ k: "b", v: 1 });
      expect(await table.count()).toBe(2);
    }));

  test("D-7.7 a commit that fails moves no marker over a refused record, and keeps nothing else of the write", () =>
    SqliteFile.use(async (file) => {
      const elsewhere = file.openElsewhere();
      elsewhere.run("CREATE TABLE parents (v INTEGER PRIMARY KEY)");
      elsewhere.run(
        "CREATE TABLE items (k TEXT, v INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED)",
      );
      const storage = await file.open({}, openWith("foreign_keys = on"));
      await TableUnderTest.prepare(storage, ITEMS);
      const refused = { table: "items", direction: "pull", key: { k: "b" }, record: {} } as const;
      const extras = {
        memory: { pull: { marker: "1" } },
        rejected: [{ ...refused, message: "Refused", fingerprint: "1", lastAtMs: 0 }],
        exchanged: new Uint8Array([1]),
      };
      let asked = 0;
      const beforeCommit = () => {
        asked++;
        return extras;
      };
      const write = (v: number | null) =>
        writeTo(storage, ITEMS, asWrites([{ k: "a", v }]), { beforeCommit });
      const look = async () => [
        await storage.tables.count(ITEMS),
        (await storage.memory.readAll()).size,
        (await storage.rejected.countByTable()).get("items") ?? 0,
        (await storage.exchanged.read("items")).blocks.length,
      ];
      expect((await failureOf(write(7)))?.kind).toBe("commit_failed");
      expect([asked, await look()]).toEqual([1, [0, 0, 0, 0]]);
      await write(null);
      expect(await look()).toEqual([1, 1, 1, 1]);
    }));

  test("S-4.2.11 a trigger that rolls everything back fails the whole write", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      const table = await TableUnderTest.prepare(storage, ITEMS);
      const elsewhere = file.openElsewhere();
      elsewhere.run(
        "CREATE TRIGGER guard BEFORE INSERT ON items WHEN new.v < 0 BEGIN SELECT RAISE(ROLLBACK, 'no'); END",
      );
      elsewhere.run(
        "CREATE TRIGGER keep BEFORE DELETE ON items BEGIN SELECT RAISE(ROLLBACK, 'no'); END",
      );
      const failure = await failureOf(
        writeItems(storage, { k: "a", v: 1 }, { k: "b", v: -1 }, { k: "c", v: 1 }),
      );
      expect(failure?.kind).toBe("commit_failed");
      expect(await table.count()).toBe(0);
      await table.write({ k: "a", v: 1 });
      const deleted = [{ index: 0, key: { k: "a" }, deletedAt: "2026-01-01T00:00:00Z" }];
      const burying = writeTo(storage, ITEMS, asWrites([{ k: "b", v: 1 }]), { deleted });
      expect((await failureOf(burying))?.kind).toBe("commit_failed");
      expect(await table.rows()).toEqual([{ k: "a", v: 1 }]);
    }));

  test("S-4.2.11 a read-only database fails every write, and is read", () =>
    SqliteFile.use(async (file) => {
      await (await TableUnderTest.prepare(await file.open(), ITEMS)).write({ k: "a", v: 1 });
      let isReadOnly = false;
      const storage = await file.open({}, async (path) => {
        const connection = await openBunSqlite(path);
        return {
          ...connection,
          get isInTransaction() {
            return connection.isInTransaction;
          },
          prepare(sql) {
            if (isReadOnly && !sql.startsWith("BEGIN"))
              connection.prepare("PRAGMA query_only = on").run([]);
            return connection.prepare(sql);
          },
        };
      });
      isReadOnly = true;
      expect(await failureOf(writeItems(storage, { k: "b", v: 2 }))).toEqual({
        kind: "commit_failed",
        message: "The database wrote nothing: it is read-only",
      });
      expect(await storage.tables.count(ITEMS)).toBe(1);
    }));
});

describe("SQLite: when the file is not what it was", () => {
  test("D-3.10 a table that was dropped cannot be counted, read or written; the others can", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      await storage.tables.prepare([ITEMS, OTHERS]);
      await writeItems(storage, { k: "a", v: 1 });
      await writeTo(storage, OTHERS, asWrites([{ k: "a" }]));
      expect(await storage.tables.count(ITEMS)).toBe(1);
      file.openElsewhere().run("DROP TABLE items");
      const reason = "a table is not as it was prepared";
      const unavailable = {
        kind: "store_unavailable",
        message: `The database is unavailable: ${reason}`,
      };
      const page = { sinceTime: null, offsetRows: 0, limitRows: 1 };
      expect(await failureOf(storage.tables.count(ITEMS))).toEqual(unavailable);
      expect(await failureOf(readPage(storage.tables, ITEMS, page))).toEqual(unavailable);
      const hint =
        "Try again in a few seconds, when the service has looked at its tables: one that is gone it makes only as it starts";
      await expect(storage.tables.count(ITEMS)).rejects.toMatchObject({ hint });
      expect(await failureOf(writeItems(storage, { k: "b", v: 1 }))).toEqual({
        kind: "commit_failed",
        message: `The database wrote nothing: ${reason}`,
      });
      expect(await storage.tables.count(OTHERS)).toBe(1);
    }));

  test("D-6.8 ping() and write() fail when the file was deleted or replaced", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      await storage.tables.prepare([ITEMS]);
      await rename(file.path, `${file.path}.away`);
      const gone = { kind: "store_unavailable", message: "The database file is gone" };
      expect(await failureOf(storage.ping(800))).toEqual(gone);
      expect(await failureOf(writeItems(storage, { k: "a", v: 1 }))).toEqual(gone);
      await writeFile(file.path, "");
      const replaced = { kind: "store_unavailable", message: "The database file was replaced" };
      expect(await failureOf(storage.ping(800))).toEqual(replaced);
      await rm(file.path);
      await rename(`${file.path}.away`, file.path);
      await storage.ping(800);
      await writeItems(storage, { k: "a", v: 1 });
    }));

  test.each(["-wal", "-shm"])("D-6.8 ping() and write() fail when the %s file is gone", (suffix) =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      await storage.tables.prepare([ITEMS]);
      await writeItems(storage, { k: "a", v: 1 });
      await rename(`${file.path}${suffix}`, `${file.path}.away`);
      const gone = {
        kind: "store_unavailable",
        message: `The database's ${suffix} file is gone or was replaced`,
      };
      expect(await failureOf(storage.ping(800))).toEqual(gone);
      expect(await failureOf(writeItems(storage, { k: "b", v: 1 }))).toEqual(gone);
      await rename(`${file.path}.away`, `${file.path}${suffix}`);
      await writeItems(storage, { k: "b", v: 1 });
      expect(await storage.tables.count(ITEMS)).toBe(2);
    }),
  );

  test("D-1.3 open() refuses what is no database, and names no path", () =>
    SqliteFile.use(async (file) => {
      await writeFile(file.path, "this is no database ".repeat(500));
      expect(await failureOf(file.open())).toEqual({
        kind: "store_unavailable",
        message: "The database is unavailable: the file is not a database",
      });
      expect(
        await failureOf(
          SqliteStorage.open(openBunSqlite, file.folder, { clock: new SystemClock() }),
        ),
      ).toEqual({
        kind: "store_unavailable",
        message: "The database cannot be opened",
      });
      expect(
        await failureOf(
          SqliteStorage.open(openBunSqlite, `${file.path}/folder/test.db`, {
            clock: new SystemClock(),
          }),
        ),
      ).toEqual({
        kind: "store_unavailable",
        message: "The database cannot be opened",
      });
    }));

  test("D-1.3 open() makes the folder, and a file that only its owner may read", () =>
    SqliteFile.use(async (file) => {
      const path = join(file.folder, "new", "folder", "test.db");
      const storage = await SqliteStorage.open(openBunSqlite, path, {
        clock: new SystemClock(),
        collections: COLLECTIONS,
      });
      await runParts(storage.documents).memory.keepDrifts(new Map([["m", 1]]));
      for (const name of ["", "-wal", "-shm"]) {
        expect((await stat(`${path}${name}`)).mode & 0o777).toBe(0o600);
      }
      await storage.close();
    }));

  test("D-1.2 calls after close() fail as those to a store that is gone", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      await storage.close();
      const closed = { kind: "store_unavailable", message: "The database is closed" };
      expect(await failureOf(storage.ping(800))).toEqual(closed);
      expect(await failureOf(storage.memory.readAll())).toEqual(closed);
      expect(await failureOf(writeItems(storage, { k: "a", v: 1 }))).toEqual(closed);
    }));
});

describe("SQLite: when another process holds the file", () => {
  const busy = {
    kind: "store_unavailable",
    message: "The database is unavailable: another process is using it",
  };

  test("D-3.8 write() waits its turn without blocking reads or the event loop", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      const table = await TableUnderTest.prepare(storage, ITEMS);
      const elsewhere = file.openElsewhere();
      elsewhere.run("BEGIN IMMEDIATE");
      elsewhere.run("INSERT INTO items VALUES ('theirs', 1)");
      const order: string[] = [];
      const writing = table.write({ k: "ours", v: 2 }).then(() => order.push("ours"));
      expect(await table.count()).toBe(0);
      elsewhere.run("COMMIT");
      order.push("theirs");
      await writing;
      expect(order).toEqual(["theirs", "ours"]);
      expect(await table.column("k")).toEqual(["ours", "theirs"]);
    }));

  test("D-3.8 write() gives up at the deadline, and the next one succeeds", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open({ busyDeadlineMs: 30 });
      const table = await TableUnderTest.prepare(storage, ITEMS);
      const elsewhere = file.openElsewhere();
      elsewhere.run("BEGIN IMMEDIATE");
      expect(await failureOf(writeItems(storage, { k: "a", v: 1 }))).toEqual(busy);
      expect(await failureOf(storage.memory.keepDrifts(new Map([["m", 1]])))).toEqual(busy);
      elsewhere.run("ROLLBACK");
      await table.write({ k: "a", v: 1 });
      expect(await table.count()).toBe(1);
    }));

  test("D-1.3 open() gives up at the deadline while another process has the file to itself", () =>
    SqliteFile.use(async (file) => {
      await (await file.open()).close();
      const elsewhere = file.openElsewhere();
      elsewhere.run("PRAGMA locking_mode = EXCLUSIVE");
      elsewhere.run("BEGIN EXCLUSIVE");
      expect(await failureOf(file.open({ busyDeadlineMs: 30 }))).toEqual(busy);
      elsewhere.close();
      await (await file.open()).ping(800);
    }));

  test("D-2.4 open() waits for another process that opens the file for the first time", () =>
    SqliteFile.use(async (file) => {
      const met: unknown[] = [];
      const storage = await file.open({}, heldFromReader(met));
      expect(met).toEqual([SQLITE_BUSY]);
      const table = await TableUnderTest.prepare(storage, ITEMS);
      await table.write({ k: "a", v: 1 });
      expect(await table.count()).toBe(1);
    }));

  test("D-1.2 close() ends a write that waits", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      await storage.tables.prepare([ITEMS]);
      file.openElsewhere().run("BEGIN IMMEDIATE");
      const writing = failureOf(writeItems(storage, { k: "a", v: 1 }));
      await storage.close();
      expect(await writing).toEqual({
        kind: "store_unavailable",
        message: "The database is closed",
      });
    }));
});
