// Tables guessed from files: what is printed, what is added to a registry, and that the same file is then imported.
import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { withoutStamp, withStamp } from "../../support/rows/with-stamp.ts";
import { runCli } from "../support/run-cli.ts";

const ORDERS = `order_id,customer,zip,total,paid,ordered_on,updated_at,notes,meta,big
1001,Ana,01234,19.90,yes,2026-01-02,2026-01-02T10:00:00Z,,"{""a"":1}",9007199254740993
1002,Bea,10115,5,no,2026-01-03,2026-01-03 11:00:00,"two
lines","[1,2]",5
`;
const ORDERS_REGISTRY = `{
  "tables": {
    "orders": {
      "timestamp_column": "updated_at",
      "upsert_key": ["order_id"],
      "columns": {
        "order_id": { "type": "integer", "nullable": false },
        "customer": { "type": "text" },
        "zip": { "type": "text" },
        "total": { "type": "numeric" },
        "paid": { "type": "boolean" },
        "ordered_on": { "type": "date" },
        "updated_at": { "type": "datetime" },
        "notes": { "type": "text" },
        "meta": { "type": "json" },
        "big": { "type": "bigint" }
      }
    }
  }
}
`;
const NO_KEY = "a,b\n1,2\n1,2\n";

let folder: string;
beforeEach(() => {
  folder = makeTempFolder();
});

const file = (name: string, text: string | Uint8Array) => writeFileSync(join(folder, name), text);
const read = (name: string) => readFileSync(join(folder, name), "utf8");
const cli = (...args: string[]) => runCli(args, { folder });

