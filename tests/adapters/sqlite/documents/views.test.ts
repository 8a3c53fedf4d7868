// What people see who open the file with another tool.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { SqliteDocuments } from "../../../../src/adapters/sqlite/documents/sqlite-documents.ts";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import { SqliteDatabase } from "../../../../src/adapters/sqlite/driver/database.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { Collection } from "../../../../src/ports/documents.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { makeTempFolder } from "../../../http/support/make-temp-folder.ts";
import { keepResource } from "../../../support/resources.ts";

interface Item {
  readonly name: string;
  readonly isOn: boolean;
  readonly places: readonly number[];
  readonly picture?: Uint8Array;
}

const ITEMS: Collection<Item> = {
  name: "items",
  keyOf: ({ name }) => [name],
  fields: ["name", "isOn", "places", "picture"],
  bytes: ["picture"],
};

async function openFile() {
  const path = join(makeTempFolder(), "a.db");
  const database = await SqliteDatabase.open(openBunSqlite, path, { clock: new SystemClock() });
  keepResource(() => database.close());
  const select = (sql: string) => {
    const file = new Database(path, { readonly: true });
    const rows = file.query(sql).all();
    file.close();
    return rows;
  };
  const change = (sql: string) => {
    const file = new Database(path);
    file.run(sql);
    file.close();
  };
  return { documents: new SqliteDocuments(database), path, select, change };
}

test("a view of each collection shows the fields of its documents as columns", async () => {
  const { documents, select } = await openFile();
  await documents.prepare([ITEMS]);
  await documents.transact({ name: "test" }, async (tx) => {
    tx.put(ITEMS, { name: "a", isOn: true, places: [1, 2], picture: Uint8Array.of(7) });
    tx.put(ITEMS, { name: "b", isOn: false, places: [] });
  });
  expect(select("SELECT * FROM repsync_items_view ORDER BY name")).toEqual([
    { name: "a", isOn: 1, places: "[1,2]", picture: Uint8Array.of(7) },
    { name: "b", isOn: 0, places: "[]", picture: null },
  ]);
  expect(select("SELECT name FROM repsync_items_view WHERE isOn")).toEqual([{ name: "a" }]);
});

test("the views of all collections have more to tell than the document", async () => {
  const { documents, select } = await openFile();
  await documents.prepare(COLLECTIONS);
  const views = "SELECT name FROM sqlite_schema WHERE type = 'view'";
  const columns = `SELECT v.name FROM (${views}) v, pragma_table_info(v.name) c WHERE c.name = 'doc'`;
  expect(select(views)).toHaveLength(COLLECTIONS.length);
  expect(select(columns)).toEqual([]);
});

test("a view follows the declaration of its collection", async () => {
  const { documents, select } = await openFile();
  const columns = () =>
    select("SELECT name FROM pragma_table_info('repsync_items_view')").map((row) =>
      String((row as { name: unknown }).name),
    );
  await documents.prepare([{ name: "items", keyOf: ITEMS.keyOf, bytes: ["picture"] }]);
  expect(columns()).toEqual(["doc"]);
  await documents.prepare([ITEMS]);
  await documents.prepare([ITEMS]);
  expect(columns()).toEqual(["name", "isOn", "places", "picture"]);
});

test("a start that finds its collections made writes nothing, and makes one that was dropped", async () => {
  const { documents, path, select, change } = await openFile();
  await documents.prepare([ITEMS]);
  const written = () => statSync(`${path}-wal`).size;
  const before = written();
  await documents.prepare([ITEMS]);
  expect(written()).toBe(before);
  change("DROP TABLE repsync_items");
  await documents.prepare([ITEMS]);
  expect(select("SELECT * FROM repsync_items_view")).toEqual([]);
});
