// The text of a registry file: comments, places of problems, and tables that are added. D-10.2.
import { describe, expect, test } from "bun:test";
import { readConfig } from "../../../src/app/config.ts";
import {
  problemText,
  readRegistryFile,
  registryText,
  withEntry,
  withTables,
} from "../../../src/app/registry-text.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { refused } from "../../support/failures.ts";

const ITEMS: TableEntry = { upsert_key: ["k"], columns: { k: { type: "text" } } };
const SITES: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["site"],
  columns: { site: { type: "text", nullable: false }, at: { type: "datetime" } },
};

const COMMENTED = `// Our tables.
{
  "$schema": "https://example.com//tables.schema.json", // where editors look
  "tables": {
    /* the first
       of them */
    "items": {
      "upsert_key": ["k"], // "k" alone
      "columns": { "k": { "type": "text" } }
    }
    // no more
  }
}
`;

function problemsOf(text: string): readonly string[] {
  return readRegistryFile(text).problems.map(problemText);
}

describe("readRegistryFile()", () => {
  test("D-10.2 a registry file may hold comments; two slashes in a text are none", () => {
    const { registry, problems } = readRegistryFile(COMMENTED);
    expect(problems).toEqual([]);
    expect([...(registry?.keys() ?? [])]).toEqual(["profiles", "platform_accounts", "items"]);
    const named = `{"tables": {"items": {"upsert_key": ["k"], "columns": {"k": {"type": "te//xt"}}}}}`;
    expect(problemsOf(named)).toEqual([
      "line 1, column 70: /tables/items/columns/k/type: must be one of text, integer, bigint, numeric, real, boolean, datetime, date, json",
    ]);
  });

  test.each(["\n", "\r\n", "\r"])("D-10.2 every problem has its line and column: %j", (lineEnd) => {
    const text = [
      "\uFEFF// one // two",
      '{"tables": {',
      '  "a": {"upsert_key": ["x", /* a, b */ "y"],',
      '    "columns": {"k": {"type": "txet"}, "_id": {"type": "text", "len": 3}}},',
      '  "b": {"upsert_key": ["k", "z"], "timestamp_column": "k",',
      '    "columns": {"k": {"type": "text"}, "K": {"type": "text"}}},',
      '  "repsync_c": {"upsert_key": ["k"], "columns": {"k": {"type": "text"}}},',
      '  "d": {"upsert_key": ["k"]}',
      "}}",
    ].join(lineEnd);
    expect(problemsOf(text)).toEqual([
      'line 3, column 24: Table "a": upsert_key names the unknown column "x"',
      'line 3, column 40: Table "a": upsert_key names the unknown column "y"',
      expect.stringMatching(/^line 4, column 31: \/tables\/a\/columns\/k\/type: must be one of /),
      'line 4, column 40: Table "a": column name "_id" is reserved',
      expect.stringMatching(/^line 4, column 71: \/tables\/a\/columns\/_id\/len: unknown entry/),
      'line 5, column 29: Table "b": upsert_key names the unknown column "z"',
      'line 5, column 55: Table "b": timestamp_column "k" must be a column of type datetime or date',
      'line 6, column 40: Table "b": columns "k" and "K" differ only in case',
      'line 7, column 3: Table "repsync_c": this name is reserved, as are all that start with repsync_ or sqlite_',
      "line 8, column 3: /tables/d/columns: expected required property",
    ]);
  });

  test("D-10.2 what is no JSON is told with its place, together with what else is wrong", () => {
    expect(problemsOf("")).toEqual(["line 1, column 1: a value is expected"]);
    expect(problemsOf("{tables}")).toEqual(["line 1, column 2: this is no JSON"]);
    expect(problemsOf('{"tables": {}} more')).toEqual(["line 1, column 16: this is no JSON"]);
    expect(problemsOf('{"tables": {}}\n/* open')).toEqual([
      "line 2, column 1: the comment does not end",
    ]);
    const text = `{"tables": {
      "a": {"upsert_key": ["k"], "columns": {"k": {"type": "text"},}},
      "b": {"upsert_key": ["k"] "columns": {"k": {"type": "real"}}}
    }}`;
    expect(problemsOf(text)).toEqual([
      "line 2, column 68: a name in double quotes is expected",
      'line 3, column 28: Table "b": upsert_key column "k" cannot be of type real',
      "line 3, column 33: a comma is expected",
    ]);
    expect(problemsOf(`{"tables": ${"[".repeat(200_000)}`)).toEqual([
      "line 1, column 1: it is nested too deeply",
    ]);
  });

  test("D-10.2 a name that stands twice is a problem: only one of them would count", () => {
    const text = `{"tables": {
      "a": {"upsert_key": ["k"], "columns": {"k": {"type": "text"}, "k": {"type": "date"}}},
      "a": {"upsert_key": ["k"], "columns": {"k": {"type": "text"}}}
    }}`;
    expect(problemsOf(text)).toEqual([
      'line 2, column 69: The name "k" stands here a second time',
      'line 3, column 7: The name "a" stands here a second time',
    ]);
  });

  test("D-10.2, D-1.3.6 a start tells the places, too", () => {
    const read = (text: string) => readConfig({ SYNC_TABLES: "tables.json" }, () => text);
    expect(refused(() => read('// a\n{"tables": {"a": {}}}'))).toEqual([
      "SYNC_TABLES: line 2, column 13: /tables/a/upsert_key: expected required property",
      "SYNC_TABLES: line 2, column 13: /tables/a/columns: expected required property",
    ]);
    expect(refused(() => read('{"tables":\n,}'))).toEqual([
      'SYNC_TABLES: the file "tables.json" is not JSON: line 2, column 1: a value is expected',
    ]);
    expect([...read(COMMENTED).registry.keys()]).toContain("items");
  });
});

