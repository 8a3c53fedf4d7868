// A pull into rows that another program of the same MongoDB writes to all the time. D-11.10.
import { expect, setDefaultTimeout, test } from "bun:test";
import { type ClientSession, MongoClient } from "mongodb";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { keepResource } from "../../support/resources.ts";
import { MONGODB, onBackends } from "../support/backends.ts";
import { startPair } from "../sync-runs/support/run-apps.ts";

setDefaultTimeout(120_000);

const TABLES = {
  items: {
    timestamp_column: "at",
    upsert_key: ["k"],
    columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
  },
} as const satisfies Record<string, TableEntry>;

const HOLD_MS = 1_500;

/** Holds the first or the last of some rows in a transaction at any time, until it is told to stop. */
async function holdInTurn(url: string, keys: readonly [string, string]) {
  const client = await new MongoClient(url).connect();
  const items = client.db().collection("items");
  let isStopped = false;
  const hold = async (k: string): Promise<ClientSession> => {
    const tx = client.startSession();
    for (;;) {
      tx.startTransaction();
      try {
        await items.updateOne({ k }, { $inc: { holds: 1 } }, { session: tx });
        return tx;
      } catch {
        // The pull was there first.
        await tx.abortTransaction();
      }
    }
  };
  const first = await hold(keys[0]);
  const work = async () => {
    let held = first;
    for (let turn = 1; !isStopped; turn++) {
      await Bun.sleep(HOLD_MS);
      const next = await hold(keys[turn % 2] as string);
      await held.abortTransaction();
      await held.endSession();
      held = next;
    }
    await held.abortTransaction();
    await held.endSession();
  };
  const working = work();
  return async () => {
    isStopped = true;
    await working;
    await client.close();
  };
}

onBackends([MONGODB], "busy rows", () => {
  test("D-11.10.6 a page whose rows are never all free is written in parts", async () => {
    const url = await MONGODB.makeUrl();
    const { local, remote } = await startPair({ tables: TABLES, env: { STORAGE_URL: url } });
    const rows = (v: string, day: number) =>
      Array.from({ length: 40 }, (_, n) => ({
        ...{ k: `k${String(n).padStart(2, "0")}`, v, at: `2026-01-0${day}T00:00:00Z` },
      }));
    await remote.push("items", { records: rows("old", 1) });
    const pull = { table: "items", direction: "pull" };
    expect((await local.trigger(pull)).json).toMatchObject({ changed: 40 });
    await remote.push("items", { records: rows("new", 2) });
    const stop = await holdInTurn(url, ["k00", "k39"]);
    keepResource(stop);
    const { json } = await local.trigger(pull);
    expect(json).toMatchObject({ status: "success", total_pulled: 40, changed: 40 });
    await stop();
    expect((await local.rows("items")).filter(({ v }) => v !== "new")).toEqual([]);
    expect(await local.markers()).toEqual({ sync_last_pull_items: "2026-01-02T00:00:00Z" });
    // Nothing is sent back.
    const push = { table: "items", direction: "push" };
    expect((await local.trigger(push)).json).toMatchObject({ total_pushed: 0 });
  });
});
