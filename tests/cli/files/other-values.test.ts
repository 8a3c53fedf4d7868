// Values of other programs in a SQLite store, through CSV files into another one.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { runCli } from "../support/run-cli.ts";

const TABLES = {
  odd: {
    upsert_key: ["k"],
    columns: {
      ...{ k: { type: "integer" }, b: { type: "boolean" }, n: { type: "numeric" } },
      ...{ bi: { type: "bigint" }, i: { type: "integer" }, r: { type: "real" } },
      ...{ t: { type: "datetime" }, d: { type: "date" } },
    },
  },
};
const VALUES = [
  ["yes", "1e21", "1e3", "x", "Infinity", "2026-01-31T10:00:00+01", "31.01.2026"],
  ["TRUE", "1.", "007", " 5", "-Infinity", "soon", "2026-1-1"],
  ["", "+1", "+5", "", "soon", "", ""],
  [null, null, null, null, null, null, null],
];

function newStore(): string {
  const folder = makeTempFolder();
  writeFileSync(join(folder, ".env"), "STORAGE_URL=sqlite:./store.db\nSYNC_TABLES=tables.json\n");
  writeFileSync(join(folder, "tables.json"), JSON.stringify({ tables: TABLES }));
  writeFileSync(join(folder, "first.csv"), "k\n1\n2\n3\n4\n");
  return folder;
}

function kindsOf(folder: string): unknown {
  const store = new Database(join(folder, "store.db"));
  const rows = store.query<{ kind: string }, []>("SELECT typeof(r) AS kind FROM odd ORDER BY k");
  const kinds = rows.all().map(({ kind }) => kind);
  store.close();
  return kinds;
}

test("D-14.7 what is not of its column's type comes back as it was, byte by byte", async () => {
  const from = newStore();
  expect((await runCli(["import", "odd", "first.csv"], { folder: from })).code).toBe(0);
  const store = new Database(join(from, "store.db"));
  for (const [at, values] of VALUES.entries()) {
    const bound = values.map((value) => (/^-?Inf/.test(value ?? "") ? Number(value) : value));
    store.run("UPDATE odd SET b = ?, n = ?, bi = ?, i = ?, r = ?, t = ?, d = ? WHERE k = ?", [
      ...bound,
      at + 1,
    ]);
  }
  store.close();
  expect((await runCli(["export", "odd", "out.csv"], { folder: from })).code).toBe(0);
  const text = readFileSync(join(from, "out.csv"), "utf8");
  const to = newStore();
  writeFileSync(join(to, "in.csv"), text);
  const imported = await runCli(["import", "odd", "in.csv"], { folder: to });
  expect([imported.code, imported.stderr]).toEqual([0, ""]);
  expect((await runCli(["export", "odd", "-", "--format", "csv"], { folder: to })).stdout).toBe(
    text,
  );
  expect(kindsOf(to)).toEqual(["real", "real", "blob", "null"]);
  const rows = await Promise.all(
    [from, to].map((folder) => runCli(["export", "odd", "-", "--format", "ndjson"], { folder })),
  );
  expect(rows[1]?.stdout).toBe(rows[0]?.stdout ?? "");
  expect(rows[0]?.stdout).toContain('"r":"-Infinity"');
});

test("D-14.7 a text of a SQLite file is read for a column of JSON, and is a text there where it is none", async () => {
  const folder = makeTempFolder();
  const file = new Database(join(folder, "theirs.db"));
  file.run("CREATE TABLE things (k TEXT PRIMARY KEY, Extra TEXT, body TEXT)");
  file.run(`INSERT INTO things VALUES ('a', '{"x":[1,12345678901234567890]}', '{"x":1}'),
    ('b', '"in quotes"', '1'), ('c', 'no JSON', NULL), ('d', NULL, NULL)`);
  file.close();
  const columns = { k: { type: "text" }, extra: { type: "json" }, body: { type: "text" } };
  const things = { upsert_key: ["k"], columns };
  writeFileSync(join(folder, ".env"), "STORAGE_URL=sqlite:./store.db\nSYNC_TABLES=tables.json\n");
  writeFileSync(join(folder, "tables.json"), JSON.stringify({ tables: { things } }));
  expect((await runCli(["import", "things", "theirs.db"], { folder })).code).toBe(0);
  const out = await runCli(["export", "things", "-", "--format", "ndjson"], { folder });
  expect(out.stdout.trim().split("\n")).toEqual([
    '{"k":"a","extra":{"x":[1,12345678901234567890]},"body":"{\\"x\\":1}"}',
    '{"k":"b","extra":"in quotes","body":"1"}',
    '{"k":"c","extra":"no JSON","body":null}',
    '{"k":"d","extra":null,"body":null}',
  ]);
});

