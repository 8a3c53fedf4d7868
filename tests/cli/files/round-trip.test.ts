// A file that is exported from one store and imported into another makes an equal table.

import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { readConfig } from "../../../src/app/config.ts";
import { fileFormats } from "../../../src/app/files.ts";
import { openServices } from "../../../src/app/services.ts";
import { type JsonValue, parseJson, rawNumber } from "../../../src/domain/shared/json.ts";
import { convertRecord } from "../../../src/domain/sync/rows/convert.ts";
import { COLUMN_TYPES, type ColumnType } from "../../../src/domain/sync/table/column-types.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import { FILE_FORMATS } from "../../../src/ports/files.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { exportFile, exportRows } from "../../../src/usecases/sync/files/export-rows.ts";
import { ImportReport, importFile } from "../../../src/usecases/sync/files/import-file.ts";
import { StoreWriter } from "../../../src/usecases/sync/files/import-writer.ts";
import {
  arbitraryEntry,
  arbitraryRows,
  arbitraryValue,
} from "../../contract/tables/table-arbitraries.ts";
import { type Backend, onEveryBackend } from "../../http/support/backends.ts";
import { keepResource } from "../../support/resources.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { writeTo } from "../../support/rows/write-to.ts";
import { writingParts } from "../../support/run-parts.ts";
import { checkAsyncProperty } from "../../support/seed.ts";
import { fileText, recordsOf } from "../support/read-file-text.ts";

setDefaultTimeout(120_000);

/** One column of every type, under a numbered key. */
const EVERY_TYPE: TableEntry = {
  upsert_key: ["k"],
  columns: {
    k: { type: "integer" },
    ...Object.fromEntries(COLUMN_TYPES.map((type) => [`a_${type}`, { type }])),
  },
};

/** Texts that a CSV file could be read wrongly with. */
const trickyText = fc.constantFrom(
  ...[
    "",
    " ",
    "\\",
    "\\5",
    '\\"a"',
    "\\null",
    "\\[]",
    "\\\\5",
    "\\x",
    "null",
    '"',
    '""',
    ",",
    "\r",
    "\n",
  ],
  ...[
    "\r\n",
    " a ",
    "\ufeffa",
    "=1+1",
    "'1",
    "007",
    "+5",
    "1.0",
    "1e3",
    "-0",
    "TRUE",
    "a\0b",
    "5\n",
  ],
);

/** Two stores of one kind. */
interface Stores {
  readonly from: FullStorage;
  readonly to: FullStorage;
}

let tables = 0;

async function open(backend: Backend): Promise<FullStorage> {
  const config = readConfig(
    { STORAGE_URL: await backend.makeUrl(), LOG_LEVEL: "silent" },
    () => "",
  );
  const services = await openServices(config);
  keepResource(() => services.close());
  await services.prepare();
  return services.storage;
}

/** All rows as JSON of the columns that are exported. */
async function contents(storage: FullStorage, table: Table): Promise<string[]> {
  const names = table.movedColumns.map(({ name }) => name);
  const rows: Row[] = [];
  for await (const part of exportRows(storage.tables, table)) rows.push(...part);
  return rows.map((row) => JSON.stringify(names.map((name) => row[name] ?? null)));
}

/** Exports a table in every format, imports each into another store, and looks at what is there. */
async function checkRoundTrip(
  { from, to }: Stores,
  { entry, rows }: { readonly entry: TableEntry; readonly rows: readonly Row[] },
): Promise<void> {
  const source = makeTable(entry, `source_${++tables}`);
  await from.tables.prepare([source]);
  const writes = rows.flatMap((record, index) => {
    const { row } = convertRecord(source, record);
    return row === null ? [] : [{ index, row }];
  });
  await writeTo(from, source, writes);
  const exported: Row[] = [];
  for await (const part of exportRows(from.tables, source)) exported.push(...part);
  const names = source.movedColumns.map(({ name }) => name);
  const textOf = (row: Row) => JSON.stringify(names.map((name) => row[name] ?? null));
  for (const format of FILE_FORMATS) {
    const target = makeTable(entry, `target_${tables}_${format}`);
    await to.tables.prepare([target]);
    const rows = format === "csv" ? exported : exported.filter((row) => hasOwnTexts(source, row));
    const text = fileText(format, source, rows);
    // What is not of its column's type is marked in CSV, and taken as it is.
    const isWritten = (row: Row) => format === "csv" || modelOf(source, row);
    const expected = rows.filter(isWritten).map(textOf);
    const report = new ImportReport(target.name, false);
    await importFile(new StoreWriter(writingParts(to), target), {
      ...{ table: target, isLax: false, numbers: null, append: "--append", report },
      records: () => recordsOf(format, { table: target, text, chunkChars: 11 }),
      stop: new AbortController().signal,
    });
    const { counts } = report;
    const failed = rows.length - expected.length;
    expect(counts).toMatchObject({ read: rows.length, written: expected.length, failed });
    expect(await contents(to, target)).toEqual(expected);
    if (format !== "csv") continue;
    const again: Row[] = [];
    for await (const part of exportRows(to.tables, target)) again.push(...part);
    expect(fileText(format, target, again)).toBe(text);
  }
}

const WHOLE = /^-?\d+(\.0*)?$/;
const DECIMAL = /^-?\d+(\.\d+)?(e-?\d+)?$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3}|\.\d{6})?Z$/;

