import { describe, expect, test } from "bun:test";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { asWrites, TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { failureOf } from "../../../support/failures.ts";
import { LISTINGS, makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { SqliteFile } from "../support.ts";

const listings = makeTable(LISTINGS, "listings");

describe("SQLite: the file to other tools", () => {
  test("D-2.4 a table has the registry's name and columns, in types that any tool reads", () =>
    SqliteFile.use(async (file) => {
      const table = await TableUnderTest.prepare(await file.open(), listings);
      await table.write({
        shop: "a",
        sku: "b",
        price: "1.50",
        views: "12",
        active: true,
        listed_on: "2024-01-31",
        updated_at: "2024-01-31T12:00:00.500Z",
        extra: { n: [1] },
        secret: "s",
      });
      const elsewhere = file.openElsewhere();
      const { repsync_order, ...row } = elsewhere
        .query("SELECT * FROM listings")
        .get() as object & {
        repsync_order: unknown;
      };
      expect(repsync_order).toBe("2024-01-31T12:00:00.500");
      expect(JSON.stringify(row)).toBe(
        '{"id":1,"shop":"a","sku":"b","price":"1.50","views":"12","active":1,"listed_on":"2024-01-31",' +
          '"updated_at":"2024-01-31T12:00:00.500","extra":"{\\"n\\":[1]}","secret":"s"}',
      );
      const names = elsewhere.query(
        "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'repsync!_%' ESCAPE '!'",
      );
      expect(names.values()).toEqual([["listings"]]);
    }));

  test("D-2.4 rows that other tools write are shown as near to their types as they can be read", () =>
    SqliteFile.use(async (file) => {
      const table = await TableUnderTest.prepare(await file.open(), listings);
      const elsewhere = file.openElsewhere();
      const insert = (sku: string, columns: string, values: string) =>
        elsewhere.run(
          `INSERT INTO listings (shop, sku, ${columns}) VALUES ('s', '${sku}', ${values})`,
        );
      insert("1", "updated_at", "'2024-01-01 00:00:00'");
      insert("2", "updated_at", "'2024-01-02T00:00:00Z'");
      insert("3", "updated_at", "'2024-01-03 00:00:00.120000'");
      insert("4", "updated_at", "'2024-01-04'");
      insert("5", "updated_at", "'tomorrow'");
      insert("6", "updated_at", "1704067200");
      insert("7", "updated_at", "x'ff00'");
      insert("8", "updated_at", "'2024-01-05 10:00'");
      insert("9", "updated_at", "'2024-01-05T10:00:00.5+00:00'");
      insert("a", "updated_at, active", "'2024-01-05T10:00:01', 7");
      insert("b", "updated_at, price, views", "'2024-01-06T10:00:00', 1.5, 9223372036854775807");
      const times = await table.rows();
      expect(times.map((row) => [row["sku"], row["updated_at"]])).toEqual([
        ["5", "tomorrow"],
        ["6", "1704067200"],
        ["7", "\ufffd\u0000"],
        ["1", "2024-01-01T00:00:00Z"],
        ["2", "2024-01-02T00:00:00Z"],
        ["3", "2024-01-03T00:00:00.120Z"],
        ["4", "2024-01-04T00:00:00Z"],
        ["8", "2024-01-05T10:00:00Z"],
        ["9", "2024-01-05T10:00:00.500Z"],
        ["a", "2024-01-05T10:00:01Z"],
        ["b", "2024-01-06T10:00:00Z"],
      ]);
      expect(times.at(-2)).toMatchObject({ active: true });
      expect(times.at(-1)).toMatchObject({ price: "1.5", views: "9223372036854775807" });
      for (const [n, { updated_at: sinceTime }] of times.entries()) {
        const since = n < 3 ? null : String(sinceTime);
        expect((await table.page({ sinceTime: since })).totalRows).toBe(11 - (n < 3 ? 0 : n));
      }
    }));

  test("D-2.4 values of foreign types in every column are read without an error", () =>
    SqliteFile.use(async (file) => {
      const types = [
        "text",
        "integer",
        "bigint",
        "numeric",
        "real",
        "boolean",
        "datetime",
        "date",
        "json",
      ] as const;
      const columns: TableEntry["columns"] = { k: { type: "text" } };
      for (const type of types) columns[type] = { type };
      const table = await TableUnderTest.prepare(
        await file.open(),
        makeTable({ upsert_key: ["k"], columns }),
      );
      const elsewhere = file.openElsewhere();
      const values = [
        "5",
        "-9223372036854775808",
        "1.5",
        "1e999",
        "'abc'",
        "'{'",
        "x'00ff'",
        "''",
        "CAST(x'ff' AS TEXT)",
      ];
      for (const [i, value] of values.entries()) {
        const list = types.map(() => value).join(", ");
        elsewhere.run(`INSERT INTO items (k, ${types.join(", ")}) VALUES ('${i}', ${list})`);
      }
      const rows = await table.rows();
      expect(rows.length).toBe(values.length);
      expect(JSON.parse(JSON.stringify(rows[0]))).toEqual({
        k: "0",
        text: "5",
        integer: 5,
        bigint: "5",
        numeric: "5",
        real: 5,
        boolean: true,
        datetime: "5",
        date: "5",
        json: 5,
      });
    }));

  test("D-3.4 rows without a key, from other tools, are paged each once", () =>
    SqliteFile.use(async (file) => {
      const table = await TableUnderTest.prepare(await file.open(), listings);
      const elsewhere = file.openElsewhere();
      for (let n = 0; n < 10; n++) {
        elsewhere.run(
          `INSERT INTO listings (shop, sku, views) VALUES (${n % 2 ? "NULL" : "'s'"}, NULL, ${n})`,
        );
        elsewhere.run(`INSERT INTO listings (shop, sku, views) VALUES ('s', '${n}', ${n + 10})`);
      }
      const seen = new Set<unknown>();
      for (let offsetRows = 0; offsetRows < 20; offsetRows += 3) {
        for (const views of await table.column("views", { offsetRows, limitRows: 3 }))
          seen.add(views);
      }
      expect(seen.size).toBe(20);
    }));

  test("D-3.3 a write replaces what another tool wrote", () =>
    SqliteFile.use(async (file) => {
      const table = await TableUnderTest.prepare(await file.open(), listings);
      file
        .openElsewhere()
        .run(
          "INSERT INTO listings (shop, sku, updated_at, active) VALUES ('s', 'k', '2024-01-01 00:00:00Z', 'x')",
        );
      const row = { shop: "s", sku: "k", price: null, views: null, active: false, listed_on: null };
      await table.write({ ...row, updated_at: "2024-01-01T00:00:00Z", extra: null });
      expect(await table.rows()).toEqual([
        { id: 1, ...row, updated_at: "2024-01-01T00:00:00Z", extra: null },
      ]);
    }));
});

describe("SQLite: writes", () => {
  test("D-4.7 write() of rows that would not change writes nothing to the file", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      const table = await TableUnderTest.prepare(storage, listings);
      const rows = Array.from({ length: 50 }, (_, n) => ({
        shop: "s",
        sku: `${n}`,
        price: "1.50",
        views: "9223372036854775808",
        active: n % 2 === 0,
        listed_on: n % 3 === 0 ? "never" : "2024-01-01",
        updated_at: "2024-01-01T00:00:00.000001Z",
        extra: { n: [n, null, "é"] },
        secret: null,
      }));
      await table.write(...rows);
      const elsewhere = file.openElsewhere();
      elsewhere.run("CREATE TABLE log (sku TEXT)");
      elsewhere.run(
        "CREATE TRIGGER logged AFTER UPDATE ON listings BEGIN INSERT INTO log VALUES (new.sku); END",
      );
      const version = () => JSON.stringify(elsewhere.query("PRAGMA data_version").get());
      const before = version();
      await table.write(...rows);
      await table.write(...rows.slice(10, 20));
      expect(version()).toBe(before);
      await table.write(...rows.slice(0, 20), { ...rows[7], price: "1.5" });
      expect(version()).not.toBe(before);
      expect(elsewhere.query("SELECT sku FROM log").values()).toEqual([["7"]]);
    }));

  test("S-4.2.10 a record that the file refuses fails alone, whatever refuses it", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      const definition = makeTable({
        upsert_key: ["k"],
        columns: { k: { type: "text" }, v: { type: "integer" } },
      });
      const elsewhere = file.openElsewhere();
      elsewhere.run("CREATE TABLE items (k TEXT, v INTEGER CHECK (v < 100))");
      elsewhere.run("CREATE UNIQUE INDEX only_one_v ON items (v)");
      for (const action of ["ABORT", "FAIL", "IGNORE"]) {
        elsewhere.run(
          `CREATE TRIGGER on_${action} BEFORE INSERT ON items WHEN new.k = '${action}' BEGIN SELECT RAISE(${action}${action === "IGNORE" ? "" : ", 'not this one'"}); END`,
        );
      }
      const table = await TableUnderTest.prepare(storage, definition);
      const rows = ["a", "ABORT", "b", "FAIL", "IGNORE", "c"].map((k, v) => ({ k, v }));
      const { failures } = await writeTo(
        storage,
        definition,
        asWrites([...rows, { k: "d", v: 100 }, { k: "e", v: 0 }, { k: "f", v: 99 }]),
      );
      const rule = "the record breaks a rule that the table has in the database";
      expect(failures.map(({ index, message }) => [index, message])).toEqual([
        ...[1, 3].map((index) => [index, "not this one"]),
        [4, "a trigger of the table passes over it"],
        ...[6, 7].map((index) => [index, rule]),
      ]);
      expect(await table.column("k")).toEqual(["a", "b", "c", "f"]);
    }));

  test("D-2.2 any set of absent columns is left as it is", () =>
    SqliteFile.use(async (file) => {
      const names = Array.from({ length: 9 }, (_, i) => `h${i}`);
      const columnsOf = (serialize: boolean): TableEntry["columns"] => ({
        k: { type: "integer" },
        ...Object.fromEntries(names.map((name) => [name, { type: "text" as const, serialize }])),
      });
      const storage = await file.open();
      const hidden = await TableUnderTest.prepare(
        storage,
        makeTable({ upsert_key: ["k"], columns: columnsOf(false) }),
      );
      const shown = new TableUnderTest(
        storage,
        makeTable({ upsert_key: ["k"], columns: columnsOf(true) }),
      );
      const sets = Array.from({ length: 512 }, (_, k) => ({
        k,
        present: names.filter((_, i) => (k >> i) % 2 === 1),
      }));
      const values = (present: readonly string[], text: string) =>
        Object.fromEntries(present.map((name) => [name, text]));
      await hidden.write(...sets.map(({ k }) => ({ k, ...values(names, "old") })));
      await hidden.write(...sets.map(({ k, present }) => ({ k, ...values(present, "new") })));
      expect(await shown.rows()).toEqual(
        sets.map(({ k, present }) => ({ k, ...values(names, "old"), ...values(present, "new") })),
      );
    }));

  test("D-2.2 names that mean something to SQLite are names like others", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      const names = ["order", "rowid", "oid", "_rowid_", "select", "excluded", "x".repeat(63)];
      const columns = Object.fromEntries(names.map((name) => [name, { type: "text" as const }]));
      for (const name of ["order", "table", "excluded", "x".repeat(63)]) {
        const definition = makeTable({ upsert_key: ["order", "rowid"], columns }, name);
        const table = await TableUnderTest.prepare(storage, definition);
        const row = Object.fromEntries(names.map((column) => [column, column]));
        await table.write(row, { ...row, rowid: "z" }, { ...row, select: "changed" });
        expect(await table.rows({ offsetRows: 1 })).toEqual([{ ...row, rowid: "z" }]);
        expect(await table.rows()).toEqual([
          { ...row, select: "changed" },
          { ...row, rowid: "z" },
        ]);
      }
    }));

  test("D-2.2, D-2.2.12 a table may have 500 columns, all of them in one upsert", () =>
    SqliteFile.use(async (file) => {
      const names = Array.from({ length: 500 }, (_, i) => `c${i}`);
      const columns = Object.fromEntries(names.map((name) => [name, { type: "integer" as const }]));
      const table = await TableUnderTest.prepare(
        await file.open(),
        makeTable({ upsert_key: ["c0"], columns }),
      );
      const row = Object.fromEntries(names.map((name, i) => [name, i]));
      await table.write(row, { ...row, c499: -1 });
      expect(await table.rows()).toEqual([{ ...row, c499: -1 }]);
    }));
});

