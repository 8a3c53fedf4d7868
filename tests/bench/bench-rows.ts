// The tables that are measured: one of ten columns of mixed types, about 240 bytes of JSON a row, and one whose rows have a
// size that is asked for.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { GZIP_LEVEL } from "../../src/domain/shared/limits.ts";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";

/** A push, ready to be sent. */
export interface PushedRows {
  readonly rows: number;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly checksum: string;
}

/** A table to measure, and its rows. */
export interface Shape {
  readonly table: string;
  /** Rows of consecutive places; versions differ in all but the key. */
  makeRows(first: number, count: number, version?: number): readonly object[];
}

/** Name of the measured table. */
export const TABLE_NAME = "bench_rows";

/** Its registry entry. */
export const TABLE_ENTRY: TableEntry = {
  timestamp_column: "updated_at",
  upsert_key: ["shop", "sku"],
  update_columns: "__all__",
  columns: {
    shop: { type: "text", nullable: false },
    sku: { type: "text", nullable: false },
    title: { type: "text" },
    city: { type: "text" },
    price: { type: "numeric" },
    views: { type: "integer" },
    rating: { type: "real" },
    active: { type: "boolean" },
    listed_on: { type: "date" },
    updated_at: { type: "datetime" },
  },
};

const SIZED_NAME = "bench_sized";

/** Every measured table by its name. */
export const TABLES: Readonly<Record<string, TableEntry>> = {
  [TABLE_NAME]: TABLE_ENTRY,
  [SIZED_NAME]: {
    timestamp_column: "updated_at",
    upsert_key: ["shop", "sku"],
    update_columns: "__all__",
    columns: {
      shop: { type: "text", nullable: false },
      sku: { type: "text", nullable: false },
      title: { type: "text" },
      updated_at: { type: "datetime" },
    },
  },
};

/** One row, as a page shows it and as a push sends it. */
export interface BenchRow {
  readonly shop: string;
  readonly sku: string;
  readonly title: string;
  readonly city: string;
  readonly price: string;
  readonly views: number;
  readonly rating: number;
  readonly active: boolean;
  readonly listed_on: string;
  readonly updated_at: string;
}

const SHOPS = 97;
const WORD_CHARS = 8;
const FIRST_TIME_MS = Date.UTC(2024, 0, 1);
/** Versions of a row are this far apart, further than the rows of one version are. */
const VERSION_MS = 30 * 86_400_000;
const TITLES = [
  "Żółty rower miejski, używany",
  "Кофейник медный, ручная работа",
  "抹茶茶碗 京都の職人による",
  "Crème brûlée façon grand-mère",
  "Größenverstellbarer Bürostuhl",
  "Stainless bottle, 0.75 l",
];
const CITIES = ["Łódź", "São Paulo", "Москва", "東京", "Malmö", "Reykjavík", "Leeds"];

/** The row at a place, from 0 in the order of the table. Versions differ in all but the key. */
export function makeRow(place: number, version = 0): BenchRow {
  const mixed = (place * 7_919 + version * 104_729) % 1_000_003;
  return {
    shop: `shop-${String(place % SHOPS).padStart(3, "0")}`,
    sku: `sku-${String(place).padStart(8, "0")}`,
    title: `${TITLES[mixed % TITLES.length]} №${mixed}`,
    city: CITIES[mixed % CITIES.length] ?? "",
    price: `${mixed % 5_000}.${String(mixed % 100).padStart(2, "0")}`,
    views: mixed,
    rating: (mixed % 500) / 100,
    active: (place + version) % 2 === 0,
    listed_on: new Date(FIRST_TIME_MS + mixed * 60_000).toISOString().slice(0, 10),
    updated_at: timeAt(place, version),
  };
}

/** Rows of consecutive places. */
export function makeRows(first: number, count: number, version = 0): BenchRow[] {
  return Array.from({ length: count }, (_, i) => makeRow(first + i, version));
}

/** The table of ten columns. */
export const MIXED: Shape = { table: TABLE_NAME, makeRows };

/** Rows with so many bytes of JSON, in the table of four columns. */
export function sizedRows(bytes: number): Shape {
  const makeSized = (place: number, version: number) => {
    const { shop, sku, views, updated_at } = makeRow(place, version);
    const room = bytes - JSON.stringify({ shop, sku, title: "", updated_at }).length;
    const words = Array.from({ length: Math.ceil(room / WORD_CHARS) }, (_, i) =>
      ((views * (i + 1) * 7_919) % 60_466_176).toString(36).padEnd(WORD_CHARS, " "),
    );
    return { shop, sku, title: words.join("").slice(0, room), updated_at };
  };
  return {
    table: SIZED_NAME,
    makeRows: (first, count, version = 0) =>
      Array.from({ length: count }, (_, i) => makeSized(first + i, version)),
  };
}

/** A push of rows, with gzip and checksum. */
export function makePushBody(rows: readonly object[]): PushedRows {
  const json = new TextEncoder().encode(JSON.stringify({ records: rows }));
  return {
    rows: rows.length,
    gzipped: gzipSync(json, { level: GZIP_LEVEL }),
    checksum: createHash("sha256").update(json).digest("hex"),
  };
}

/** Microseconds, never whole milliseconds, so that every text has the same length. */
function timeAt(place: number, version: number): string {
  const text = new Date(FIRST_TIME_MS + version * VERSION_MS + place * 1_000).toISOString();
  return `${text.slice(0, -1)}${String((place % 999) + 1).padStart(3, "0")}Z`;
}
