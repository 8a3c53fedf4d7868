// The tables of the registry as administrators see them. D-9.5.
import { expect, test } from "bun:test";
import { MONGODB, onBackends, SQLITE_FILE } from "../support/backends.ts";
import { notes, startRunApp } from "../sync-runs/support/run-apps.ts";

onBackends([SQLITE_FILE, MONGODB], "tables", (backend) => {
  test("D-9.5.7 tables are listed with rows, key and columns, with sync disabled too", async () => {
    const storageUrl = await backend.makeUrl();
    const app = await startRunApp({ backend, env: { STORAGE_URL: storageUrl } });
    await app.push("notes", { records: notes(3) });
    const disabled = { STORAGE_URL: storageUrl, SYNC_ENABLED: "false" };
    for (const one of [app, await startRunApp({ backend, env: disabled })]) {
      const { status, json } = await one.ask("/tables");
      expect(status).toBe(200);
      const tables = json["tables"] as { table: string }[];
      expect(tables.map(({ table }) => table).slice(0, 2)).toEqual([
        "profiles",
        "platform_accounts",
      ]);
      expect(tables.find(({ table }) => table === "notes")).toMatchObject({
        ...{ table: "notes", rows: 3, upsert_key: ["name"], deletes: false, direction: null },
        columns: { name: { type: "text", nullable: true } },
      });
    }
  });
});