describe("SQLite: tables that are there already", () => {
  const definition = makeTable({
    timestamp_column: "at",
    upsert_key: ["k"],
    columns: {
      id: { type: "integer", auto_increment: true },
      k: { type: "text" },
      at: { type: "datetime" },
      price: { type: "numeric" },
      note: { type: "text" },
    },
  });

  const refused: Readonly<Record<string, readonly string[]>> = {
    "a column that would change digits": ["CREATE TABLE items (k TEXT, price DECIMAL(10, 2))"],
    "an id that SQLite does not number": ["CREATE TABLE items (id INTEGER, k TEXT)"],
    "no id to number": ["CREATE TABLE items (k TEXT)"],
    "keys that are not compared by bytes": [
      "CREATE TABLE items (id INTEGER PRIMARY KEY, k TEXT COLLATE NOCASE)",
    ],
    "keys that are there twice": [
      "CREATE TABLE items (id INTEGER PRIMARY KEY, k TEXT)",
      "INSERT INTO items (k) VALUES ('a'), ('a')",
    ],
    "a name in other letters": ["CREATE TABLE Items (id INTEGER PRIMARY KEY, k TEXT)"],
    "a column in other letters": ["CREATE TABLE items (id INTEGER PRIMARY KEY, K TEXT)"],
    "a column that is missing": [
      "CREATE TABLE items (id INTEGER PRIMARY KEY, k TEXT, at TEXT, price TEXT)",
    ],
    "a view": ["CREATE VIEW items AS SELECT 1 AS id, 'a' AS k"],
    "an index of its name": ["CREATE TABLE others (k TEXT)", "CREATE INDEX items ON others (k)"],
    "a virtual table": ["CREATE VIRTUAL TABLE items USING fts5(k, at, price, note)"],
  };
  for (const [what, statements] of Object.entries(refused)) {
    test(`D-2.4 prepare() refuses a table of another tool with ${what}, and leaves it`, () =>
      SqliteFile.use(async (file) => {
        const elsewhere = file.openElsewhere();
        for (const sql of statements) elsewhere.run(sql);
        const schema = () =>
          elsewhere.query("SELECT sql FROM sqlite_schema WHERE name LIKE 'items'").values();
        const before = schema();
        const storage = await file.open();
        const failure = await failureOf(storage.tables.prepare([listings, definition]));
        expect(failure).toMatchObject({
          kind: "schema_conflict",
          message: expect.stringContaining('"items"'),
        });
        expect(schema()).toEqual(before);
        expect(
          elsewhere.query("SELECT 1 FROM sqlite_schema WHERE name = 'listings'").values(),
        ).toEqual([]);
      }));
  }

  test("D-2.4 prepare() makes a table, an index and the order anew that were dropped by hand", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      const table = await TableUnderTest.prepare(storage, definition);
      const row = { k: "a", at: "2024-01-01T09:00:00Z", price: null, note: null };
      await table.write(row);
      const elsewhere = file.openElsewhere();
      elsewhere.run("DROP INDEX repsync_key_items");
      elsewhere.run("DROP INDEX repsync_order_items");
      elsewhere.run("ALTER TABLE items DROP COLUMN repsync_order");
      elsewhere.run("DELETE FROM repsync_tables");
      await storage.tables.prepare([definition]);
      await table.write(row);
      expect(await table.rows({ sinceTime: "2024-01-01T09:00:00Z" })).toEqual([{ id: 1, ...row }]);
      elsewhere.run("ALTER TABLE items RENAME COLUMN note TO remark");
      const prepared = storage.tables.prepare([definition]);
      await expect(prepared).rejects.toThrow('column "note" is missing in the database');
      elsewhere.run("DROP TABLE items");
      await storage.tables.prepare([definition]);
      expect(await table.count()).toBe(0);
      await table.write(row);
      expect(await table.count()).toBe(1);
    }));
});
