// What a deployment holds, as every store tells it.
import { rawNumber } from "../../../src/domain/shared/json.ts";
import {
  type Dump,
  type DumpedPart,
  type DumpedStore,
  type DumpedTable,
  tableOf,
} from "../../../src/ports/copies/store-dump.ts";
import { heldRows } from "../held-values.ts";

const SAMPLE_COLUMNS = {
  name: { type: "text" },
  a_text: { type: "text" },
  an_integer: { type: "integer" },
  a_bigint: { type: "bigint" },
  a_numeric: { type: "numeric" },
  a_real: { type: "real" },
  a_boolean: { type: "boolean" },
  a_datetime: { type: "datetime" },
  a_date: { type: "date" },
  a_json: { type: "json" },
} as const;

const NUMBERED: DumpedTable["entry"] = {
  upsert_key: ["sku"],
  timestamp_column: null,
  columns: { id: { type: "integer", auto_increment: true }, sku: { type: "text" } },
};

/** A row of samples in which all but these are null. */
function sample(name: string, values: Readonly<Record<string, unknown>>) {
  const nulls = Object.keys(SAMPLE_COLUMNS).map((column) => [column, null]);
  return { row: { ...Object.fromEntries(nulls), name, ...values } };
}

export const ABOUT: DumpedStore = {
  store: "memory",
  deploymentId: "5f1e",
  tables: [
    { name: "listings", entry: NUMBERED, isForeign: false, lastNumber: 7, deletes: null },
    {
      name: "samples",
      entry: { upsert_key: ["name"], timestamp_column: null, columns: SAMPLE_COLUMNS },
      isForeign: false,
      lastNumber: 0,
      deletes: null,
    },
    {
      name: "versions",
      entry: {
        upsert_key: ["n", "name"],
        timestamp_column: "at",
        columns: { name: { type: "text" }, n: { type: "bigint" }, at: { type: "datetime" } },
      },
      isForeign: false,
      lastNumber: 0,
      deletes: { list: "5ca1ab1e", lastPlace: 9, completeSince: "2024-01-01T00:00:00.500Z" },
    },
    { name: "without_rows", entry: NUMBERED, isForeign: false, lastNumber: 0, deletes: null },
  ],
  items: 18,
};

export const PARTS: readonly DumpedPart[] = [
  {
    of: "documents",
    name: "traffic",
    items: [
      { unit: "hour", atMs: 3_600_000, rows: 5, lookups: 0 },
      { unit: "minute", atMs: 3_600_000, rows: 2, lookups: 0 },
      { unit: "minute", atMs: 3_660_000, rows: 3, lookups: 0 },
    ],
  },
  {
    of: "documents",
    name: "run_news",
    items: [{ id: "a", part: 0, text: `é😀 "\n ${"x".repeat(2_000)}` }],
  },
  {
    of: "rows",
    name: "listings",
    items: [{ row: { id: 2, sku: "two" } }, { row: { id: 7, sku: "seven" } }],
  },
  {
    of: "rows",
    name: "samples",
    items: [
      sample("all", { a_text: "Ünï \u{1f600} nul \0 in it", a_numeric: "1.50", a_boolean: false }),
      sample("big", { an_integer: rawNumber("9007199254740993"), a_bigint: "9223372036854775807" }),
      sample("json", { a_json: { b: [1, null, rawNumber("1.50"), { $c: "$d" }] } }),
      sample("null", { a_json: null }),
      sample("odd", { an_integer: "no number", a_boolean: "maybe", a_datetime: "soon" }),
      sample("times", { a_datetime: "2024-05-01T10:00:00.123456Z", a_date: "2024-05-01" }),
      sample("zero", { a_real: rawNumber("-0"), an_integer: 0 }),
    ],
  },
  {
    of: "rows",
    name: "versions",
    items: [
      { row: { name: "a", n: "1", at: "2024-01-02T00:00:00Z" } },
      { row: { name: "b", n: "-9223372036854775807", at: null } },
      { row: { name: "c", n: "2", at: "no time" } },
    ],
  },
  {
    of: "tombstones",
    name: "versions",
    items: [
      {
        place: 4,
        key: { n: "3", name: "gone" },
        deletedAt: "2024-01-03T00:00:00.123456Z",
        takenAtMs: 1_704_240_000_123,
      },
      {
        place: 9,
        key: { n: "4", name: "gone" },
        deletedAt: "2024-01-04T00:00:00Z",
        takenAtMs: 1_704_326_400_000,
      },
    ],
  },
];

export function dumpedDeployment(about = ABOUT, parts = PARTS): Dump {
  return {
    about,
    parts: (async function* () {
      yield* parts;
    })(),
    close: async () => {},
  };
}

/** The parts as a store holds them. */
export function heldParts(holds: "own types" | undefined): readonly DumpedPart[] {
  if (holds === undefined) return PARTS;
  const options = { holds, isShared: true, randomRuns: 1 } as const;
  return PARTS.map((part) => {
    const about = ABOUT.tables.find(({ name }) => name === part.name);
    if (part.of !== "rows" || about === undefined) return part;
    const rows = part.items.map(({ row }) => row);
    return { ...part, items: heldRows({ options }, tableOf(about), rows).map((row) => ({ row })) };
  });
}

/** What a dump holds: parts of one sort and name together, without empty ones and what only the store knows of rows. */
export async function contentOf({ about, parts }: Dump) {
  const contents = new Map<string, unknown[]>();
  for await (const { of, name, items } of parts) {
    const label = `${of} ${name}`;
    const shown = items.map((item) => ("row" in item ? { row: item.row } : item));
    contents.set(label, [...(contents.get(label) ?? []), ...shown]);
  }
  const texts = [...contents].map(([label, items]) => {
    const sorted = label.startsWith("rows")
      ? items.map((item) => JSON.stringify(item)).sort()
      : items;
    return [label, sorted];
  });
  const { tables, deploymentId } = about;
  return { tables, deploymentId, ...Object.fromEntries(texts) };
}
