// A file that is exported from one store and imported into another makes an equal table.

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { FILE_FORMATS } from "../../src/cli/files/file-arguments.ts";
import { readConfig } from "../../src/config.ts";
import { convertRecord } from "../../src/domain/sync/rows/convert.ts";
import { comparedColumns } from "../../src/domain/sync/rows/row-text.ts";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import type { Row, Table } from "../../src/domain/sync/table/table.ts";
import type { FullStorage } from "../../src/ports/storage.ts";
import { openServices } from "../../src/services.ts";
import { exportRows } from "../../src/usecases/sync/files/export-rows.ts";
import { importRows } from "../../src/usecases/sync/files/import-rows.ts";
import {
  arbitraryEntry,
  arbitraryRows,
  arbitraryValue,
} from "../contract/tables/table-arbitraries.ts";
import { type Backend, onEveryBackend } from "../http/support/backends.ts";
import { keepResource, releaseResources } from "../http/support/resources.ts";
import { makeTable } from "../support/make-table.ts";
import { checkAsyncProperty } from "../support/seed.ts";
import { fileText, recordsOf } from "./support/read-file-text.ts";

afterEach(releaseResources);
setDefaultTimeout(120_000);

const COLUMN_TYPES = [
  ...(["text", "integer", "bigint", "numeric", "real"] as const),
  ...(["boolean", "datetime", "date", "json"] as const),
];
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
  return services.storage;
}

/** All rows as JSON of the columns that are exported. */
async function contents(storage: FullStorage, table: Table): Promise<string[]> {
  const names = comparedColumns(table).map(({ name }) => name);
  const rows: Row[] = [];
  for await (const part of exportRows(storage.rows, table)) rows.push(...part);
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
  await from.tables.write(source, writes);
  const expected = await contents(from, source);
  const exported: Row[] = [];
  for await (const part of exportRows(from.rows, source)) exported.push(...part);
  for (const format of FILE_FORMATS) {
    const target = makeTable(entry, `target_${tables}_${format}`);
    await to.tables.prepare([target]);
    const text = fileText(format, source, exported);
    const failures: unknown[] = [];
    const counts = await importRows(to.tables, {
      table: target,
      records: recordsOf(format, { table: target, text, chunkChars: 11 }),
      stop: new AbortController().signal,
      onFailure: (failure) => failures.push(failure),
      onProgress: () => {},
    });
    expect(failures).toEqual([]);
    expect(counts).toEqual({ read: expected.length, written: expected.length, failed: 0 });
    expect(await contents(to, target)).toEqual(expected);
  }
}

onEveryBackend("export and import", (backend) => {
  const isQuick = backend.name.startsWith("SQLite");

  test("D-4.12, D-4.12.8 any value of any column comes back in every format", async () => {
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

  test("D-4.12, D-4.12.8 any table with any key comes back in every format", async () => {
    const stores = { from: await open(backend), to: await open(backend) };
    const table = arbitraryEntry.chain((entry) =>
      arbitraryRows(makeTable(entry)).map((rows) => ({ entry, rows })),
    );
    const property = fc.asyncProperty(table, (made) => checkRoundTrip(stores, made));
    await checkAsyncProperty(property, isQuick ? 60 : 8);
  });
});
