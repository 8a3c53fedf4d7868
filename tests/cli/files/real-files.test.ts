// Files as people meet them: what is guessed of each, what is told, and what an import by that guess alone makes of it.
import { describe, expect, test } from "bun:test";
import type { GuessWishes } from "../../../src/domain/sync/guess/table-guess.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { withoutStamp, withoutStamps, withStamp } from "../../support/rows/with-stamp.ts";
import { tryFile } from "../support/try-file.ts";

interface RealFile {
  readonly title: string;
  readonly name: string;
  readonly data: string | Uint8Array;
  readonly wishes?: Partial<GuessWishes>;
  /** Without what is added where the file has no time. */
  readonly entry: TableEntry;
  /** Reasons of columns, by name, and what else is told. */
  readonly reasons?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
  /** Rows written, and lines that failed. */
  readonly imported: readonly [written: number, failed: readonly number[]];
  readonly rows?: readonly object[];
  /** True where the export is the file again. */
  readonly isRoundTrip?: true;
}

const latin1 = (text: string) =>
  Uint8Array.from([...text], (c) => (c === "€" ? 0x80 : c.charCodeAt(0)));
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
const GERMAN =
  "Artikel-Nr;Größe;Preis €;Geändert am\r\nA1;40;1.234,50;24.11.2025\r\nA2;41;-0,5;01.02.2025 08:30\r\n";
const GERMAN_FILES = { decimal: ",", date_format: "DD.MM.YYYY HH:mm" } as const;
const GERMAN_ENTRY = {
  upsert_key: ["Artikel_Nr"],
  columns: {
    Artikel_Nr: { type: "text", nullable: false },
    Gro_e: { type: "integer" },
    Preis: { type: "numeric" },
    Geandert_am: { type: "datetime" },
  },
} as const satisfies TableEntry;
const GERMAN_HEADERS = {
  Artikel_Nr: "Artikel-Nr",
  Gro_e: "Größe",
  Preis: "Preis €",
  Geandert_am: "Geändert am",
};
const GERMAN_ROWS = [
  { Artikel_Nr: "A1", Gro_e: 40, Preis: "1234.50", Geandert_am: "2025-11-24T00:00:00Z" },
  { Artikel_Nr: "A2", Gro_e: 41, Preis: "-0.5", Geandert_am: "2025-02-01T08:30:00Z" },
];
const ISO_DATES = [
  { id: 1, day: "2025-11-24" },
  { id: 2, day: "2025-01-13" },
];
const dates = (format: string, [a, b]: readonly [string, string]): RealFile => ({
  title: `dates as ${format}`,
  name: "dates.csv",
  data: `id,day\n1,${a}\n2,${b}\n`,
  wishes: { files: { date_format: format } },
  entry: {
    upsert_key: ["id"],
    import: { date_format: format },
    columns: { id: { type: "integer", nullable: false }, day: { type: "date" } },
  },
  imported: [2, []],
  rows: ISO_DATES,
  isRoundTrip: true,
});