test("D-14.7 of a file that is a store of repsync they come as they were, too", async () => {
  const [from, to] = [newStore(), newStore()];
  const rows = ['{"k":1,"i":1.5,"r":"much","t":5}', '{"k":2,"bi":true,"n":true,"d":"soon"}'];
  const odd = ["import", "odd", "-", "--format", "ndjson", "--lax"];
  const written = await runCli(odd, { folder: from, input: rows.join("\n") });
  expect([written.code, written.stderr]).toMatchObject([0, expect.stringContaining("6 warnings")]);
  const copied = await runCli(["import", "--all", join(from, "store.db"), "--lax"], { folder: to });
  expect(copied.code).toBe(0);
  const [there, here] = await Promise.all(
    [from, to].map((folder) => runCli(["export", "odd", "-", "--format", "ndjson"], { folder })),
  );
  expect(there?.stdout).toContain('"i":1.5,"r":"much","t":5');
  expect(here?.stdout).toBe(there?.stdout ?? "");
});

test.each(["utf-16", "utf-16le", "utf-16be"] as const)(
  "D-14.1, D-14.7 a table whose files are in %s is written so, with the mark that readers know it by",
  async (encoding) => {
    const folder = newStore();
    const entry = { upsert_key: ["k"], import: { encoding }, columns: { k: { type: "text" } } };
    writeFileSync(join(folder, "tables.json"), JSON.stringify({ tables: { words: entry } }));
    const text = "\ufeffk\nłß\n😀\n";
    const bytes = Buffer.from(text, "utf16le");
    writeFileSync(join(folder, "in.csv"), encoding === "utf-16be" ? bytes.swap16() : bytes);
    expect((await runCli(["import", "words", "in.csv"], { folder })).code).toBe(0);
    expect((await runCli(["export", "words", "out.csv"], { folder })).code).toBe(0);
    const written = readFileSync(join(folder, "out.csv"));
    expect(written.equals(readFileSync(join(folder, "in.csv")))).toBe(true);
  },
);

test("D-4.12.6 an import tells rows that the store refuses by their lines, and that it numbers rows itself", async () => {
  const folder = newStore();
  const store = new Database(join(folder, "store.db"));
  store.run(
    "CREATE TABLE stock (id INTEGER PRIMARY KEY AUTOINCREMENT, sku TEXT NOT NULL UNIQUE, qty INTEGER CHECK (qty >= 0))",
  );
  store.close();
  const columns = {
    ...{ id: { type: "integer", auto_increment: true }, sku: { type: "text" } },
    qty: { type: "integer" },
  };
  const entry = { upsert_key: ["sku"], columns };
  writeFileSync(join(folder, "tables.json"), JSON.stringify({ tables: { stock: entry } }));
  writeFileSync(join(folder, "stock.csv"), "id,sku,qty\n7,a,1\n8,b,-1\n9,c,2\n");
  const imported = await runCli(["import", "stock", "stock.csv"], { folder });
  expect([imported.code, imported.stdout]).toEqual([3, "stock: 2 rows imported: 2 new\n"]);
  expect(imported.stderr.split("\n")).toEqual([
    "1 warning:",
    "  line 1: Left out, because the store numbers rows itself: id",
    "1 record failed:",
    "  line 3: sku=b: the record breaks a rule that the table has in the database",
    "",
  ]);
});
