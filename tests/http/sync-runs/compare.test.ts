// Comparing and repairing between two real deployments.
import { expect, test } from "bun:test";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { jsonBody } from "../reputation/people.ts";
import { onBackends, onEveryBackend, POSTGRESQL } from "../support/backends.ts";
import { type RunApp, startPair } from "./support/run-apps.ts";

function listing(n: number, price = "1.50") {
  return {
    shop: "s",
    sku: `k${String(n).padStart(4, "0")}`,
    price,
    updated_at: "2026-01-01T00:00:00Z",
  };
}

const KEPT = {
  items: {
    timestamp_column: "at",
    upsert_key: ["k"],
    conflict: "newer",
    columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
  },
} as const satisfies Record<string, TableEntry>;

onEveryBackend("compare()", (backend) => {
  test("D-11.10.2 repairs keep what their table keeps, at either end, unless they are forced", async () => {
    const { local, remote } = await startPair({ backend, tables: KEPT });
    const row = (k: string, v: string, day: number) => ({ k, v, at: `2026-01-0${day}T00:00:00Z` });
    await local.push("items", { records: [row("k", "old", 1), row("m", "new", 2)] });
    await remote.push("items", { records: [row("k", "new", 2), row("m", "old", 1)] });
    const compare = async (body: object) =>
      (await local.ask("/compare", jsonBody({ table: "items", ...body }))).json;
    const values = async (app: RunApp) => (await app.rows("items")).map(({ v }) => v);
    for (const repaired of [1, 0]) {
      expect(await compare({ repair: "push" })).toMatchObject({
        ...{ repaired, kept: 1, examples: { kept: [{ key: { k: "k" }, reason: "newer" }] } },
      });
    }
    await remote.push("items", { records: [row("n", "old", 1)] });
    await local.push("items", { records: [row("n", "new", 2)] });
    expect(await compare({ repair: "pull" })).toMatchObject({
      ...{ repaired: 1, kept: 1, examples: { kept: [{ key: { k: "n" }, reason: "newer" }] } },
    });
    expect(await values(local)).toEqual(["new", "new", "new"]);
    expect(await compare({ repair: "pull", force: true })).toMatchObject({ repaired: 1, kept: 0 });
    expect(await values(local)).toEqual(["new", "new", "old"]);
    await remote.push("items", { records: [row("m", "newest", 3)] });
    expect(await compare({ repair: "push", force: true })).toMatchObject({ repaired: 1, kept: 0 });
    expect(await values(remote)).toEqual(["new", "new", "old"]);
    const refused = await local.ask("/compare", jsonBody({ table: "items", force: true }));
    expect(refused.status).toBe(400);
  });

  test("D-3.3, D-4.10 compare() finds rows behind the key 2^53 equal", async () => {
    const tables: Record<string, TableEntry> = {
      items: { upsert_key: ["n"], columns: { n: { type: "integer" } } },
    };
    const { local, remote } = await startPair({ backend, tables });
    // 2^53 is the last key of the first short segment.
    const numbers = [...Array(63).keys(), "9007199254740992", "9007199254740993"];
    const bodyOf = (keys: readonly unknown[]) =>
      `{"records":[${keys.map((n) => `{"n":${n}}`).join(",")}]}`;
    await remote.push("items", bodyOf(numbers));
    await local.push("items", bodyOf([...numbers, "9007199254740994"]));
    expect((await local.ask("/compare", jsonBody({ table: "items" }))).json).toMatchObject({
      ...{ matched: 65, different: 0, missing_here: 0, missing_there: 1 },
    });
  });

  test("D-4.10 compare() counts what differs, shows keys, and repairs exactly that", async () => {
    const { local, remote } = await startPair({ backend });
    const records = Array.from({ length: 300 }, (_, n) => listing(n));
    await local.push("listings", { records });
    await remote.push("listings", { records });
    const equal = await local.ask("/compare", jsonBody({ table: "listings" }));
    const none = { different: [], missing_here: [], missing_there: [] };
    expect([equal.status, equal.json]).toEqual([
      200,
      { matched: 300, different: 0, missing_here: 0, missing_there: 0, examples: none },
    ]);
    await local.push("listings", { records: [listing(7, "2.00"), listing(1000)] });
    const there = Array.from({ length: 25 }, (_, n) => listing(2000 + n));
    await remote.push("listings", { records: there });
    const found = await local.ask("/compare", jsonBody({ table: "listings" }));
    const key = (n: number) => ({ shop: "s", sku: `k${String(n).padStart(4, "0")}` });
    expect(found.json).toEqual({
      ...{ matched: 299, different: 1, missing_here: 25, missing_there: 1 },
      examples: {
        different: [key(7)],
        missing_here: Array.from({ length: 20 }, (_, n) => key(2000 + n)),
        missing_there: [key(1000)],
      },
    });
    const pushed = await local.ask("/compare", jsonBody({ table: "listings", repair: "push" }));
    expect(pushed.json).toMatchObject({ different: 1, missing_there: 1, repaired: 2 });
    const pulled = await local.ask("/compare", jsonBody({ table: "listings", repair: "pull" }));
    expect(pulled.json).toMatchObject({ different: 0, missing_here: 25, repaired: 25 });
    expect(await local.rows("listings")).toEqual(await remote.rows("listings"));
    expect((await local.rows("listings")).length).toBe(326);
    const compared = await local.items("/runs");
    expect(compared.map(({ repair, matched }) => [repair, matched])).toEqual([
      ["pull", 301],
      ["push", 299],
      [null, 299],
      [null, 300],
    ]);
    expect(compared[1]).toEqual({
      ...{ run_id: expect.any(String), kind: "compare", trigger: "api", status: "success" },
      ...{ table: "listings", repair: "push", matched: 299, different: 1, missing_here: 25 },
      ...{ missing_there: 1, repaired: 2, kept: 0, started_at: expect.any(String) },
      ...{ finished_at: expect.any(String), duration_ms: expect.any(Number) },
    });
  });
});

onBackends([POSTGRESQL], "compare()", (backend) => {
  test("D-4.10 compare() counts nothing as missing where PostgreSQL orders keys as no other store does", async () => {
    const tables: Record<string, TableEntry> = {
      items: {
        ...{ upsert_key: ["since", "n"], deletes: true, timestamp_column: "at" },
        columns: { since: { type: "datetime" }, n: { type: "integer" }, at: { type: "datetime" } },
      },
    };
    const { local, remote } = await startPair({ backend, tables });
    const at = "2026-01-01T00:00:00Z";
    const records = Array.from({ length: 140 }, (_, n) => ({
      since: n < 70 ? at : "infinity",
      n,
      at,
    }));
    for (const app of [local, remote]) await app.push("items", { records });
    await local.push("items", { records: [{ since: "-infinity", n: 1, at }] });
    const compare = { table: "items", repair: "pull", delete: true };
    const { json } = await local.ask("/compare", jsonBody(compare));
    expect(json["error"]).toContain("are not in their order");
    expect((await local.rows("items")).length).toBe(141);
  });
});
