// Tables that another program made: they are used as they are, or refused before anything is written. D-11.4.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
import { ADVICE, ENTRY, ITEMS, ROW } from "../../../contract/tables/foreign-items.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { failureOf } from "../../../support/failures.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readAfter } from "../../../support/rows/read-rows.ts";
import { SqliteFile } from "../support.ts";

/** The names of a table's indexes that repsync made, and whether each is unique. */
function ownIndexes(database: Database, table = "items"): unknown[] {
  const sql = `SELECT name, "unique" FROM pragma_index_list(?) WHERE name GLOB 'repsync*' ORDER BY name`;
  return database.query(sql).values(table);
}

function schemaOf(database: Database, table = "items"): unknown[] {
  return database
    .query("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .values(table);
}

/** What the columns and the key of an application's table are, and the indexes that it lacks. */
const FITTING: Readonly<Record<string, readonly [sql: string, indexes: readonly unknown[]]>> = {
  "without a key": [
    "CREATE TABLE items (a VARCHAR(9), b INT NOT NULL, at TEXT, note TEXT, other BLOB)",
    [
      ["repsync_key_items", 1],
      ["repsync_order_items", 0],
    ],
  ],
  "with that primary key": [
    "CREATE TABLE items (a TEXT, b INTEGER, at TEXT, note TEXT, PRIMARY KEY (a, b))",
    [["repsync_order_items", 0]],
  ],
  "with that primary key, without row numbers": [
    "CREATE TABLE items (a TEXT, b INTEGER, at TEXT, note TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID",
    [["repsync_order_items", 0]],
  ],
  "with a unique index in another order": [
    "CREATE TABLE items (a TEXT, b INTEGER, at TEXT, note TEXT, UNIQUE (b, a))",
    [
      ["repsync_key_items", 0],
      ["repsync_order_items", 0],
    ],
  ],
  "with a unique index that compares otherwise": [
    "CREATE TABLE items (a TEXT, b INTEGER, at TEXT, note TEXT); CREATE UNIQUE INDEX u ON items (a COLLATE NOCASE, b)",
    [
      ["repsync_key_items", 1],
      ["repsync_order_items", 0],
    ],
  ],
  "with a unique index of some rows": [
    "CREATE TABLE items (a TEXT, b INTEGER, at TEXT, note TEXT); CREATE UNIQUE INDEX u ON items (a, b) WHERE b > 5",
    [
      ["repsync_key_items", 1],
      ["repsync_order_items", 0],
    ],
  ],
};

describe("SQLite: tables that fit", () => {
  for (const [what, [sql, indexes]] of Object.entries(FITTING)) {
    test(`D-11.4.2 a table ${what} is used as it is, and gets the indexes that it lacks`, () =>
      SqliteFile.use(async (file) => {
        const elsewhere = file.openElsewhere();
        elsewhere.run(sql);
        elsewhere.run("INSERT INTO items (a, b, at) VALUES ('z', 1, '2023-01-01 10:00:00')");
        const before = schemaOf(elsewhere);
        for (const round of [1, 2]) {
          const table = await TableUnderTest.prepare(await file.open(), ITEMS);
          await table.write({ ...ROW, b: round }, { ...ROW, b: round, note: "again" });
          expect(ownIndexes(elsewhere)).toEqual([...indexes]);
        }
        expect(schemaOf(elsewhere)).toEqual(before);
        const table = await TableUnderTest.prepare(await file.open(), ITEMS);
        expect(await table.rows()).toEqual([
          { a: "z", b: 1, at: "2023-01-01T10:00:00Z", note: null },
          { ...ROW, note: "again" },
          { ...ROW, b: 2, note: "again" },
        ]);
        expect(await table.column("b", { sinceTime: "2023-06-01T00:00:00Z" })).toEqual([1, 2]);
      }));
  }

  test("D-11.4.2 INTEGER PRIMARY KEY serves as key, and numbers rows", () =>
    SqliteFile.use(async (file) => {
      const elsewhere = file.openElsewhere();
      elsewhere.run("CREATE TABLE items (id INTEGER PRIMARY KEY, a TEXT)");
      elsewhere.run("CREATE TABLE numbered (id integer primary key, a VARCHAR(20) UNIQUE)");
      elsewhere.run("INSERT INTO numbered VALUES (7, 'x')");
      const before = [schemaOf(elsewhere), schemaOf(elsewhere, "numbered")];
      const columns = { id: { type: "integer" }, a: { type: "text" } } as const;
      const storage = await file.open();
      const table = await TableUnderTest.prepare(
        storage,
        makeTable({ upsert_key: ["id"], columns }),
      );
      const numbered = await TableUnderTest.prepare(
        storage,
        makeTable(
          {
            upsert_key: ["a"],
            columns: { id: { type: "integer", auto_increment: true }, a: columns.a },
          },
          "numbered",
        ),
      );
      await table.write({ id: 5, a: "x" }, { id: 5, a: "y" });
      await numbered.write({ a: "y" }, { a: "x" });
      expect(await table.rows()).toEqual([{ id: 5, a: "y" }]);
      expect(await numbered.rows()).toEqual([
        { id: 7, a: "x" },
        { id: 8, a: "y" },
      ]);
      expect([...ownIndexes(elsewhere), ...ownIndexes(elsewhere, "numbered")]).toEqual([]);
      expect([schemaOf(elsewhere), schemaOf(elsewhere, "numbered")]).toEqual(before);
    }));

  test("D-11.4.2, D-3.4 pages, runs and the guard find their rows in the index on the order", () =>
    SqliteFile.use(async (file) => {
      const elsewhere = file.openElsewhere();
      elsewhere.run(FITTING["with that primary key"]?.[0] ?? "");
      const statements: string[] = [];
      const storage = await file.open({}, async (path) => {
        const connection = await openBunSqlite(path);
        return new Proxy(connection, {
          get: (target, name) => {
            if (name === "prepare") {
              return (sql: string) => {
                statements.push(sql);
                return target.prepare(sql);
              };
            }
            return Reflect.get(target, name);
          },
        });
      });
      const table = await TableUnderTest.prepare(storage, ITEMS);
      await table.write(...Array.from({ length: 9 }, (_, b) => ({ ...ROW, b })));
      await table.rows({ offsetRows: 2, limitRows: 2 });
      await table.rows({ sinceTime: "2024-01-01T00:00:00Z", limitRows: 2 });
      const after = { sinceTime: null, after: { ...ROW, b: 2 }, limitRows: 3 };
      const found = await readAfter(storage.tables, ITEMS, after);
      expect(found.map(({ b }) => b)).toEqual([3, 4, 5]);
      const reads = statements.filter((sql) => sql.includes("ORDER BY") && sql.includes('"items"'));
      expect(reads.length).toBeGreaterThanOrEqual(3);
      // A connection from before does not know the index yet.
      const planner = file.openElsewhere();
      for (const sql of reads) {
        const plan = planner.query(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
        const hasStart = sql.includes("WHERE") && sql.includes(">");
        const search = /^SEARCH items USING (COVERING )?INDEX repsync_order_items \(<expr>>\?\)$/;
        const scan = /^SCAN items USING (COVERING )?INDEX repsync_order_items$/;
        expect(plan.map(({ detail }) => detail).join()).toMatch(hasStart ? search : scan);
      }
    }));

  test("D-11.4.2, D-7.6, D-7.10.1 deletes are recorded by triggers, beside those of the application", () =>
    SqliteFile.use(async (file) => {
      const elsewhere = file.openElsewhere();
      elsewhere.run(FITTING["with that primary key"]?.[0] ?? "");
      elsewhere.run("CREATE TABLE log (a TEXT)");
      elsewhere.run(
        "CREATE TRIGGER logs AFTER DELETE ON items BEGIN INSERT INTO log VALUES (OLD.a); END",
      );
      const before = schemaOf(elsewhere);
      const storage = await file.open();
      const deleted = makeTable({ ...ENTRY, deletes: true });
      const table = await TableUnderTest.prepare(storage, deleted);
      await table.write(ROW, { ...ROW, b: 2 });
      elsewhere.run("DELETE FROM items WHERE b = 1");
      elsewhere.run("UPDATE items SET b = 3 WHERE b = 2");
      const page = await storage.tombstones.list(deleted, {
        ...{ after: null, sinceTime: null, limitRows: 10 },
      });
      expect(page.items.map(({ key }) => key)).toEqual([
        { a: "x", b: 1 },
        { a: "x", b: 2 },
      ]);
      expect(elsewhere.query("SELECT a FROM log").values()).toEqual([["x"]]);
      expect(schemaOf(elsewhere)).toEqual(before);
      await storage.tables.prepare([ITEMS]);
      const triggers = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
      expect(elsewhere.query(triggers).values()).toEqual([["logs"]]);
    }));

  test("D-11.4.2 which tables another program made stands in the store, and holds for the next start", () =>
    SqliteFile.use(async (file) => {
      const elsewhere = file.openElsewhere();
      elsewhere.run("CREATE TABLE items (a TEXT, b INTEGER, at TEXT, note TEXT)");
      const storage = await file.open();
      const own = makeTable(ENTRY, "own");
      await storage.tables.prepare([ITEMS, own]);
      const wider = { ...ENTRY, columns: { ...ENTRY.columns, more: { type: "text" } } } as const;
      expect(await failureOf(storage.tables.prepare([makeTable(wider)]))).toEqual({
        kind: "schema_conflict",
        message: `Table "items", which another program made, cannot be used: column "more" is missing in the database, and nothing is added there${ADVICE}`,
      });
      await storage.tables.prepare([makeTable(wider, "own")]);
      elsewhere.run("DROP TABLE items");
      // What repsync makes in its place is its own.
      await storage.tables.prepare([ITEMS]);
      await storage.tables.prepare([makeTable(wider)]);
    }));

  test("D-11.4.2 an empty table of another program is never dropped, and another key gets its own index", () =>
    SqliteFile.use(async (file) => {
      const elsewhere = file.openElsewhere();
      elsewhere.run("CREATE TABLE items (a TEXT, b INTEGER, at TEXT, note TEXT, other TEXT)");
      const before = schemaOf(elsewhere);
      const storage = await file.open();
      await storage.tables.prepare([ITEMS]);
      const byNote = makeTable({ ...ENTRY, upsert_key: ["note"] });
      const table = await TableUnderTest.prepare(storage, byNote);
      await table.write({ ...ROW, note: "1" }, { ...ROW, note: "2" });
      expect(await table.count()).toBe(2);
      const asDate = { ...ENTRY, columns: { ...ENTRY.columns, note: { type: "real" } } } as const;
      elsewhere.run("DELETE FROM items");
      expect((await failureOf(storage.tables.prepare([makeTable(asDate)])))?.message).toContain(
        'column "note" is TEXT in the database, where real is kept as REAL',
      );
      expect(schemaOf(elsewhere)).toEqual(before);
    }));

  test("D-11.4.2 a table that a store of before this rule lists counts as repsync's own", () =>
    SqliteFile.use(async (file) => {
      const elsewhere = file.openElsewhere();
      elsewhere.run("CREATE TABLE items (a TEXT, b INTEGER, at TEXT, note TEXT)");
      const storage = await file.open();
      await storage.tables.prepare([ITEMS]);
      elsewhere.run(
        "UPDATE repsync_tables SET definition = json_remove(definition, '$.isForeign')",
      );
      const wider = { ...ENTRY, columns: { ...ENTRY.columns, more: { type: "text" } } } as const;
      const table = await TableUnderTest.prepare(storage, makeTable(wider));
      await table.write({ ...ROW, more: "new" });
      expect(await table.rows()).toEqual([{ ...ROW, more: "new" }]);
    }));
});

describe("SQLite: a file whose tables do not fit", () => {
  const REFUSED: readonly Table[] = [
    makeTable({ upsert_key: ["Id"], columns: { Id: { type: "integer" } } }, "fits"),
    ITEMS,
    makeTable(
      {
        upsert_key: ["name"],
        columns: { name: { type: "text" }, price: { type: "numeric" }, live: { type: "boolean" } },
      },
      "goods",
    ),
    makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } }, "new"),
  ];
  const SCHEMA = [
    "CREATE TABLE fits (Id INTEGER PRIMARY KEY)",
    "CREATE TABLE items (a TEXT, b INTEGER, at DATETIME, PRIMARY KEY (a, b))",
    "CREATE TABLE goods (name TEXT COLLATE NOCASE PRIMARY KEY, price NUMERIC(10,2), live BOOLEAN)",
    "INSERT INTO fits VALUES (1)",
  ];
  const MESSAGE =
    `Table "items", which another program made, cannot be used: column "at" is DATETIME, kept as NUMERIC, in the database, where datetime is kept as TEXT; column "note" is missing in the database, and nothing is added there${ADVICE}\n` +
    `Table "goods", which another program made, cannot be used: column "price" is NUMERIC(10,2), kept as NUMERIC, in the database, where numeric is kept as TEXT; column "live" is BOOLEAN, kept as NUMERIC, in the database, where boolean is kept as INTEGER; its key ("name") is not compared by bytes in the database${ADVICE}`;
  /** How the application has left its file, or goes on using it. */
  const MODES = ["delete", "wal", "wal, open", "delete, in a write"] as const;

  for (const mode of MODES) {
    test(`D-11.4.2 in the journal mode ${mode} all are told at once, and no byte of the file is changed`, () =>
      SqliteFile.use(async (file) => {
        const application = new Database(file.path);
        application.run(`PRAGMA journal_mode = ${mode.split(",")[0]}`);
        for (const sql of SCHEMA) application.run(sql);
        const isOpen = mode.endsWith("open");
        if (mode.endsWith("write")) {
          application.run("BEGIN IMMEDIATE");
          application.run("INSERT INTO fits VALUES (2)");
        } else if (!isOpen) application.close();
        const look = () => readdirSync(file.folder).map((name) => [name, contentOf(file, name)]);
        const before = look();
        const opening = SqliteStorage.open(openBunSqlite, file.path, {
          clock: new SystemClock(),
          tables: REFUSED,
        });
        expect(await failureOf(opening)).toEqual({ kind: "schema_conflict", message: MESSAGE });
        expect(look()).toEqual(before);
        application.close();
      }));
  }
});

/** Of the index of a log only that it is there: who reads leaves a mark in it. */
function contentOf(file: SqliteFile, name: string): string {
  return name.endsWith("-shm") ? "" : readFileSync(`${file.folder}/${name}`, "base64");
}
