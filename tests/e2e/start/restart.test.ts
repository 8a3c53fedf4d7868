// What is there after a restart, also with another registry.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { MEMORY } from "../../../src/repositories/run-collections.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { TABLES } from "../../http/support/tables.ts";
import { withStore } from "../../support/stores/with-store.ts";
import { BUN, MAIN, runProcess, serviceEnv, startService } from "../support/service-process.ts";

const { notes } = TABLES;
const ROW = { name: "a", body: "first" };

/** A folder whose database holds one note. */
async function folderWithNote(): Promise<string> {
  const folder = makeTempFolder();
  const service = await startService({ folder, tables: { notes } });
  await service.push("notes", { records: [ROW] });
  await service.stop();
  return folder;
}

describe("a restart", () => {
  test.each(["SIGTERM", "SIGKILL"] as const)(
    "D-2.4, S-2.5 keeps rows, row numbers and markers after %s",
    async (signal) => {
      const folder = makeTempFolder();
      const first = await startService({ folder });
      await first.push("listings", { records: [{ shop: "s", sku: "1", price: "1.10" }] });
      const marker = { table: "notes", direction: "push", marker: "2026-03-01" } as const;
      await withStore(`sqlite:${join(folder, "repsync.db")}`, ({ documents }) =>
        documents.transact({ name: "test.memory" }, async (tx) => {
          await tx.read();
          tx.put(MEMORY, marker);
        }),
      );
      const page = await first.pull("listings");
      first.kill(signal);
      await first.ended;
      const second = await startService({ folder });
      expect((await second.pull("listings")).text).toBe(page.text);
      await second.push("listings", { records: [{ shop: "s", sku: "2" }] });
      expect((await second.records("listings")).map(({ id }) => id)).toEqual([1, 2]);
      expect((await second.send("/api/v1/sync/status")).json["last_sync"]).toEqual({
        sync_last_push_notes: "2026-03-01",
      });
    },
  );

  test("D-2.4 a column that the registry adds is null in the rows that exist", async () => {
    const folder = await folderWithNote();
    const columns = { ...notes.columns, color: { type: "text" }, at: { type: "datetime" } };
    const tables = { notes: { ...notes, columns, timestamp_column: "at" } };
    const service = await startService({ folder, tables });
    expect(await service.records("notes")).toEqual([{ ...ROW, color: null, at: null }]);
    const at = "2026-03-01T10:00:00Z";
    await service.push("notes", { records: [{ name: "0", color: "red", at }] });
    expect((await service.records("notes")).map(({ name }) => name)).toEqual(["a", "0"]);
    expect((await service.records("notes", `?since=${at}`)).map(({ name }) => name)).toEqual(["0"]);
  });

  test("D-2.4 a column that the registry leaves out stays, and comes back with it", async () => {
    const folder = await folderWithNote();
    const { name } = notes.columns;
    const without = await startService({
      folder,
      tables: { notes: { ...notes, columns: { name } } },
    });
    expect(await without.records("notes")).toEqual([{ name: "a" }]);
    await without.push("notes", { records: [{ name: "b" }] });
    await without.stop();
    const again = await startService({ folder, tables: { notes } });
    expect(await again.records("notes")).toEqual([ROW, { name: "b", body: null }]);
  });

  test.each([
    [
      "another type of a column",
      { ...notes, columns: { ...notes.columns, body: { type: "integer" } } },
      '"body"',
    ],
    ["another upsert key", { ...notes, upsert_key: ["body"] }, "upsert key"],
    [
      "a new column that may not be null",
      { ...notes, columns: { ...notes.columns, color: { type: "text", nullable: false } } },
      '"color"',
    ],
  ])("D-2.4 refuses %s with exit code 2 and what to do", async (_, changed, named) => {
    const folder = await folderWithNote();
    const env = serviceEnv(folder, { notes: changed, extra: TABLES.events });
    const ended = await runProcess([...BUN, MAIN], { folder, env });
    expect([ended.code, ended.stdout]).toEqual([2, ""]);
    expect(ended.stderr).toStartWith('repsync cannot start: Table "notes": ');
    expect(ended.stderr).toContain(named);
    expect(ended.stderr).toContain("Undo the change, or export");
    expect(ended.stderr).not.toContain(folder);
    // Nothing was changed, the other tables of that registry included.
    const service = await startService({ folder, tables: { notes } });
    expect(await service.records("notes")).toEqual([ROW]);
    const database = new Database(join(folder, "repsync.db"), { readonly: true });
    const made = database.query("SELECT name FROM sqlite_schema WHERE name = 'extra'").all();
    database.close();
    expect(made).toEqual([]);
  });

  test("D-2.4 an empty table may become another", async () => {
    const folder = makeTempFolder();
    await (await startService({ folder, tables: { notes } })).stop();
    const columns = { name: { type: "bigint" }, body: { type: "json", nullable: false } };
    const service = await startService({ folder, tables: { notes: { ...notes, columns } } });
    await service.push("notes", { records: [{ name: 5, body: [1] }] });
    expect(await service.records("notes")).toEqual([{ name: "5", body: [1] }]);
  });
});