/** A deployment whose registry holds what was guessed from a file, which is imported and exported again. */
async function tryOut(name: string, table: string, options: readonly string[] = [], all = table) {
  file(".env", "STORAGE_URL=sqlite:./store.db\nSYNC_TABLES=tables.json\n");
  file("tables.json", '{ "tables": {} }');
  const inferred = await cli("tables", "infer", name, "--into", "tables.json");
  expect([inferred.stdout, inferred.code]).toEqual([`tables.json: ${all} added\n`, 0]);
  const imported = await cli("import", table, name, "--json", ...options);
  expect([imported.code, imported.stderr]).toEqual([0, ""]);
  expect(imported.json).toMatchObject({ failed: 0, warning_count: 0 });
  const exported = await cli("export", table, "-", "--format", "ndjson");
  return exported.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("repsync tables infer", () => {
  test("D-10.2 prints a whole registry file, and on standard error what it rests on", async () => {
    file("orders.csv", ORDERS);
    const { code, stdout, stderr } = await cli("tables", "infer", "orders.csv");
    expect([code, stdout]).toEqual([0, ORDERS_REGISTRY]);
    expect(stderr).toContain("orders: 2 records (csv)\n");
    expect(stderr).toMatch(
      /\n {2}zip +text +1 of 2 values is no number, the first "01234" in line 2\n/,
    );
    expect(stderr).toContain("\n  key: order_id (");
    expect(stderr).toContain("\n  timestamp column: updated_at\n");
    expect(stderr).toEndWith(
      "Printed only: --into FILE adds it to a registry file\nNext: repsync import orders orders.csv\n",
    );
    file("registry.json", stdout);
    expect((await cli("tables", "check", "registry.json")).code).toBe(0);
  });

  test("D-10.2, D-10.3 what was inferred of a CSV file takes the same file without a warning", async () => {
    file("orders.csv", ORDERS);
    expect(await tryOut("orders.csv", "orders")).toEqual([
      {
        ...{ order_id: 1001, customer: "Ana", zip: "01234", total: "19.90", paid: true },
        ...{ ordered_on: "2026-01-02", updated_at: "2026-01-02T10:00:00Z", notes: null },
        ...{ meta: { a: 1 }, big: "9007199254740993" },
      },
      {
        ...{ order_id: 1002, customer: "Bea", zip: "10115", total: "5", paid: false },
        ...{ ordered_on: "2026-01-03", updated_at: "2026-01-03T11:00:00Z", notes: "two\nlines" },
        ...{ meta: [1, 2], big: "5" },
      },
    ]);
  });

  test("D-10.2, D-10.3 semicolons, a byte order mark, CRLF and names with blanks are no trouble", async () => {
    file("Shop 1.csv", '\uFEFFShop ID;Sku;Größe;Open?\r\n1;a;"x;y";y\r\n2;a;b;n\r\n1;b;;y\r\n');
    const { stderr } = await cli("tables", "infer", "Shop 1.csv");
    expect(stderr).toContain('Shop_1: 3 records (csv, separated by ";")');
    expect(stderr).toEndWith("Next: repsync import Shop_1 'Shop 1.csv'\n");
    expect(withoutStamp(await tryOut("Shop 1.csv", "Shop_1"))).toEqual([
      { Shop_ID: 1, Sku: "a", Gro_e: "x;y", Open: true },
      { Shop_ID: 1, Sku: "b", Gro_e: null, Open: true },
      { Shop_ID: 2, Sku: "a", Gro_e: "b", Open: false },
    ]);
    file("odd.csv", "id,__proto__\n1,2\n");
    expect(withoutStamp(await tryOut("odd.csv", "odd"))).toEqual([{ id: 1, proto__: 2 }]);
    file("tabs.csv", "id\tname\n1\ta,b\n");
    expect((await cli("tables", "infer", "tabs.csv")).stderr).toContain("(csv, separated by tab)");
  });

  test("D-10.2, D-10.3 JSON and NDJSON, compressed too, with fields that some records lack", async () => {
    const records = [
      {
        id: 1,
        at: "2026-01-01T00:00:00Z",
        price: 9.5,
        tags: ["a"],
        ok: true,
        mixed: 1,
        code: "007",
      },
      { id: 2, at: "2026-01-02T00:00:00.123Z", price: 2, ok: false, mixed: "x" },
    ];
    const expected = [
      { ...records[0], price: "9.5", mixed: "1" },
      { ...records[1], price: "2", tags: null, code: null },
    ];
    file("events.json", JSON.stringify(records));
    expect(withoutStamp(await tryOut("events.json", "events"))).toEqual(expected);
    folder = makeTempFolder();
    file("events.ndjson.gz", gzipSync(records.map((record) => JSON.stringify(record)).join("\n")));
    expect(withoutStamp(await tryOut("events.ndjson.gz", "events"))).toEqual(expected);
  });

  test("D-10.2 a SQLite file gives all of its tables, by declared keys and types and real values", async () => {
    const database = new Database(join(folder, "shop.db"));
    database.run(
      "CREATE TABLE people (id INTEGER PRIMARY KEY, email VARCHAR(9) NOT NULL, active BOOLEAN)",
    );
    database.run("INSERT INTO people VALUES (1, 'a@x', 1), (2, 'b@x', 0)");
    database.run(
      'CREATE TABLE "order lines" (o INT, n INT, price DECIMAL(9, 2), q, changed TIMESTAMP, PRIMARY KEY (o, n))',
    );
    database.run(
      "INSERT INTO \"order lines\" VALUES (1, 1, 9.5, 9223372036854775807, '2026-01-01 10:00:00'), (1, 2, 3, 1, NULL)",
    );
    database.run("CREATE TABLE empty (code TEXT NOT NULL UNIQUE, day DATE)");
    database.run("CREATE VIEW seen AS SELECT * FROM people");
    database.close();
    const all = await cli("tables", "infer", "shop.db");
    expect([all.code, JSON.parse(all.stdout)]).toEqual([
      0,
      {
        tables: {
          empty: withStamp({
            upsert_key: ["code"],
            columns: { code: { type: "text", nullable: false }, day: { type: "date" } },
          }),
          order_lines: {
            timestamp_column: "changed",
            upsert_key: ["o", "n"],
            columns: {
              o: { type: "integer", nullable: false },
              n: { type: "integer", nullable: false },
              price: { type: "numeric" },
              q: { type: "bigint" },
              changed: { type: "datetime" },
            },
          },
          people: withStamp({
            upsert_key: ["id"],
            columns: {
              id: { type: "integer", nullable: false },
              email: { type: "text", nullable: false },
              active: { type: "boolean" },
            },
          }),
        },
      },
    ]);
    expect(await tryOut("shop.db", "order_lines", [], "empty, order_lines, people")).toEqual([
      { o: 1, n: 1, price: "9.5", q: "9223372036854775807", changed: "2026-01-01T10:00:00Z" },
      { o: 1, n: 2, price: "3", q: "1", changed: null },
    ]);
    expect((await cli("import", "people", "shop.db", "--json")).json).toMatchObject({
      written: 2,
      warning_count: 0,
    });
    const lacking = await cli("import", "profiles", "shop.db");
    expect([lacking.code, lacking.stdout, lacking.stderr]).toEqual([
      ...[2, ""],
      'The SQLite file has no table "profiles"; it has empty, order lines, people\n',
    ]);
    const one = await cli("tables", "infer", "shop.db", "--table", "people");
    expect(Object.keys(JSON.parse(one.stdout).tables)).toEqual(["people"]);
    const none = await cli("tables", "infer", "shop.db", "--table", "nothing");
    expect([none.code, none.stdout, none.stderr]).toEqual([
      ...[2, ""],
      'The SQLite file has no table "nothing"; it has empty, order lines, people\n',
    ]);
  });

  test("D-10.2 a table without a key is told, exit code 1; others of the file are printed", async () => {
    file("nokey.csv", NO_KEY);
    file("tables.json", '{ "tables": {} }');
    const ended = await cli("tables", "infer", "nokey.csv", "--into", "tables.json");
    expect([ended.code, ended.stdout, read("tables.json")]).toEqual([1, "", '{ "tables": {} }']);
    expect(ended.stderr).toContain(
      "\nnokey: no column, and no two or three together, tell its rows apart",
    );
    const { json } = await cli("tables", "infer", "nokey.csv", "--json");
    expect(json.error).toStartWith("nokey: no column");

    const database = new Database(join(folder, "some.db"));
    database.run("CREATE TABLE log (text)");
    database.run("INSERT INTO log VALUES ('a'), ('a')");
    database.run("CREATE TABLE kept (id INTEGER PRIMARY KEY)");
    database.close();
    const some = await cli("tables", "infer", "some.db");
    expect([some.code, Object.keys(JSON.parse(some.stdout).tables)]).toEqual([1, ["kept"]]);
    expect(some.stderr).toContain("\nlog: no column");
  });

  test.each([
    ["empty.csv", "", 1, '"empty.csv": There are no records to guess from'],
    ["twice.csv", "a,a\n1,2\n", 1, '"twice.csv": Line 1 names the column "a" twice'],
    ["quote.csv", 'a,b\n1,"x\n', 1, '"quote.csv": Line 2: a quoted field does not end'],
    [
      "bytes.csv",
      Uint8Array.of(0x61, 0xff),
      1,
      '"bytes.csv" is not text in UTF-8: name its encoding, such as latin1 or utf-16',
    ],
    [
      "wide.csv",
      Buffer.from("id,v\n1,x\n", "utf16le"),
      1,
      '"wide.csv" is not text in UTF-8: name its encoding, such as latin1 or utf-16',
    ],
    [
      "wide.ndjson",
      Buffer.from('{"id":1}\n', "utf16le").swap16(),
      1,
      '"wide.ndjson" is not text in UTF-8: name its encoding, such as latin1 or utf-16',
    ],
    ["cut.json", '[{"a":1}', 1, '"cut.json": Line 1: the file ends inside the JSON array'],
    [
      "one.ndjson",
      "nothing\n",
      1,
      '"one.ndjson": There are no records to guess from: line 1 is not JSON',
    ],
    [
      "bad.db",
      "SQLite format 3\u0000and no more",
      1,
      '"bad.db": The SQLite file cannot be read: is it damaged or locked?',
    ],
    ["a.xml", "<a/>", 2, '"a.xml" has no known file extension\nGive --format json, ndjson or csv'],
    [
      "€.csv",
      "a\n1\n",
      2,
      '"€" cannot be the name of a table\nGive --table a name of letters, digits and underscores',
    ],
  ])("D-10.2, D-4.12 %s is told clearly", async (name, text, code, message) => {
    file(name, text);
    const ended = await cli("tables", "infer", name);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([code, "", `${message}\n`]);
  });

  test("D-10.2, D-4.12.3 a path that is no file, and a name that is no table's, are exit code 2", async () => {
    mkdirSync(join(folder, "folder.csv"));
    file("a.csv", "id\n1\n");
    for (const args of [
      ["nowhere.csv"],
      ["folder.csv"],
      ["/dev/null"],
      ["a.csv", "--table", "a b"],
      ["a.csv", "--table", "repsync_a"],
      ["a.csv", "--into", "folder.csv"],
    ]) {
      const ended = await cli("tables", "infer", ...args);
      expect([args, ended.code, ended.stdout]).toEqual([args, 2, ""]);
      expect(ended.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
    }
    symlinkSync("nowhere", join(folder, "link.json"));
    const led = await cli("tables", "infer", "a.csv", "--into", "link.json");
    expect([led.code, led.stderr.includes('"link.json" cannot be read')]).toEqual([1, true]);
    symlinkSync("round.csv", join(folder, "round.csv"));
    expect((await cli("tables", "infer", "round.csv")).stderr).toBe(
      '"round.csv" cannot be read: its links lead in a circle\n',
    );
  });
});

describe("repsync tables infer --into", () => {
  const COMMENTED = `// ours
{
  "tables": {
    "notes": { "upsert_key": ["k"], "columns": { "k": { "type": "text" } } } // kept
    // more to come
  }
}
`;

  test("D-10.2 adds the table and keeps the comments, through a link too", async () => {
    file("orders.csv", ORDERS);
    file("real.json", COMMENTED);
    symlinkSync("real.json", join(folder, "tables.json"));
    const { code, stdout } = await cli(
      "tables",
      "infer",
      "orders.csv",
      "--into",
      "tables.json",
      "--table",
      "sold",
    );
    expect([code, stdout]).toEqual([0, "tables.json: sold added\n"]);
    const [before = "", after = ""] = COMMENTED.split(" // kept\n    // more to come\n");
    const added = ORDERS_REGISTRY.split("\n").slice(2, -3).join("\n").replace('"orders"', '"sold"');
    expect(read("real.json")).toBe(`${before}, // kept\n    // more to come\n${added}\n${after}`);
    expect((await cli("tables", "check", "tables.json")).code).toBe(0);
    expect(readdirSync(folder).sort()).toEqual(["orders.csv", "real.json", "tables.json"]);
  });

  test("D-10.2 a table that is there already is an error, and nothing is written", async () => {
    file("notes.csv", "id,v\n1,2\n");
    file("tables.json", COMMENTED);
    for (const name of ["notes", "NOTES"]) {
      const ended = await cli(
        "tables",
        "infer",
        "notes.csv",
        "--table",
        name,
        "--into",
        "tables.json",
      );
      expect([ended.code, ended.stdout, read("tables.json")]).toEqual([2, "", COMMENTED]);
      expect(ended.stderr).toEndWith(
        `"tables.json" has the table ${name} already\nRemove it there, or give --table another name\n`,
      );
    }
  });

  test("D-10.2 several at once add all of their tables, also behind one that was killed", async () => {
    file("notes.csv", "id,v\n1,2\n");
    file("tables.json", COMMENTED);
    const killed = Bun.spawn(["true"]);
    await killed.exited;
    file("tables.json.lock", `${killed.pid}\n`);
    const names = ["a", "b", "c", "d"];
    const ended = await Promise.all(
      names.map((name) =>
        cli("tables", "infer", "notes.csv", "--table", name, "--into", "tables.json"),
      ),
    );
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const { json } = await cli("tables", "check", "tables.json", "--json");
    expect(json.tables.sort()).toEqual([...names, "notes", "platform_accounts", "profiles"]);
    expect(readdirSync(folder).sort()).toEqual(["notes.csv", "tables.json"]);
  });

  test("D-10.2 a registry with problems stays as it is, and one that is missing is made", async () => {
    file("notes.csv", "id,v\n1,2\n");
    file("tables.json", '{\n  "tables": { "a": {} },\n}');
    const ended = await cli("tables", "infer", "notes.csv", "--into", "tables.json");
    expect([ended.code, ended.stdout, read("tables.json")]).toEqual([
      2,
      "",
      '{\n  "tables": { "a": {} },\n}',
    ]);
    expect(ended.stderr).toContain("- line 3, column 1: a name in double quotes is expected\n");
    const { code, json } = await cli(
      "tables",
      "infer",
      "notes.csv",
      "--into",
      "new.json",
      "--json",
    );
    expect([code, json]).toEqual([0, { file: "new.json", tables: ["notes"] }]);
    expect(JSON.parse(read("new.json")).tables.notes.upsert_key).toEqual(["id"]);
  });
});
