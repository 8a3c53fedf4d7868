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
const TEXT = { type: "text" };

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

  test("D-2.4 refuses another type, key and column that may not be null, with exit code 2 and what to do", async () => {
    const folder = makeTempFolder();
    const first = await startService({ folder, tables: { notes } });
    await first.push("notes", { records: [ROW] });
    await first.stop();
    const changed = {
      upsert_key: ["body"],
      columns: { ...notes.columns, name: { type: "integer" }, color: { ...TEXT, nullable: false } },
    };
    const env = serviceEnv(folder, { notes: changed, extra: TABLES.events });
    const ended = await runProcess([...BUN, MAIN], { folder, env });
    expect([ended.code, ended.stdout]).toEqual([2, ""]);
    expect(ended.stderr).toStartWith('repsync cannot start: Table "notes": ');
    for (const named of ["upsert key", '"name"', '"color"']) expect(ended.stderr).toContain(named);
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
});
