import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WalSync } from "../../../../src/adapters/sqlite/driver/wal-sync.ts";
import { failureOf } from "../support.ts";

describe("SQLite: the shared wait for the disk", () => {
  test("D-6.5 sync() resolves for all who wait, however many and whenever they come", async () => {
    const folder = await mkdtemp(join(tmpdir(), "repsync-sqlite-"));
    await writeFile(join(folder, "x.db-wal"), "frames");
    const wal = new WalSync(join(folder, "x.db"));
    const waits: Promise<void>[] = [];
    for (let turn = 0; turn < 20; turn++) {
      for (let i = 0; i < 5; i++) waits.push(wal.sync());
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(waits);
    await wal.close();
    await wal.close();
    await rm(folder, { recursive: true });
  });

  test("D-6.5 sync() fails for all who wait when there is no such file, and works when it is there again", async () => {
    const folder = await mkdtemp(join(tmpdir(), "repsync-sqlite-"));
    const wal = new WalSync(join(folder, "x.db"));
    const failures = await Promise.all([wal.sync(), wal.sync()].map(failureOf));
    for (const failure of failures) expect(failure).toMatchObject({ kind: "store_unavailable" });
    await writeFile(join(folder, "x.db-wal"), "frames");
    await wal.sync();
    await wal.close();
    await rm(folder, { recursive: true });
  });
});
