// What an import tells of a file that people made, by the real command line.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { serviceEnv } from "../../e2e/support/service-process.ts";
import { onOneBackend } from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { runCli } from "../support/run-cli.ts";

setDefaultTimeout(120_000);

const GOODS: TableEntry = {
  upsert_key: ["sku"],
  timestamp_column: "updated_at",
  columns: {
    id: { type: "integer", auto_increment: true },
    sku: { type: "text" },
    price: { type: "numeric" },
    active: { type: "boolean" },
    listed_on: { type: "date" },
    updated_at: { type: "datetime" },
    extra: { type: "json" },
  },
};
const NO_BOOLEAN = "is none of true, 1, yes, on, y, t, false, 0, no, off, n, f";
const NO_TIME = "is not a time such as 2026-01-31T12:00:00Z, which the timestamp column needs";

/** A deployment with the table `goods`, and its folder. */
function makeDeployment(more: Readonly<Record<string, string>> = {}) {
  const folder = makeTempFolder();
  const env = { ...serviceEnv(folder, { goods: GOODS }), ...more };
  const cli = (args: readonly string[], input?: string | Uint8Array) =>
    runCli(args, { folder, env, ...(input === undefined ? {} : { input }) });
  const rows = async () => {
    const { stdout } = await cli(["export", "goods", "-", "--format", "ndjson"]);
    return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  };
  return { folder, env, cli, rows };
}

const CSV = ["import", "goods", "-", "--format", "csv"];
/** As a spreadsheet writes it: byte order mark, semicolons, CRLF, a line end in a field, names in capitals. */
const SHEET = [
  "\ufeffSKU;Price;ACTIVE;Listed_On;Updated_At;Colour;Extra",
  'a;1.50;Y;"2026-01-31 10:00";2026-01-31T10:00:00.1234567Z;red;"{""a"":',
  '1}"',
  "b;1,50;no;31.01.2026;2026-01-31;;hello",
  ";1;T;;;;",
  "c;1;maybe;;;;",
  "d;x;y;;01/03/2026;;",
  "e;;;;;;",
  "",
].join("\r\n");

onOneBackend("repsync import", (backend) => {
  test("D-10.3, D-14.7 --lax tells what could not be read by line and column, and writes it as it came", async () => {
    const { cli, rows } = makeDeployment({ STORAGE_URL: await backend.makeUrl() });
    const { code, json, stderr } = await cli(
      [...CSV, "--delimiter", ";", "--lax", "--json"],
      SHEET,
    );
    expect(code).toBe(3);
    const counts = {
      table: "goods",
      dry_run: false,
      read: 6,
      written: 3,
      failed: 3,
      last_line: 8,
      deleted: 0,
    };
    expect(json).toEqual({
      ...counts,
      ...{ new: 3, changed: 0, same: 0 },
      failures: [
        {
          ...{ line: 5, key: "sku=null", column: "sku", value: null },
          message: "sku is part of the key and must not be missing or null",
        },
        {
          line: 6,
          key: "sku=c",
          column: "active",
          value: "maybe",
          message: `active ${NO_BOOLEAN}`,
        },
        {
          line: 7,
          key: "sku=d",
          column: "updated_at",
          value: "01/03/2026",
          message: `updated_at ${NO_TIME}`,
        },
        {
          line: 7,
          key: "sku=d",
          column: "price",
          value: "x",
          message: "price is not a decimal number",
        },
      ],
      warnings: [
        {
          line: 1,
          column: "Colour",
          value: null,
          message: 'There is no column "Colour"; left out',
        },
        {
          ...{ line: 4, column: "price", value: "1,50" },
          message: "price is not a decimal number; written as it came",
        },
        {
          ...{ line: 4, column: "listed_on", value: "31.01.2026" },
          message: "listed_on is not a date such as 2026-01-31; written as it came",
        },
        {
          line: 4,
          column: "extra",
          value: "hello",
          message: "extra is not JSON; written as it came",
        },
      ],
      warning_count: 4,
    });
    expect(stderr).toContain(
      '\n  line 4: price is not a decimal number; written as it came: "1,50"\n',
    );
    expect(stderr).toContain(`\n  line 6: sku=c: active ${NO_BOOLEAN}: "maybe"\n`);
    expect(await rows()).toEqual([
      {
        ...{ sku: "a", price: "1.50", active: true, listed_on: "2026-01-31" },
        ...{ updated_at: "2026-01-31T10:00:00.123456Z", extra: { a: 1 } },
      },
      {
        ...{ sku: "b", price: "1,50", active: false, listed_on: "31.01.2026" },
        ...{ updated_at: "2026-01-31T00:00:00Z", extra: "hello" },
      },
      { sku: "e", price: null, active: null, listed_on: null, updated_at: null, extra: null },
    ]);
  });

  test("D-10.3 a file that ends damaged leaves whole batches and says how far it came", async () => {
    const { cli, rows } = makeDeployment({ STORAGE_URL: await backend.makeUrl() });
    const lines = Array.from({ length: 2_500 }, (_, i) => `{"sku":"${i}","price":"${i}"}`);
    const whole = `[\n${lines.join(",\n")}\n]\n`;
    const cut = whole.slice(0, whole.indexOf('"2400"'));
    const { code, json, stderr } = await cli(
      ["import", "goods", "-", "--format", "json", "--json"],
      cut,
    );
    expect([code, json.error]).toEqual([1, "Line 2402: the file ends inside the JSON array"]);
    expect(json).toMatchObject({ read: 2_400, written: 2_400, failed: 0, last_line: 2_401 });
    expect(stderr).toContain("2,400 rows written, up to line 2,401, before this failure");
    expect((await rows()).length).toBe(2_400);
  });
});

