import { expect } from "bun:test";
import { isAppError } from "../../src/domain/shared/errors.ts";
import { fence, type HeldLease, Leases, leaseQueries } from "../../src/repositories/leases.ts";
import { LEASES } from "../../src/repositories/run-collections.ts";
import { repositoryTests, type StoreOfCase } from "./support/repository-tests.ts";

const MINUTE_MS = 60_000;
const TTL_MS = 10 * MINUTE_MS;

repositoryTests(
  "leases",
  (documents) => new Leases(documents),
  (it) => {
    it("D-4.8 acquire() takes a free lease, and names the holder to everyone else", async (leases) => {
      await acquired(leases, "run-1");
      expect(await leases.acquire(wanted("run-2"))).toEqual({ heldBy: "run-1" });
      expect(await leases.acquire(wanted("run-1"))).toEqual({ heldBy: "run-1" });
      expect(await leases.acquire(wanted("run-3"))).toEqual({ heldBy: "run-1" });
    });

    it("D-4.8 leases of different names are held by different holders", async (leases) => {
      const names = ["sync push a", "sync pull a", "sync push b", "SYNC PUSH A", "", "é😀$.'\""];
      for (const name of names) await acquired(leases, `holder of ${name}`, name);
      for (const name of names) {
        const refused = await leases.acquire({ name, holder: "other", ttlMs: TTL_MS });
        expect(refused).toEqual({ heldBy: `holder of ${name}` });
      }
    });

    it("D-4.8 release() lets the next one in, and may be called again", async (leases) => {
      const first = await acquired(leases, "run-1");
      await first.release();
      await first.release();
      const second = await acquired(leases, "run-2");
      await first.release();
      expect(await leases.acquire(wanted("run-3"))).toEqual({ heldBy: "run-2" });
      await second.release();
      await acquired(leases, "run-1");
    });

    it("D-4.8 renew() of a released lease is refused, whoever has it now", async (leases) => {
      const first = await acquired(leases, "run-1");
      await first.release();
      expect(await first.renew()).toBe(false);
      await acquired(leases, "run-1");
      expect(await first.renew()).toBe(false);
    });

    it("D-4.8 a lease that ran out is free, and one that did not is not", async (leases, _, store) => {
      await acquired(leases, "run-1");
      store.clock.advance(TTL_MS - MINUTE_MS);
      expect(await leases.acquire(wanted("run-2"))).toEqual({ heldBy: "run-1" });
      store.clock.advance(2 * MINUTE_MS);
      await acquired(leases, "run-2");
      expect(await leases.acquire(wanted("run-1"))).toEqual({ heldBy: "run-2" });
    });

    it("D-4.8 renew() holds a lease for its full time from then on", async (leases, _, store) => {
      const lease = await acquired(leases, "run-1");
      for (let renewal = 0; renewal < 3; renewal++) {
        store.clock.advance(TTL_MS - MINUTE_MS);
        expect(await lease.renew()).toBe(true);
      }
      store.clock.advance(TTL_MS - MINUTE_MS);
      expect(await leases.acquire(wanted("run-2"))).toEqual({ heldBy: "run-1" });
      store.clock.advance(2 * MINUTE_MS);
      await acquired(leases, "run-2");
    });

    it("D-4.8 renew() is refused once the lease ran out, also when nobody took it", async (leases, _, store) => {
      const lease = await acquired(leases, "run-1");
      store.clock.advance(TTL_MS + MINUTE_MS);
      expect(await lease.renew()).toBe(false);
      expect(await lease.renew()).toBe(false);
      await acquired(leases, "run-2");
    });

    it("D-4.8 a holder that lost its lease takes nothing from the next one", async (leases, _, store) => {
      const lost = await acquired(leases, "run-1");
      store.clock.advance(TTL_MS + MINUTE_MS);
      const held = await acquired(leases, "run-1");
      expect(await lost.renew()).toBe(false);
      await lost.release();
      expect(await leases.acquire(wanted("run-3"))).toEqual({ heldBy: "run-1" });
      expect(await held.renew()).toBe(true);
    });

    it("D-4.8 each lease lasts as long as its own request said", async (leases, _, store) => {
      await acquired(leases, "long", "a");
      await leases.acquire({ name: "b", holder: "short", ttlMs: TTL_MS / 10 });
      store.clock.advance(TTL_MS / 2);
      expect(await leases.acquire(wanted("other", "a"))).toEqual({ heldBy: "long" });
      await acquired(leases, "other", "b");
    });

    it.everywhere(
      "D-4.8 of many that acquire() at once on two instances, one gets the lease",
      async (leases, other) => {
        for (let round = 0; round < 5; round++) {
          const holders = Array.from({ length: 10 }, (_, n) => `run-${n}`);
          const results = await Promise.all(
            holders.map((holder, n) =>
              (n % 2 === 0 ? leases : other).acquire(wanted(holder, `lease ${round}`)),
            ),
          );
          const winner = results.findIndex((result) => !("heldBy" in result));
          const refused = results.filter((result) => "heldBy" in result);
          expect(refused).toEqual(Array(9).fill({ heldBy: `run-${winner}` }));
        }
      },
    );

    it("D-4.8 a lease outlives the instance that took it until it runs out", async (leases, other, store) => {
      await acquired(leases, "run-1");
      expect(await other.acquire(wanted("run-2"))).toEqual({ heldBy: "run-1" });
      store.clock.advance(TTL_MS + MINUTE_MS);
      await acquired(other, "run-2");
    });

    it("D-4.8 release() on one instance is seen by the other", async (leases, other) => {
      for (let round = 0; round < 10; round++) {
        const [here, there] = round % 2 === 0 ? [leases, other] : [other, leases];
        const lease = await acquired(here, `run-${round}`);
        expect(await there.acquire(wanted("other"))).toEqual({ heldBy: `run-${round}` });
        await lease.release();
      }
    });

    it.everywhere(
      "D-7.8 a commit under a lease is made while that is held, and meets no renewal",
      async (leases, _, store) => {
        const lease = await acquired(leases, "run-1");
        await commitUnder(store, lease);
        await Promise.all([lease.renew(), commitUnder(store, lease), lease.renew()]);
        const lost = await acquired(leases, "run-2", "other").then(() => lease);
        store.clock.advance(TTL_MS + MINUTE_MS);
        expect(await refusal(commitUnder(store, lost))).toBe("lease_lost");
        await acquired(leases, "run-3");
        expect(await refusal(commitUnder(store, lost))).toBe("lease_lost");
      },
    );

    it.everywhere(
      "D-7.8 a commit under a lease that was released, or taken anew, is refused",
      async (leases, _, store) => {
        const first = await acquired(leases, "run-1");
        await first.release();
        expect(await refusal(commitUnder(store, first))).toBe("lease_lost");
        const second = await acquired(leases, "run-1");
        expect(await refusal(commitUnder(store, first))).toBe("lease_lost");
        await commitUnder(store, second);
      },
    );

    it.everywhere(
      "D-7.8 nobody takes a lease that ran out while a commit under it goes on",
      async (leases, other, store) => {
        const lease = await acquired(leases, "run-1");
        const takers: Promise<unknown>[] = [];
        await store.documents.transact({ name: "test.commit" }, async (tx) => {
          const { claim } = lease;
          const found = await tx.read(...leaseQueries(claim.name));
          fence(tx, claim, found);
          if (takers.length === 0) takers.push(other.acquire(wanted("run-2")));
          await tx.read(...leaseQueries(claim.name));
        });
        expect(await Promise.all(takers)).toEqual([{ heldBy: "run-1" }]);
      },
    );

    it("D-4.8 a lease that ends later than it could is free: the clock was set back", async (leases, _, store) => {
      await store.documents.transact({ name: "test.lease" }, async (tx) => {
        await tx.read();
        const endsAtMs = tx.nowMs + 2 * TTL_MS + 1;
        tx.put(LEASES, {
          name: "sync push items",
          holder: "run-1",
          turn: 7,
          ttlMs: TTL_MS,
          endsAtMs,
        });
      });
      await acquired(leases, "run-2");
    });
  },
);

async function commitUnder({ documents }: StoreOfCase, { claim }: HeldLease): Promise<void> {
  await documents.transact({ name: "test.commit" }, async (tx) => {
    fence(tx, claim, await tx.read(...leaseQueries(claim.name)));
  });
}

async function refusal(commit: Promise<void>): Promise<string> {
  const error = await commit.then(
    () => null,
    (reason: unknown) => reason,
  );
  return isAppError(error) ? error.kind : String(error);
}

function wanted(holder: string, name = "sync push items") {
  return { name, holder, ttlMs: TTL_MS };
}

/** Takes a lease that must be free. */
async function acquired(leases: Leases, holder: string, name?: string): Promise<HeldLease> {
  const lease = await leases.acquire(wanted(holder, name));
  if ("heldBy" in lease) throw new Error(`The lease is held by "${lease.heldBy}"`);
  return lease;
}
