import { describe, expect, test } from "bun:test";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/make-table.ts";
import { failureOf, SqliteFile } from "../support.ts";

const ENTRY: TableEntry = {
  upsert_key: ["k"],
  columns: { k: { type: "text" }, v: { type: "integer" }, note: { type: "text" } },
};

describe("SQLite: triggers of other tools", () => {
  for (const event of ["INSERT", "UPDATE"]) {
    test(`D-7.10.1 the total of a table counts what a trigger after ${event} of another one writes to it`, () =>
      SqliteFile.use(async (file) => {
        const storage = await file.open();
        const [items, log] = [makeTable(ENTRY), makeTable(ENTRY, "log")];
        await storage.tables.prepare([items, log]);
        const written = new TableUnderTest(storage, items);
        const counted = new TableUnderTest(storage, log);
        file
          .openElsewhere()
          .run(
            `CREATE TRIGGER repsyncs AFTER ${event} ON items BEGIN INSERT INTO log (k) VALUES (new.v); END`,
          );
        const k = (v: number) => (event === "UPDATE" ? "a" : `a${v}`);
        await written.write({ k: k(0), v: 0, note: null });
        const first = await counted.count();
        for (let v = 1; v <= 3; v++) {
          await written.write({ k: k(v), v, note: null });
          expect(await counted.count()).toBe(first + v);
          expect((await counted.page({ limitRows: 1 })).totalRows).toBe(first + v);
        }
      }));
  }
});

test("D-7.10.1 a page ends where the rows end, though a trigger that passes for repsync's own removed some", () =>
  SqliteFile.use(async (file) => {
    const storage = await file.open();
    const [items, log] = [makeTable(ENTRY), makeTable(ENTRY, "log")];
    await storage.tables.prepare([items, log]);
    const [written, read] = [items, log].map((table) => new TableUnderTest(storage, table));
    await read?.write({ k: "a", v: 1, note: null }, { k: "b", v: 2, note: null });
    expect(await read?.count()).toBe(2);
    file
      .openElsewhere()
      .run("CREATE TRIGGER repsync_x AFTER INSERT ON items BEGIN DELETE FROM log; END");
    expect(await read?.count()).toBe(2);
    await written?.write({ k: "c", v: 3, note: null });
    expect(await read?.rows()).toEqual([]);
  }));

describe("SQLite: columns that other tools made", () => {
  const generated = {
    virtual: "v INTEGER GENERATED ALWAYS AS (length(k))",
    stored: "v INTEGER AS (length(k)) STORED",
    "in another case": "V INTEGER AS (length(k))",
  };
  for (const [what, column] of Object.entries(generated)) {
    for (const rows of ["no rows", "rows"]) {
      test(`D-7.10.1 a table with ${rows} and a generated column, ${what}, is refused at start`, () =>
        SqliteFile.use(async (file) => {
          const elsewhere = file.openElsewhere();
          elsewhere.run(`CREATE TABLE items (k TEXT, note TEXT, ${column})`);
          if (rows === "rows") elsewhere.run("INSERT INTO items (k) VALUES ('a')");
          const name = column.slice(0, 1);
          const refused = {
            kind: "schema_conflict",
            message:
              `Table "items" cannot be synchronized: the database generates column "${name}", which nobody can write. ` +
              "Drop it, or make it an ordinary column; a view may show what it showed",
          };
          const before = elsewhere
            .query("SELECT sql FROM sqlite_schema WHERE name = 'items'")
            .all();
          const storage = await file.open();
          expect(await failureOf(storage.tables.prepare([makeTable(ENTRY)]))).toEqual(refused);
          expect(
            elsewhere.query("SELECT sql FROM sqlite_schema WHERE name = 'items'").all(),
          ).toEqual(before);
        }));
    }
  }

  test("D-11.10.5 a generated column that the registry does not name stays, and rows are written beside it", () =>
    SqliteFile.use(async (file) => {
      const elsewhere = file.openElsewhere();
      elsewhere.run(
        "CREATE TABLE items (k TEXT, note TEXT, v INTEGER, once INTEGER AS (v) STORED)",
      );
      const storage = await file.open();
      const table = await TableUnderTest.prepare(storage, makeTable(ENTRY));
      elsewhere.run("ALTER TABLE items ADD COLUMN twice INTEGER AS (v * 2)");
      await storage.tables.prepare([makeTable(ENTRY)]);
      await table.write({ k: "a", v: 1, note: null });
      await table.write({ k: "a", v: 4, note: null });
      expect(await table.rows()).toEqual([{ k: "a", v: 4, note: null }]);
      expect(elsewhere.query("SELECT once, twice FROM items").all()).toEqual([
        { once: 4, twice: 8 },
      ]);
    }));

  test("D-7.10.1 a change of case is a change, whatever the collation of the column", () =>
    SqliteFile.use(async (file) => {
      const elsewhere = file.openElsewhere();
      elsewhere.run("CREATE TABLE items (k TEXT, v INTEGER, note TEXT COLLATE NOCASE)");
      const storage = await file.open();
      const table = await TableUnderTest.prepare(storage, makeTable(ENTRY));
      await table.write({ k: "a", v: 1, note: "Straße" }, { k: "b", v: 1, note: "same" });
      const outcome = await table.writeWith(
        {},
        { k: "a", v: 1, note: "STRAßE" },
        { k: "b", v: 1, note: "same" },
      );
      expect(outcome.changed).toBe(1);
      expect(await table.column("note")).toEqual(["STRAßE", "same"]);
      expect(await table.writeWith({}, { k: "a", v: 1, note: "STRAßE" })).toMatchObject({
        changed: 0,
      });
    }));

  test("D-7.10.1 a change of spaces at the end is a change in a column with RTRIM", () =>
    SqliteFile.use(async (file) => {
      file.openElsewhere().run("CREATE TABLE items (k TEXT, v INTEGER, note TEXT COLLATE RTRIM)");
      const table = await TableUnderTest.prepare(await file.open(), makeTable(ENTRY));
      await table.write({ k: "a", v: 1, note: "x" });
      await table.write({ k: "a", v: 1, note: "x  " });
      expect(await table.column("note")).toEqual(["x  "]);
    }));

  for (const [where, sql] of Object.entries({
    "of the column": "CREATE TABLE items (k TEXT COLLATE NOCASE, v INTEGER, note TEXT)",
    "of its primary key":
      "CREATE TABLE items (k TEXT COLLATE NOCASE PRIMARY KEY, v INTEGER, note TEXT)",
  })) {
    test(`D-7.10.1 keys that ignore case are refused at start, as those of the other end may differ in it: ${where}`, () =>
      SqliteFile.use(async (file) => {
        file.openElsewhere().run(sql);
        const storage = await file.open();
        expect(await failureOf(storage.tables.prepare([makeTable(ENTRY)]))).toMatchObject({
          kind: "schema_conflict",
          message: expect.stringContaining("is not compared by bytes in the database"),
        });
      }));
  }
});
