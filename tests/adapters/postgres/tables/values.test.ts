// Values that typed columns cannot hold, and what other programs wrote. D-12.1.
import { describe, expect } from "bun:test";
import { rawNumber } from "../../../../src/domain/shared/json.ts";
import type { PageStart } from "../../../../src/ports/tables/table-store.ts";
import { BY_TIME } from "../../../contract/tables/reading/reading-cursors.ts";
import { walk } from "../../../contract/tables/reading/reading-ways.ts";
import { asWrites, TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest as it } from "../support.ts";

const ITEMS = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: {
    k: { type: "text" },
    at: { type: "datetime" },
    price: { type: "numeric" },
    n: { type: "integer" },
    extra: { type: "json" },
  },
});

describe.skipIf(!postgresAvailable)("PostgreSQL values", () => {
  it("D-12.1 a record with a value that its column cannot hold fails alone, and says which", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    const rows = [
      { k: "a", price: "soon" },
      { k: "b", n: "5" },
      { k: "c", n: rawNumber("1.50") },
      { k: "d", price: true },
      { k: "e", at: "2024-02-30T00:00:00Z" },
      { k: "f\u0000g" },
      { k: "h", price: "1e131072" },
      { k: "i", price: "1e-16384" },
      { k: "l", price: "1e131071" },
      { k: "m", price: "1e-16383" },
      { k: "j", price: "1.10", extra: { text: "a\u0000b" } },
    ];
    const { failures, changed } = await writeTo(storage, ITEMS, asWrites(rows));
    expect([changed, failures.map(({ message }) => message)]).toEqual([
      3,
      [
        'column "price" (numeric) cannot hold the text "soon"',
        'column "n" (integer) cannot hold the text "5"',
        'column "n" (integer) cannot hold the number 1.50',
        'column "price" (numeric) cannot hold the boolean true',
        'column "at" (datetime) cannot hold the text "2024-02-30T00:00:00Z"',
        'column "k" (text) cannot hold the text "f\\u0000g"',
        'column "price" (numeric) cannot hold the text "1e131072"',
        'column "price" (numeric) cannot hold the text "1e-16384"',
      ],
    ]);
  });

  it("D-12.1 a range that ends at keys with a NUL has the rows between them", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "a" }, { k: "b" }, { k: "c" });
    const from = { afterKey: { k: "a\u0000z" }, throughKey: { k: "b\u0000" } };
    const { rows } = await storage.tables.page(ITEMS, { from, limitRows: 9 });
    expect(rows.map(({ k }) => k)).toEqual(["b"]);
  });

  it("D-12.1 a key that columns cannot hold is behind all rows", async (database) => {
    const storage = await database.open();
    const numbers = makeTable({ upsert_key: ["n"], columns: { n: { type: "integer" } } });
    const table = await TableUnderTest.prepare(storage, numbers);
    await table.write({ n: 1 }, { n: 2 });
    const part = async (from: PageStart) =>
      (await storage.tables.page(numbers, { from, limitRows: 9 })).rows.map(({ n }) => n);
    expect(await part({ afterKey: { n: 1 }, throughKey: { n: "soon" } })).toEqual([2]);
    expect(await part({ afterKey: { n: "soon" }, throughKey: null })).toEqual([]);
  });

  it("D-12.1 a zero loses its sign, and is the same when it comes again", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const writes = asWrites([
      { k: "a", price: "-0.0" },
      { k: "b", price: "-0" },
      { k: "c", price: "-0.01" },
    ]);
    expect((await writeTo(storage, ITEMS, writes)).changed).toBe(3);
    expect((await writeTo(storage, ITEMS, writes)).changed).toBe(0);
    expect(await table.column("price")).toEqual(["0.0", "0", "-0.01"]);
  });

  it("D-11.1 a long run of zeros inside a decimal takes no more than linear time", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const price = `1${"0".repeat(131_070)}1`;
    const beganMs = performance.now();
    await table.write({ k: "a", price });
    expect(await table.column("price")).toEqual([price]);
    expect(performance.now() - beganMs).toBeLessThan(5_000);
  });

  it("what other programs wrote is shown, and times of no calendar count as none", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await database.sql.unsafe(
      `insert into items (k, at, price) values ('a', 'infinity', 'NaN'), ('b', '2024-01-01', 1.10), ('c', '0044-03-15 BC', 'Infinity'), ('d', '10000-01-01', 1)`,
    );
    const rows = await table.rows();
    expect(rows.map(({ k, price }) => [k, price])).toEqual([
      ["a", "NaN"],
      ["c", "Infinity"],
      ["d", "1"],
      ["b", "1.10"],
    ]);
    expect(rows.map(({ at }) => at)).toEqual([
      "infinity",
      "0044-03-15 00:00:00+00 BC",
      "10000-01-01 00:00:00+00",
      "2024-01-01T00:00:00Z",
    ]);
    for (const way of ["cursor", "position", "offset"] as const) {
      expect(await walk(storage.tables, ITEMS, way, { limitRows: 1 })).toEqual(rows);
    }
    expect(await table.column("k", { sinceTime: "0001-01-01T00:00:00Z" })).toEqual(["b"]);
  });

  it("D-12.1 times of no calendar are values of their columns, and no row behind one in a key is left out", async (database) => {
    const storage = await database.open();
    const validity = makeTable({
      upsert_key: ["since", "day", "n"],
      columns: { since: { type: "datetime" }, day: { type: "date" }, n: { type: "integer" } },
    });
    const rows = [
      { since: "-infinity", day: "-infinity", n: 1 },
      { since: "-infinity", day: "-infinity", n: 2 },
      { since: "-infinity", day: "4714-11-24 BC", n: 1 },
      { since: "-infinity", day: "4714-11-24 BC", n: 2 },
      { since: "-infinity", day: "2026-01-01", n: 1 },
      { since: "4714-11-24 00:00:00+00 BC", day: "0401-02-29 BC", n: 1 },
      { since: "0001-02-29 23:59:59.00012+00 BC", day: "0044-03-15 BC", n: 1 },
      { since: "0001-02-29 23:59:59.00012+00 BC", day: "0044-03-15 BC", n: 2 },
      { since: "2026-01-01T00:00:00Z", day: "10000-01-01", n: 1 },
      { since: "2026-01-01T00:00:00Z", day: "10000-02-29", n: 1 },
      { since: "2026-01-01T00:00:00Z", day: "5874897-12-31", n: 1 },
      { since: "2026-01-01T00:00:00Z", day: "infinity", n: 1 },
      { since: "2026-01-01T00:00:00Z", day: "infinity", n: 2 },
      { since: "294276-12-31 23:59:59.999999+00", day: "2026-01-01", n: 1 },
      { since: "294276-12-31 23:59:59.999999+00", day: "2026-01-01", n: 2 },
      { since: "infinity", day: "infinity", n: 1 },
    ];
    await storage.tables.prepare([validity]);
    for (const { since, day, n } of rows) {
      await database.sql.unsafe(`insert into items values ('${since}', '${day}', ${n})`);
    }
    for (const way of ["cursor", "position", "key", "offset"] as const) {
      expect(await walk(storage.tables, validity, way, { limitRows: 1 })).toEqual(rows);
    }
    expect(await storage.tables.byKeys(validity, rows, "sent")).toHaveLength(rows.length);
    const again = await writeTo(storage, validity, asWrites(rows));
    expect([again.changed, again.failures]).toEqual([0, []]);
  });

  it("D-12.1 a time that the server has no room for, or writes otherwise, is no value of a column", async (database) => {
    const storage = await database.open();
    const periods = makeTable({
      upsert_key: ["since", "day"],
      columns: { since: { type: "datetime" }, day: { type: "date" } },
    });
    await storage.tables.prepare([periods]);
    const days = [
      "4714-11-23 BC",
      "0000-01-01",
      "0000-01-01 BC",
      "0004-02-29 BC",
      "10001-02-29",
      "10100-02-29",
      "10000-13-01",
      "010000-01-01",
      "5874898-01-01",
      "2026-01-01 AD",
      "0044-03-15 00:00:00+00 BC",
    ];
    const times = [
      "294277-01-01 00:00:00+00",
      "0000-01-01 00:00:00+00",
      "4714-11-23 23:59:59+00 BC",
      "0044-03-15 24:00:00+00 BC",
      "0044-03-15 00:00:00.10+00 BC",
      "0044-03-15 01:00:00+01 BC",
      "0044-03-15 BC",
      "10000-01-01",
    ];
    const rows = [
      ...days.map((day) => ({ since: "infinity", day })),
      ...times.map((since) => ({ since, day: "infinity" })),
    ];
    const { failures } = await writeTo(storage, periods, asWrites(rows));
    expect(failures.map(({ message }) => message)).toEqual([
      ...days.map((day) => `column "day" (date) cannot hold the text "${day}"`),
      ...times.map((since) => `column "since" (datetime) cannot hold the text "${since}"`),
    ]);
    expect(await storage.tables.byKeys(periods, rows, "sent")).toEqual([]);
  });

  it("D-9.5.3 a cursor with a place that columns cannot hold is refused", async (database) => {
    const { tables } = await database.open();
    await tables.prepare([BY_TIME]);
    const places = [
      ["2026-13-01 00:00:00+00", "a", "7"],
      ["2026-01-01 00:00:00+00", "a", "9223372036854775808"],
      ["2026-01-01 00:00:00+00", "a\u0000b", "7"],
      ["2026-01-01 00:00:00+00", "a"],
    ];
    for (const place of places) {
      const cursor = Buffer.from(JSON.stringify([place, 0])).toString("base64url");
      const reading = tables.page(BY_TIME, { from: { cursor }, limitRows: 1 });
      await expect(reading).rejects.toMatchObject({ kind: "invalid_request" });
    }
  });

  it("D-3.3, D-12.1 columns have the server's own types", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    const types = await database.sql.unsafe(
      "select column_name, data_type from information_schema.columns where table_name = 'items' order by ordinal_position",
    );
    expect(
      types.map((one: Record<string, string>) => [one["column_name"], one["data_type"]]),
    ).toEqual([
      ["k", "text"],
      ["at", "timestamp with time zone"],
      ["price", "numeric"],
      ["n", "bigint"],
      ["extra", "json"],
    ]);
  });
});