const FILES: readonly RealFile[] = [
  {
    title: "Excel's CSV in Latin-1, with semicolons and decimal commas",
    name: "preise.csv",
    data: latin1(GERMAN),
    wishes: {
      files: { encoding: "latin1", ...GERMAN_FILES },
      types: new Map([["Geändert am", "datetime"]]),
    },
    entry: {
      ...GERMAN_ENTRY,
      import: { delimiter: ";", encoding: "latin1", ...GERMAN_FILES, columns: GERMAN_HEADERS },
    },
    reasons: { Preis: 'such as "1.234,50"', Geandert_am: "as asked" },
    imported: [2, []],
    rows: GERMAN_ROWS,
  },
  {
    title: "Excel's CSV in UTF-16, which its mark tells",
    name: "preise.csv",
    data: utf16(GERMAN),
    wishes: { files: GERMAN_FILES },
    entry: {
      ...GERMAN_ENTRY,
      import: { delimiter: ";", ...GERMAN_FILES, columns: GERMAN_HEADERS },
    },
    imported: [2, []],
    rows: GERMAN_ROWS,
  },
  {
    title: "Excel's CSV of which nothing is said",
    name: "preise.csv",
    data: utf16(GERMAN),
    entry: {
      ...{ upsert_key: ["Artikel_Nr"], import: { delimiter: ";", columns: GERMAN_HEADERS } },
      columns: { ...GERMAN_ENTRY.columns, Preis: { type: "text" }, Geandert_am: { type: "text" } },
    },
    reasons: {
      Preis: 'numbers such as "1.234,50": name the decimal sign ,',
      Geandert_am: `dates such as "24.11.2025": name the date format 'DD.MM.YYYY HH:mm'`,
    },
    imported: [2, []],
  },
  {
    title: "TSV",
    name: "stock.tsv",
    data: "sku\tname\tqty\na-1\tnuts, bolts\t5\na-2\t\t7\n",
    entry: {
      upsert_key: ["sku"],
      columns: {
        ...{ sku: { type: "text", nullable: false }, name: { type: "text" } },
        qty: { type: "integer" },
      },
    },
    reasons: { name: 'such as "nuts, bolts", empty in 1' },
    imported: [2, []],
  },
  dates("DD.MM.YYYY", ["24.11.2025", "13.01.2025"]),
  dates("MM/DD/YYYY", ["11/24/2025", "01/13/2025"]),
  dates("YYYY/M/D", ["2025/11/24", "2025/1/13"]),
  dates("D-M-YYYY", ["24-11-2025", "13-1-2025"]),
  {
    title: "epochs in seconds and milliseconds",
    name: "events.csv",
    data: "id,created_at,updated_at,size\n1,1767225600,1767225600123,1767225600\n2,1767225601,1767225601000,5\n",
    entry: {
      ...{ timestamp_column: "updated_at", upsert_key: ["id"] },
      import: { epoch: { created_at: "seconds", updated_at: "milliseconds" } },
      columns: {
        ...{ id: { type: "integer", nullable: false }, created_at: { type: "datetime" } },
        ...{ updated_at: { type: "datetime" }, size: { type: "integer" } },
      },
    },
    reasons: { updated_at: 'milliseconds since 1970, such as "1767225600123"' },
    imported: [2, []],
    rows: [
      {
        ...{ id: 1, created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00.123Z" },
        size: 1767225600,
      },
      {
        ...{ id: 2, created_at: "2026-01-01T00:00:01Z", updated_at: "2026-01-01T00:00:01Z" },
        size: 5,
      },
    ],
    isRoundTrip: true,
  },
  {
    title: "JSON with an envelope",
    name: "orders.json",
    data: '{"page": 1,\n "data": {"tags": ["x"], "items": [\n{"id": 1, "a]": "}"},\n{"id": 2}]},\n"next": null}\n',
    wishes: { files: { path: "data.items" } },
    entry: {
      ...{ upsert_key: ["id"], import: { path: "data.items", columns: { a: "a]" } } },
      columns: { id: { type: "integer", nullable: false }, a: { type: "text" } },
    },
    reasons: { a: 'such as "}", empty in 1' },
    imported: [2, []],
    rows: [
      { id: 1, a: "}" },
      { id: 2, a: null },
    ],
  },
  {
    title: "NDJSON with a line that is none",
    name: "log.ndjson",
    data: '{"id":1,"ok":true}\n{"id":2,\n{"id":3,"ok":false}\n',
    entry: {
      upsert_key: ["id"],
      columns: { id: { type: "integer", nullable: false }, ok: { type: "boolean" } },
    },
    imported: [2, [2]],
  },
  {
    title: "GeoJSON",
    name: "places.geojson",
    data: JSON.stringify({
      type: "FeatureCollection",
      bbox: [1, 2, 3, 4],
      features: [
        {
          type: "Feature",
          id: "n1",
          geometry: { type: "Point", coordinates: [1.5, 2] },
          properties: {},
        },
        { type: "Feature", id: "n2", geometry: null, properties: { name: "x" } },
      ],
    }),
    wishes: { files: { path: "features" } },
    entry: {
      ...{ upsert_key: ["id"], import: { path: "features" } },
      columns: {
        ...{ type: { type: "text" }, id: { type: "text", nullable: false } },
        ...{ geometry: { type: "json" }, properties: { type: "json" } },
      },
    },
    imported: [2, []],
  },
  {
    title: "an order number that stands twice",
    name: "orders.csv",
    data: "order_id,item\n1,a\n2,a\n2,b\n3,a\n",
    entry: {
      upsert_key: ["order_id", "item"],
      columns: {
        ...{ order_id: { type: "integer", nullable: false } },
        item: { type: "text", nullable: false },
      },
    },
    warnings: [
      "the key order_id, item is a guess from 4 records",
      "order_id would do as the key, but 1 record lacks or repeats a value: line 4",
    ],
    imported: [4, []],
  },
  {
    title: "a key that is named, with empty and doubled values",
    name: "people.csv",
    data: "email,name\na@x,A\n,B\nb@x,C\na@x,D\n",
    wishes: { key: ["email"] },
    entry: {
      upsert_key: ["email"],
      columns: { email: { type: "text", nullable: false }, name: { type: "text" } },
    },
    warnings: ["email 2 records lack or repeat a value: line 3, 5"],
    imported: [3, [3]],
    rows: [
      { email: "a@x", name: "D" },
      { email: "b@x", name: "C" },
    ],
  },
  {
    title: "a header without rows",
    name: "empty.csv",
    data: "name;customer_id\n",
    entry: {
      ...{ upsert_key: ["customer_id"], import: { delimiter: ";" } },
      columns: { name: { type: "text" }, customer_id: { type: "text", nullable: false } },
    },
    warnings: ["the key customer_id is a guess from the header alone"],
    imported: [0, []],
    rows: [],
    isRoundTrip: true,
  },
  {
    title: "names that are not Latin",
    name: "names.csv",
    data: "番号,名前,Größe,Ort (neu)\n1,山田,5,Köln\n2,鈴木,6,Ulm\n",
    entry: {
      upsert_key: ["column_1"],
      import: {
        columns: { column_1: "番号", column_2: "名前", Gro_e: "Größe", Ort_neu: "Ort (neu)" },
      },
      columns: {
        ...{ column_1: { type: "integer", nullable: false }, column_2: { type: "text" } },
        ...{ Gro_e: { type: "integer" }, Ort_neu: { type: "text" } },
      },
    },
    warnings: ["the key 番号 is a guess from 2 records"],
    imported: [2, []],
    isRoundTrip: true,
  },
  {
    title: "numbers and booleans among texts",
    name: "mixed.json",
    data: '[{"code": "A1", "v": 1.50}, {"code": 17, "v": "x"}, {"code": "B", "v": true}]',
    entry: {
      upsert_key: ["code"],
      columns: { code: { type: "text", nullable: false }, v: { type: "text" } },
    },
    imported: [3, []],
    rows: [
      { code: "17", v: "x" },
      { code: "A1", v: "1.50" },
      { code: "B", v: "true" },
    ],
  },
  {
    title: "a time of change with a value that is none",
    name: "notes.csv",
    data: "id,updated_at\n1,2026-01-01\n2,2026-01-02 10:00\n3,not a date\n",
    wishes: { timestamp: "updated_at" },
    entry: {
      ...{ timestamp_column: "updated_at", upsert_key: ["id"] },
      columns: { id: { type: "integer", nullable: false }, updated_at: { type: "datetime" } },
    },
    reasons: {
      updated_at: 'as asked, but 1 of 3 values is none, the first "not a date" in line 4',
    },
    imported: [2, [4]],
  },
  {
    title: "records without a key, which are numbered",
    name: "strikes.csv",
    data: "airport,speed\nA,5\nB,5\nA,5\n",
    wishes: { files: { number_rows: true } },
    entry: {
      ...{ upsert_key: ["row"], import: { number_rows: true } },
      columns: {
        ...{ row: { type: "integer", nullable: false }, airport: { type: "text" } },
        speed: { type: "integer" },
      },
    },
    warnings: ["rows are numbered by their lines"],
    imported: [3, []],
    rows: [
      { row: 2, airport: "A", speed: 5 },
      { row: 3, airport: "B", speed: 5 },
      { row: 4, airport: "A", speed: 5 },
    ],
  },
];

describe("a file as people meet it", () => {
  test.each(FILES.map((file) => [file.title, file] as const))("D-14.1 %s", async (_, file) => {
    const { guess, counts, failures, rows, csv, importAgain } = await tryFile(
      makeTempFolder(),
      file,
    );
    const isStamped = (file.entry.timestamp_column ?? null) === null;
    const { updated_at: taken } = file.entry.columns;
    const stamp = taken === undefined ? "updated_at" : "changed_at";
    expect(guess.entry).toEqual(isStamped ? withStamp(file.entry, stamp) : file.entry);
    const reasons = Object.fromEntries(guess.columns.map(({ name, reason }) => [name, reason]));
    for (const [name, reason] of Object.entries(file.reasons ?? {})) {
      expect([name, reasons[name]]).toEqual([name, reason]);
    }
    expect(guess.warnings.length).toBe(file.warnings?.length ?? 0);
    for (const [i, warning] of (file.warnings ?? []).entries()) {
      expect(guess.warnings[i]).toStartWith(warning);
    }
    const [written, failed] = file.imported;
    expect([counts.written, failures.map(({ line }) => line)]).toEqual([written, [...failed]]);
    const told: readonly object[] = isStamped ? withoutStamp(rows) : rows;
    if (file.rows !== undefined) expect(told).toEqual(file.rows);
    // Another export of what the export gave is the same, and nothing changes.
    const again = await importAgain(csv);
    expect(again).toMatchObject({ failed: 0, changed: 0, new: 0, same: rows.length });
    const own = isStamped ? withoutStamps(csv) : csv;
    if (file.isRoundTrip === true) expect(own).toBe(String(file.data));
  });
});
