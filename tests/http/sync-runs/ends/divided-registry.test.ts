// A remote whose instances have not all taken up a registry yet: a run that was told of a column loses nothing in it.
import { expect, test } from "bun:test";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { onEveryBackend } from "../../support/backends.ts";
import { SYNC_KEY } from "../../support/sync-app.ts";
import { startForwarder } from "../support/forwarder.ts";
import { startRunApp } from "../support/run-apps.ts";

const FORMER: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { k: { type: "text" }, at: { type: "datetime" } },
};
const WITH_NOTES: TableEntry = {
  ...FORMER,
  columns: { ...FORMER.columns, notes: { type: "text" } },
};
const A = { k: "a", at: "2026-01-01T10:00:00Z", notes: "written here" };
const B = { k: "b", at: "2026-01-01T11:00:00Z", notes: "written there" };

onEveryBackend("a divided remote", (backend) => {
  async function start() {
    const env = { STORAGE_URL: await backend.makeUrl() };
    const behind = await startRunApp({ env, tables: { items: FORMER } });
    const ahead = await startRunApp({ env, tables: { items: WITH_NOTES } });
    const forwarder = startForwarder();
    const local = await startRunApp({
      ...{ backend, tables: { items: WITH_NOTES } },
      env: { SYNC_REMOTE_URL: forwarder.url },
    });
    /** Lets the first request for rows meet the instance that is behind. */
    const meetBehind = () => {
      let met = 0;
      forwarder.target = (request) =>
        /^(GET .pull|POST .push)/.test(request) && met++ === 0 ? behind.url : ahead.url;
    };
    return { local, ahead, behind, meetBehind };
  }

  test("D-7.3, D-14.6 an instance that is behind takes no rows of a run that was told of a column, and gives none", async () => {
    const { local, ahead, meetBehind } = await start();
    await local.push("items", { records: [A] });
    meetBehind();
    const pushed = await local.trigger({ table: "items", direction: "push" });
    expect(pushed.json).toMatchObject({ status: "success", total_pushed: 1 });
    expect(await ahead.rows("items")).toEqual([A]);
    await ahead.push("items", { records: [B] });
    meetBehind();
    const pulled = await local.trigger({ table: "items", direction: "pull" });
    expect(pulled.json).toMatchObject({ status: "success", changed: 1 });
    expect(await local.rows("items")).toEqual([A, B]);
  });

  test("D-7.3 a push or a pull by other columns is 503 with Retry-After, and nothing is written", async () => {
    const { behind } = await start();
    const headers = { "X-Sync-Columns": "those of another registry" };
    const answers = [
      await behind.push("items", { records: [A] }, headers),
      await behind.send("/api/v1/sync/pull/items", {
        headers: { "X-Sync-Key": SYNC_KEY, ...headers },
      }),
    ];
    for (const { status, json, headers: told } of answers) {
      expect([status, told.get("Retry-After")]).toEqual([503, "1"]);
      expect(json["error"]).toBe(
        'This instance has other columns of "items" than the run was told; ask again in a moment',
      );
    }
    expect(await behind.rows("items")).toEqual([]);
  });
});
