import { describe, expect } from "bun:test";
import type { HeldLease } from "../../../src/ports/runs/lease-store.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";

type Parts = Pick<FullStorage, "leases" | "close">;

const MINUTE_MS = 60_000;
/** Long enough that a store with a clock of its own cannot come near its end by itself. */
const TTL_MS = 10 * MINUTE_MS;

/** What every `LeaseStore` does. */
export function leaseStoreContract(harness: StoreHarness<Parts>): void {
  describe(`${harness.name}: leases`, () => {
    holdingTests(harness);
    expiryTests(harness);
    if (harness.options.isShared) sharingTests(harness);
  });
}

function holdingTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-4.8 acquire() takes a free lease, and names the holder to everyone else", async ({
    leases,
  }) => {
    await acquired(leases, "run-1");
    expect(await leases.acquire(wanted("run-2"))).toEqual({ heldBy: "run-1" });
    expect(await leases.acquire(wanted("run-1"))).toEqual({ heldBy: "run-1" });
    expect(await leases.acquire(wanted("run-3"))).toEqual({ heldBy: "run-1" });
  });

  it("D-4.8 leases of different names are held by different holders", async ({ leases }) => {
    const names = ["sync push a", "sync pull a", "sync push b", "SYNC PUSH A", "", "é😀$.'\""];
    for (const name of names) await acquired(leases, `holder of ${name}`, name);
    for (const name of names) {
      const refused = await leases.acquire({ name, holder: "other", ttlMs: TTL_MS });
      expect(refused).toEqual({ heldBy: `holder of ${name}` });
    }
  });

  it("D-4.8 release() lets the next one in, and may be called again", async ({ leases }) => {
    const first = await acquired(leases, "run-1");
    await first.release();
    await first.release();
    const second = await acquired(leases, "run-2");
    await first.release();
    expect(await leases.acquire(wanted("run-3"))).toEqual({ heldBy: "run-2" });
    await second.release();
    await acquired(leases, "run-1");
  });

  it("D-4.8 renew() of a released lease is refused, whoever has it now", async ({ leases }) => {
    const first = await acquired(leases, "run-1");
    await first.release();
    expect(await first.renew()).toBe(false);
    await acquired(leases, "run-1");
    expect(await first.renew()).toBe(false);
  });
}

function expiryTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-4.8 a lease that ran out is free, and one that did not is not", async ({
    leases,
  }, store) => {
    await acquired(leases, "run-1");
    await store.advance(TTL_MS - MINUTE_MS);
    expect(await leases.acquire(wanted("run-2"))).toEqual({ heldBy: "run-1" });
    await store.advance(2 * MINUTE_MS);
    await acquired(leases, "run-2");
    expect(await leases.acquire(wanted("run-1"))).toEqual({ heldBy: "run-2" });
  });

  it("D-4.8 renew() holds a lease for its full time from then on", async ({ leases }, store) => {
    const lease = await acquired(leases, "run-1");
    for (let renewal = 0; renewal < 3; renewal++) {
      await store.advance(TTL_MS - MINUTE_MS);
      expect(await lease.renew()).toBe(true);
    }
    await store.advance(TTL_MS - MINUTE_MS);
    expect(await leases.acquire(wanted("run-2"))).toEqual({ heldBy: "run-1" });
    await store.advance(2 * MINUTE_MS);
    await acquired(leases, "run-2");
  });

  it("D-4.8 renew() is refused once the lease ran out, also when nobody took it", async ({
    leases,
  }, store) => {
    const lease = await acquired(leases, "run-1");
    await store.advance(TTL_MS + MINUTE_MS);
    expect(await lease.renew()).toBe(false);
    expect(await lease.renew()).toBe(false);
    await acquired(leases, "run-2");
  });

  it("D-4.8 a holder that lost its lease takes nothing from the next one", async ({
    leases,
  }, store) => {
    const lost = await acquired(leases, "run-1");
    await store.advance(TTL_MS + MINUTE_MS);
    const held = await acquired(leases, "run-1");
    expect(await lost.renew()).toBe(false);
    await lost.release();
    expect(await leases.acquire(wanted("run-3"))).toEqual({ heldBy: "run-1" });
    expect(await held.renew()).toBe(true);
  });

  it("D-4.8 each lease lasts as long as its own request said", async ({ leases }, store) => {
    await acquired(leases, "long", "a");
    await leases.acquire({ name: "b", holder: "short", ttlMs: TTL_MS / 10 });
    await store.advance(TTL_MS / 2);
    expect(await leases.acquire(wanted("other", "a"))).toEqual({ heldBy: "long" });
    await acquired(leases, "other", "b");
  });
}

function sharingTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-4.8 of many that acquire() at once on two instances, one gets the lease", async ({
    leases,
  }, store) => {
    const other = await openSecond(store);
    for (let round = 0; round < 5; round++) {
      const holders = Array.from({ length: 10 }, (_, n) => `run-${n}`);
      const results = await Promise.all(
        holders.map((holder, n) =>
          (n % 2 === 0 ? leases : other.leases).acquire(wanted(holder, `lease ${round}`)),
        ),
      );
      const winner = results.findIndex((result) => !("heldBy" in result));
      const refused = results.filter((result) => "heldBy" in result);
      expect(refused).toEqual(Array(9).fill({ heldBy: `run-${winner}` }));
    }
  });

  it("D-4.8 a lease outlives the instance that took it until it runs out", async (storage, store) => {
    const other = await openSecond(store);
    await acquired(storage.leases, "run-1");
    await storage.close();
    expect(await other.leases.acquire(wanted("run-2"))).toEqual({ heldBy: "run-1" });
    await store.advance(TTL_MS + MINUTE_MS);
    await acquired(other.leases, "run-2");
  });

  it("D-4.8 release() on one instance is seen by the other", async ({ leases }, store) => {
    const other = await openSecond(store);
    for (let round = 0; round < 10; round++) {
      const [here, there] = round % 2 === 0 ? [leases, other.leases] : [other.leases, leases];
      const lease = await acquired(here, `run-${round}`);
      expect(await there.acquire(wanted("other"))).toEqual({ heldBy: `run-${round}` });
      await lease.release();
    }
  });
}

function wanted(holder: string, name = "sync push items") {
  return { name, holder, ttlMs: TTL_MS };
}

/** Takes a lease that must be free. */
async function acquired(
  leases: Parts["leases"],
  holder: string,
  name?: string,
): Promise<HeldLease> {
  const lease = await leases.acquire(wanted(holder, name));
  if ("heldBy" in lease) throw new Error(`The lease is held by "${lease.heldBy}"`);
  return lease;
}
