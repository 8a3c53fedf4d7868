// Every table of a new deployment has its place in what a move takes along.
import { Database } from "bun:sqlite";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import {
  NOT_MOVED,
  OTHER_TABLES,
  PLAIN_PARTS,
} from "../../../../src/adapters/sqlite/copies/portable-parts.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { SQLITE_FILE } from "../../../http/support/backends.ts";
import { releaseResources } from "../../../http/support/resources.ts";
import { startRunApp } from "../../../http/sync-runs/support/run-apps.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

test("D-10.7 a move takes every table and column along, or is told to leave it", async () => {
  const url = await SQLITE_FILE.makeUrl();
  await startRunApp({ env: { STORAGE_URL: url } });
  const file = new Database(url.slice("sqlite:".length), { readonly: true });
  const names = (sql: string, ...values: string[]) =>
    file
      .query<{ name: string }, string[]>(sql)
      .all(...values)
      .map(({ name }) => name);
  const own = names(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'repsync_*'",
  );
  const plain = Object.values(PLAIN_PARTS);
  const collections = COLLECTIONS.map(({ name }) => `repsync_${name}`);
  const known = [...plain.map(({ table }) => table), ...OTHER_TABLES, ...NOT_MOVED, ...collections];
  expect(known.sort()).toEqual(own.sort());
  for (const { table, columns } of plain) {
    const real = names("SELECT name FROM pragma_table_info(?)", table);
    const moved = Object.keys(columns);
    expect([table, moved.sort()]).toEqual([table, real.sort()]);
  }
  file.close();
});
