// Comparing and repairing between two real deployments.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { jsonBody } from "../reputation/people.ts";
import { onEveryBackend } from "../support/backends.ts";
import { releaseResources } from "../support/resources.ts";
import { startPair } from "./support/run-apps.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

function listing(n: number, price = "1.50") {
  return {
    shop: "s",
    sku: `k${String(n).padStart(4, "0")}`,
    price,
    updated_at: "2026-01-01T00:00:00Z",
  };
}

onEveryBackend("compare()", (backend) => {
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
