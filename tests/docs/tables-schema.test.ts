// The published schema of the registry file is the one that the service reads it by.
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";
import { readRegistry } from "../../src/domain/sync/table/registry.ts";
import { REGISTRY_SCHEMA } from "../../src/domain/sync/table/registry-schema.ts";
import { refused } from "../support/failures.ts";
import { LISTINGS } from "../support/rows/make-table.ts";

const FILE = new URL("../../docs/tables.schema.json", import.meta.url);
const CURRENT = JSON.stringify(REGISTRY_SCHEMA, null, 2);

/** `UPDATE_DOCS=1 bun test tests/docs` writes the file; the formatter then has its way with it. */
if (process.env.UPDATE_DOCS === "1") writeFileSync(FILE, `${CURRENT}\n`);

const K = { k: { type: "text" } };
const table = (change: object) => ({
  tables: { items: { upsert_key: ["k"], columns: K, ...change } },
});
const column = (change: object) => table({ columns: { k: { type: "text", ...change } } });

const VALID: readonly object[] = [
  { tables: {} },
  { $schema: "./tables.schema.json", tables: {} },
  { tables: { listings: LISTINGS } },
  { tables: { [`_${"x".repeat(62)}`]: { upsert_key: ["k"], columns: K } } },
  table({ timestamp_column: null }),
  table({ update_columns: [] }),
  table({ update_columns: "__all__" }),
  table({ update_columns: ["__all__"] }),
  table({ conflict: "overwrite", lag_seconds: 0.5 }),
  column({ nullable: true, max_length: 1, serialize: true, auto_increment: false }),
  ...["integer", "bigint", "boolean", "datetime", "date"].map((type) => column({ type })),
];

const INVALID: readonly unknown[] = [
  null,
  [],
  "tables",
  {},
  { tables: null },
  { tables: [] },
  { tables: {}, version: 1 },
  { $schema: 1, tables: {} },
  { tables: { items: null } },
  { tables: { items: {} } },
  { tables: { "9": { upsert_key: ["k"], columns: K } } },
  { tables: { "a-b": { upsert_key: ["k"], columns: K } } },
  { tables: { "": { upsert_key: ["k"], columns: K } } },
  { tables: { ["x".repeat(64)]: { upsert_key: ["k"], columns: K } } },
  table({ upsert_key: [] }),
  table({ upsert_key: "k" }),
  table({ upsert_key: ["k", "k"] }),
  table({ upsert_key: ["k k"] }),
  table({ timestamp_column: 1 }),
  table({ timestamp_column: "" }),
  table({ update_columns: "all" }),
  table({ update_columns: [1] }),
  table({ update_columns: ["k", "k"] }),
  table({ update_columns: null }),
  table({ conflict: "older" }),
  table({ lag_seconds: -1 }),
  table({ lag_seconds: "60" }),
  table({ columns: {} }),
  table({ columns: [] }),
  table({ columns: { ...K, "1": { type: "text" } } }),
  table({ columns: { ...K, c: "text" } }),
  table({ unknown: 1 }),
  column({ type: "string" }),
  column({ type: undefined }),
  column({ nullable: null }),
  column({ max_length: 0 }),
  column({ max_length: 1.5 }),
  column({ serialize: "no" }),
  column({ auto_increment: 1 }),
  column({ default: "x" }),
];

describe("docs/tables.schema.json", () => {
  const validate = new Ajv2020({ strict: true, allErrors: true }).compile(JSON.parse(CURRENT));

  test("D-2.1 the published schema is the one in use; UPDATE_DOCS=1 writes it anew", () => {
    expect(JSON.parse(readFileSync(FILE, "utf8"))).toEqual(JSON.parse(CURRENT));
  });

  test("D-2.1 the schema is valid JSON Schema 2020-12 and names it", () => {
    expect(JSON.parse(CURRENT).$schema).toBe("https://json-schema.org/draft/2020-12/schema");
    expect(new Ajv2020({ strict: true }).validateSchema(JSON.parse(CURRENT))).toBe(true);
  });

  test.each(VALID.map((file) => JSON.stringify(file)))(
    "D-2.1 schema and service both take %s",
    (text) => {
      expect(validate(JSON.parse(text))).toBe(true);
      expect(refused(() => readRegistry(JSON.parse(text)))).toEqual([]);
    },
  );

  test.each(INVALID.map((file) => JSON.stringify(file)))(
    "D-2.1 schema and service both refuse %s",
    (text) => {
      expect(validate(JSON.parse(text))).toBe(false);
      const problems = refused(() => readRegistry(JSON.parse(text)));
      expect(problems).not.toEqual([]);
      for (const problem of problems) expect(problem).toMatch(/^(the registry|\/)/);
    },
  );
});
