// Every example of docs/sync.md is a registry that the service takes, and every entry of the schema is explained.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readRegistry } from "../../src/domain/sync/table/registry.ts";
import { REGISTRY_SCHEMA, TABLE_SCHEMA } from "../../src/domain/sync/table/registry-schema.ts";

const TEXT = readFileSync(new URL("../../docs/sync.md", import.meta.url), "utf8");
const EXAMPLES = [...TEXT.matchAll(/```json\n([^`]+)```/g)].map(([, json = ""]) =>
  JSON.parse(json),
);

test.each(EXAMPLES.map((example, i) => [i + 1, example] as const))(
  "D-2.1 example %d of docs/sync.md is taken",
  (_, example) => {
    const file = "tables" in example ? example : { tables: { example } };
    expect([...readRegistry(file).keys()]).toContain("tables" in example ? "listings" : "example");
  },
);

test("D-2.1 docs/sync.md explains every entry of a table and of a column", () => {
  const columns = TABLE_SCHEMA.properties.columns.patternProperties;
  const [column] = Object.values(columns);
  const entries = [
    ...Object.keys(TABLE_SCHEMA.properties),
    ...Object.keys(column?.properties ?? {}),
  ];
  expect(entries.length).toBeGreaterThan(10);
  expect(
    entries.filter((name) => !TEXT.includes(`| \`${name}\``) && !TEXT.includes(`\`${name}\`,`)),
  ).toEqual([]);
  expect(REGISTRY_SCHEMA.properties.tables).toBeDefined();
});
