import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteDocuments } from "../../../../src/adapters/sqlite/documents/sqlite-documents.ts";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import { SqliteDatabase } from "../../../../src/adapters/sqlite/driver/database.ts";
import { documentsContract } from "../../../contract/documents/documents-contract.ts";
import {
  itemsCollection,
  type OpenedDocuments,
} from "../../../contract/documents/documents-harness.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

documentsContract({ name: "SQLite", open: openFile });
documentsContract({ name: "SQLite in memory", open: openMemory });

test("a body that waits for something else fails, and the next one works", async () => {
  for (const open of [openFile, openMemory]) {
    const { documents, dispose } = await open();
    try {
      const from = itemsCollection();
      await documents.prepare([from]);
      const waiting = documents.transact({ name: "test.wait" }, async (tx) => {
        tx.put(from, { key: ["a"], value: 1 });
        await new Promise((resolve) => setTimeout(resolve, 20));
        tx.put(from, { key: ["b"], value: 1 });
      });
      expect(await waiting.catch(({ message }) => message)).toContain("waits for what is not");
      const reading = documents.read({ name: "test.wait" }, async (at) => {
        await new Promise((resolve) => setImmediate(resolve));
        return await at.read({ from, count: {} });
      });
      expect(await reading.catch(({ message }) => message)).toContain("waits for what is not");
      const [count] = await documents.read({ name: "test.count" }, (at) =>
        at.read({ from, count: {} }),
      );
      expect(count).toBe(0);
    } finally {
      await dispose();
    }
  }
});

async function openFile(): Promise<OpenedDocuments> {
  const folder = mkdtempSync(join(tmpdir(), "repsync-documents-"));
  const clock = new FakeClock();
  const databases: SqliteDatabase[] = [];
  const open = async () => {
    const database = await SqliteDatabase.open(openBunSqlite, join(folder, "a.db"), { clock });
    databases.push(database);
    return database;
  };
  const first = await open();
  return {
    documents: new SqliteDocuments(first),
    nowMs: () => clock.nowMs(),
    openSecond: async () => new SqliteDocuments(await open()),
    damage: async ({ name }, key) => {
      const sql = `UPDATE repsync_${name} SET doc = '{"key": ["another"]}' WHERE doc LIKE ?`;
      await first.keep(() => first.run(sql, [`%${JSON.stringify(key)}%`]));
    },
    dispose: async () => {
      for (const database of databases) await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openMemory(): Promise<OpenedDocuments> {
  const clock = new FakeClock();
  const database = await SqliteDatabase.open(openBunSqlite, ":memory:", { clock });
  return {
    documents: new SqliteDocuments(database),
    nowMs: () => clock.nowMs(),
    dispose: () => database.close(),
  };
}