describe("repsync import", () => {
  test("D-14.7 a value that its column's type does not understand fails its record, --strict or not; an unknown column is a warning", async () => {
    const input = "sku,price,colour\na,1,red\nb,x,\nc,2,\n";
    for (const strict of [[], ["--strict"]]) {
      const { cli, rows } = makeDeployment();
      const odd = await cli([...CSV, ...strict], input);
      expect([odd.code, odd.stdout]).toEqual([3, "goods: 2 rows imported: 2 new\n"]);
      expect(odd.stderr.split("\n").slice(-6)).toEqual([
        "2 warnings:",
        '  line 1: There is no column "colour"; left out',
        "  line 1: Set to null, because the file does not have these columns: active, listed_on, updated_at, extra",
        "1 record failed:",
        '  line 3: sku=b: price is not a decimal number: "x"',
        "",
      ]);
      expect((await rows()).map(({ sku }) => sku)).toEqual(["a", "c"]);
    }
    const lax = await makeDeployment().cli([...CSV, "--lax"], input);
    expect([lax.code, lax.stdout]).toEqual([0, "goods: 3 rows imported: 3 new\n"]);
    expect(lax.stderr).toContain(
      '\n  line 3: price is not a decimal number; written as it came: "x"\n',
    );
  });

  test("D-14.7 new, changed and same rows are counted, in dry runs too", async () => {
    const { cli } = makeDeployment();
    const dry = [...CSV, "--dry-run"];
    const first = "sku,price\na,1\nb,2\na,3\n";
    const counts = { read: 3, written: 3, new: 2, changed: 1, same: 0 };
    expect((await cli([...dry, "--json"], first)).json).toMatchObject(counts);
    expect((await cli([...CSV, "--json"], first)).json).toMatchObject(counts);
    const second = "sku,price\na,3\nb,2.0\nc,4\nd,maybe\n";
    const later = { read: 4, written: 3, failed: 1, new: 1, changed: 1, same: 1 };
    expect((await cli([...dry, "--json"], second)).json).toMatchObject(later);
    expect((await cli([...dry], second)).stdout).toBe(
      "goods: 3 rows would be imported: 1 new, 1 changed, 1 same\n",
    );
    expect((await cli([...CSV, "--json"], second)).json).toMatchObject(later);
    expect((await cli(CSV, second)).stdout).toBe("goods: 3 rows imported: 3 same\n");
  });

  test("D-10.3 objects are checked as lines of a CSV file are, an unknown field once for the file", async () => {
    const { cli, rows } = makeDeployment();
    const input = [
      '{"SKU":"a","Price":"1","Active":"ON","id":9}',
      '{"sku":"","price":"1"}',
      '{"sku":"b","price":1.10,"q":1,"updated_at":5}',
      '{"sku":"c","extra":"hello","q":{"aB":1},"listed_on":7,"SKU":"d"}',
      '{"sku":"e","active":2}',
    ].join("\n");
    const { code, json } = await cli(
      ["import", "goods", "-", "--format", "ndjson", "--lax", "--json"],
      input,
    );
    expect([code, json.written, json.failed, json.warning_count]).toEqual([3, 2, 3, 3]);
    expect(json.failures.map((f: { line: number; column: string }) => [f.line, f.column])).toEqual([
      [2, "sku"],
      [3, "updated_at"],
      [5, "active"],
    ]);
    expect(json.warnings).toEqual([
      { line: 3, column: "q", value: null, message: 'There is no column "q"; left out' },
      { line: 4, column: "SKU", value: null, message: 'There is no column "SKU"; left out' },
      {
        ...{ line: 4, column: "listed_on", value: 7 },
        message: "listed_on is not a date such as 2026-01-31; written as it came",
      },
    ]);
    expect((await rows()).map(({ sku, active, extra }) => [sku, active, extra])).toEqual([
      ["a", true, null],
      ["c", null, "hello"],
    ]);
  });

  test("D-10.3, D-11.3 each problem is one line, whatever stands in the file", async () => {
    const { cli } = makeDeployment();
    const input = 'sku,active\n"a\n\u001b[31m\u009b",may\u007fbe\n';
    const { stderr } = await cli(CSV, input);
    expect(stderr.split("\n").slice(-3)).toEqual([
      "1 record failed:",
      `  line 2: sku=a\\u{a}\\u{1b}[31m\\u{9b}: active ${NO_BOOLEAN}: "may\\u{7f}be"`,
      "",
    ]);
  });

  test("D-10.3 the first 1,000 warnings and failures are told, and all are counted", async () => {
    const { cli } = makeDeployment();
    const lines = Array.from({ length: 1_500 }, (_, i) => `w${i},x,,,,\nf${i},1,maybe,,,`);
    const input = `sku,price,active,listed_on,updated_at,extra\n${lines.join("\n")}\n`;
    const { code, json, stderr } = await cli([...CSV, "--lax", "--json"], input);
    expect([code, json.written, json.failed, json.warning_count]).toEqual([3, 1_500, 1_500, 1_500]);
    expect([json.warnings.length, json.failures.length]).toEqual([1_000, 1_000]);
    expect(json.warnings[999]).toMatchObject({ line: 2_000, column: "price", value: "x" });
    expect(json.failures[999]).toMatchObject({ line: 2_001, column: "active", value: "maybe" });
    expect(stderr).toStartWith("1,500 warnings:\n");
    expect(stderr.match(/^ {2}and 500 more$/gm)?.length).toBe(2);
  });

  test("D-14.7 a dry run takes a table that the store does not have yet for an empty one", async () => {
    const { folder, cli } = makeDeployment();
    expect((await cli(["import", "goods", "-", "--format", "csv"], "sku\na\n")).code).toBe(0);
    const more = { goods: GOODS, later: { upsert_key: ["k"], columns: { k: { type: "text" } } } };
    const env = serviceEnv(folder, more);
    const args = ["import", "later", "-", "--format", "csv", "--dry-run"];
    const { stdout } = await runCli(args, { folder, env, input: "k\na\n" });
    expect(stdout).toBe("later: 1 row would be imported: 1 new\n");
  });

  test("D-10.3 --dry-run reads and tells the same, and makes neither row nor store", async () => {
    const { folder, cli } = makeDeployment();
    const before = readdirSync(folder).sort();
    const args = [...CSV, "--delimiter", ";", "--dry-run", "--lax"];
    const dry = await cli([...args, "--json"], SHEET);
    expect([dry.code, dry.json.dry_run, dry.json.written, dry.json.failed]).toEqual([
      3,
      true,
      3,
      3,
    ]);
    expect(dry.json.warning_count).toBe(4);
    expect((await cli(args, SHEET)).stdout).toBe("goods: 3 rows would be imported: 3 new\n");
    expect((await cli(args.slice(0, -1), SHEET)).stdout).toBe(
      "goods: 2 rows would be imported: 2 new\n",
    );
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  test("D-10.3 semicolons without --delimiter are recognized, and any one character will do", async () => {
    const { cli } = makeDeployment();
    const wrong = await cli(CSV, SHEET);
    expect([wrong.code, wrong.stdout]).toEqual([1, ""]);
    expect(wrong.stderr).toBe(
      'Line 1 must name the columns of the file; it lacks the key of "goods": "sku"\n' +
        'Name the delimiter ";", which seems to separate the fields of the file\n',
    );
    for (const [name, character] of [
      ["tab", "\t"],
      ["\\t", "\t"],
      ["|", "|"],
      ["·", "·"],
    ] as const) {
      const input = `sku${character}price\na${character}1,5\n`;
      const ended = await cli([...CSV, "--delimiter", name, "--strict", "--json"], input);
      expect(ended.json).toMatchObject({ read: 1, failures: [{ column: "price", value: "1,5" }] });
    }
  });

  test.each([
    [[...CSV, "--delimiter", ";;"], "It must be one character"],
    [[...CSV, "--delimiter", ""], "It must be one character"],
    [[...CSV, "--delimiter", '"'], "It must be one character"],
    [
      ["import", "goods", "-", "--format", "ndjson", "--delimiter", ";"],
      "--delimiter is for CSV files",
    ],
  ])("D-10.3 %p is a wrong command line, exit code 2", async (args, message) => {
    const { folder, cli } = makeDeployment();
    const ended = await cli(args, "sku\na\n");
    expect([ended.code, ended.stdout]).toEqual([2, ""]);
    expect(ended.stderr).toContain(message);
    expect(existsSync(join(folder, "data"))).toBe(false);
  });

  test("D-10.3 a compressed file that is cut keeps what came before, and says how far it came", async () => {
    const { folder, cli, rows } = makeDeployment();
    const text = Array.from(
      { length: 20_000 },
      (_, i) => `{"sku":"${i}","price":"${(i * 7919) % 10007}"}\n`,
    );
    const packed = gzipSync(text.join(""));
    writeFileSync(join(folder, "cut.ndjson.gz"), packed.subarray(0, packed.length - 2_000));
    const { code, json } = await cli(["import", "goods", "cut.ndjson.gz", "--json"]);
    expect([code, json.error]).toEqual([
      1,
      '"cut.ndjson.gz" cannot be read further: its gzip data is cut short',
    ]);
    expect(json.last_line).toBe(json.written);
    expect(json.written).toBeGreaterThan(1_000);
    expect((await rows()).length).toBe(json.written);
  });
});
