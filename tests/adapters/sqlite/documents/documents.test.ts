import { expect, test } from "bun:test";
import {
  documentsContract,
  documentTablesContract,
} from "../../../contract/documents/documents-contract.ts";
import { itemsCollection } from "../../../contract/documents/documents-harness.ts";
import { openSqliteFile, openSqliteMemory } from "../../../support/stores/document-stores.ts";
import {
  openSqliteFileTables,
  openSqliteMemoryTables,
} from "../../../support/stores/document-table-stores.ts";

documentsContract({ name: "SQLite", open: openSqliteFile });
documentsContract({ name: "SQLite in memory", open: openSqliteMemory });
documentTablesContract({ name: "SQLite", open: openSqliteFileTables });
documentTablesContract({ name: "SQLite in memory", open: openSqliteMemoryTables });

test("a body that waits for something else fails, and the next one works", async () => {
  for (const open of [openSqliteFile, openSqliteMemory]) {
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
