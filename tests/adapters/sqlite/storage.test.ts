import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBunSqlite } from "../../../src/adapters/sqlite/driver/bun-driver.ts";
import { SqliteStorage } from "../../../src/adapters/sqlite/storage.ts";
import { storageContract } from "../../contract/storage-contract.ts";

storageContract({
  name: "SQLite in memory",
  options: { isShared: false, randomRuns: 100 },
  async open() {
    const storage = await SqliteStorage.open(openBunSqlite, ":memory:");
    return { storage, dispose: () => storage.close() };
  },
});

storageContract({
  name: "SQLite file",
  options: { isShared: true, randomRuns: 25 },
  async open() {
    const folder = await mkdtemp(join(tmpdir(), "repsync-sqlite-"));
    const opened: SqliteStorage[] = [];
    const openInstance = async () => {
      const storage = await SqliteStorage.open(openBunSqlite, join(folder, "data", "test.db"));
      opened.push(storage);
      return storage;
    };
    return {
      storage: await openInstance(),
      openSecond: openInstance,
      async dispose() {
        for (const storage of opened) await storage.close();
        await rm(folder, { recursive: true });
      },
    };
  },
});