describe("withTables()", () => {
  const SITES_TEXT = `    "sites": {
      "timestamp_column": "at",
      "upsert_key": ["site"],
      "columns": {
        "site": { "type": "text", "nullable": false },
        "at": { "type": "datetime" }
      }
    }`;

  test("D-10.2 adds tables behind the others, and leaves all else as it is", () => {
    const [before = "", after = ""] = COMMENTED.split("\n    }\n    // no more\n");
    expect(withTables(COMMENTED, { sites: SITES })).toBe(
      `${before}\n    },\n    // no more\n${SITES_TEXT}\n${after}`,
    );
  });

  test.each([
    ["{}", `{\n${SITES_TEXT}\n  }`],
    ["{ // none yet\n  }", `{ // none yet\n${SITES_TEXT}\n  }`],
    ["{\n    // none yet\n  }", `{\n    // none yet\n${SITES_TEXT}\n  }`],
    ["{ /* } */ }", `{ /* } */ \n${SITES_TEXT}\n  }`],
  ])("D-10.2 takes %j without tables", (tables, expected) => {
    const around = (text: string) => `{\n  "tables": ${text}\n}\n`;
    expect(withTables(around(tables), { sites: SITES })).toBe(around(expected));
  });

  test("D-10.2 keeps the line ends and the mark of byte order, and is read again", () => {
    const text = `\uFEFF${COMMENTED.replaceAll("\n", "\r\n")}`;
    const added = withTables(text, { sites: SITES, more: ITEMS });
    expect(added).toStartWith("\uFEFF// Our tables.\r\n{");
    expect(added.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
    expect([...(readRegistryFile(added).registry?.keys() ?? [])]).toEqual([
      ...["profiles", "platform_accounts", "items", "sites", "more"],
    ]);
  });

  test("D-14.1 another entry of a table keeps comments, line ends and the mark of byte order", () => {
    const text = `\uFEFF// Ours.\r\n${registryText({ sites: SITES }).replaceAll("\n", "\r\n")}`;
    expect(withEntry(text, "sites", SITES)).toBe(text);
    expect(withEntry(text, "sites", { ...SITES, lag_seconds: 5 })).toBe(
      text.replace("\r\n      }\r\n    }", '\r\n      },\r\n      "lag_seconds": 5\r\n    }'),
    );
  });

  test("D-10.2 registryText() is a whole file without comments", () => {
    const text = registryText({ sites: SITES });
    expect(text).toBe(`{\n  "tables": {\n${SITES_TEXT}\n  }\n}\n`);
    expect(JSON.parse(text)).toEqual({ tables: { sites: SITES } });
  });
});