/** False for a row with a number or boolean among texts, which an import of JSON makes a text. D-14.1. */
function hasOwnTexts(table: Table, row: Row): boolean {
  return table.columns.every(
    ({ name, type }) => type !== "text" || isOfType("text", row[name] ?? null),
  );
}

/** True for an exported row that an import of JSON writes as it was. D-14.7. */
function modelOf(table: Table, row: Row): boolean {
  const odd = table.pushColumns.some(
    ({ name, type, serialize }) => serialize && !isOfType(type, row[name] ?? null),
  );
  return !odd && !table.keyColumns.some(({ name }) => row[name] === "");
}

/** Written without the code under test, from D-3.3: what a value of a type looks like in a page. */
function isOfType(type: ColumnType, value: JsonValue): boolean {
  if (value === null || type === "json") return true;
  const text = typeof value === "string" ? value : null;
  const number = text === null && typeof value !== "boolean" ? JSON.stringify(value) : null;
  const isRealDate = (date: string) =>
    !date.startsWith("0000") && new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date) === true;
  switch (type) {
    case "text":
      return text !== null;
    case "boolean":
      return typeof value === "boolean";
    case "real":
      return typeof value === "number" || number === "-0";
    case "integer":
      return number !== null && WHOLE.test(number);
    case "bigint":
      return text !== null && WHOLE.test(text);
    case "numeric":
      return text !== null && DECIMAL.test(text);
    case "date":
      return text !== null && DATE.test(text) && isRealDate(text);
    case "datetime":
      return (
        text !== null &&
        TIME.test(text) &&
        isRealDate(text.slice(0, 10)) &&
        text < `${text.slice(0, 11)}24`
      );
  }
}

onEveryBackend("export and import", (backend) => {
  const isQuick = backend.name.startsWith("SQLite");

  test("D-10.3, D-4.12.8 what every type understands comes back without a warning", async () => {
    const stores = { from: await open(backend), to: await open(backend) };
    const row = {
      ...{
        k: 1,
        a_text: "é\r\n\\",
        a_integer: rawNumber("9223372036854775807"),
        a_bigint: "123456789012345678901",
      },
      ...{
        a_numeric: "-0.10",
        a_real: 1.5e-7,
        a_boolean: false,
        a_datetime: "2024-02-29T23:59:59.999999Z",
      },
      ...{ a_date: "2024-02-29", a_json: parseJson('{"a":[1.0,null,"x"]}') },
    };
    expect(modelOf(makeTable(EVERY_TYPE), row)).toBe(true);
    const rows = [
      row,
      { ...Object.fromEntries(Object.keys(row).map((name) => [name, null])), k: 2 },
    ];
    await checkRoundTrip(stores, { entry: EVERY_TYPE, rows });
  });

  test("D-4.12, D-4.12.8, D-10.3 any value of any column comes back in every format, and is told where it is odd", async () => {
    const stores = { from: await open(backend), to: await open(backend) };
    const row = fc.record(
      Object.fromEntries(
        COLUMN_TYPES.map((type) => [`a_${type}`, fc.oneof(arbitraryValue(type), trickyText)]),
      ),
    );
    const rows = fc
      .array(row, { minLength: 1, maxLength: 12 })
      .map((list) => list.map((values, k): Row => ({ k, ...values })));
    const property = fc.asyncProperty(rows, (list) =>
      checkRoundTrip(stores, { entry: EVERY_TYPE, rows: list }),
    );
    await checkAsyncProperty(property, isQuick ? 60 : 8);
  });

  test("D-4.12, D-4.12.8, D-14.7 any table with any key comes back in every format", async () => {
    const stores = { from: await open(backend), to: await open(backend) };
    const table = arbitraryEntry.chain((entry) =>
      arbitraryRows(makeTable(entry)).map((rows) => ({ entry, rows })),
    );
    const property = fc.asyncProperty(table, (made) => checkRoundTrip(stores, made));
    await checkAsyncProperty(property, isQuick ? 60 : 8);
  });

  const TEXTS: TableEntry = {
    upsert_key: ["k"],
    columns: { k: { type: "integer" }, a: { type: "text" } },
  };

  /** The keys of an exported file of texts, in their order; more rows are written before each part. */
  async function exportedKeys(lengths: readonly number[], added: number): Promise<number[]> {
    const storage = await open(backend);
    const table = makeTable(TEXTS);
    await storage.tables.prepare([table]);
    let rows = 0;
    const write = async (chars: number) =>
      await writeTo(storage, table, [{ index: 0, row: { k: ++rows, a: "x".repeat(chars) } }]);
    for (const chars of lengths) await write(chars);
    const file = exportFile(
      { tables: storage.tables, files: fileFormats },
      {
        ...{ table, format: "ndjson", isForSpreadsheet: false, sinceTime: null },
        async onRows() {
          if (rows < lengths.length + added) await write(1);
        },
      },
    );
    let text = "";
    for await (const part of file) text += part;
    return text.split("\n").flatMap((line) => (line === "" ? [] : JSON.parse(line).k));
  }

  test("D-4.12.8 an export has small rows and those that are larger than a part", async () => {
    const lengths = [10, 1_200_000, 10, 700_000, 700_000, 1_100_000, 1_200_000, 10, 10];
    expect(await exportedKeys(lengths, 0)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("D-4.12.8 an export ends though rows come as fast as it reads", async () => {
    expect(await exportedKeys([1, 1, 1], 20)).toEqual([1, 2, 3]);
  });
});
