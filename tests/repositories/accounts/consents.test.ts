import { describe, expect } from "bun:test";
import { storeTests, timedTests } from "../../contract/harness.ts";
import {
  type ReputationHarness,
  Scene,
  wordOf,
} from "../../contract/lookups/reputation-harness.ts";
import { reputationTests } from "../support/reputation-tests.ts";

const ALL = { filter: { status: null, purpose: null }, limit: 100, beforeId: null };

reputationTests(consentSuite);

/** What every `ConsentStore` does. */
function consentSuite(harness: ReputationHarness): void {
  const it = storeTests(harness);
  const timed = timedTests(harness);

  describe(`consents`, () => {
    it("D-6.1 grant() keeps a consent that list() shows", async (parts, store) => {
      const nowMs = store.nowMs();
      const grant = {
        purpose: "profile_lookup" as const,
        expiresAt: "2027-01-01T00:00:00Z",
      };
      const granted = await new Scene(parts, store).grant("ana", grant);
      expect(granted).toEqual({
        id: granted.id,
        username: "ana",
        purpose: "profile_lookup",
        grantedAt: "2026-03-01T12:00:00Z",
        expiresAt: "2027-01-01T00:00:00Z",
        ended: null,
      });
      expect(await parts.consents.list("ana", { ...ALL, nowMs })).toEqual([granted]);
      expect(await parts.consents.list("bea", { ...ALL, nowMs })).toEqual([]);
    });

    it("D-5.5, D-5.4.4 grant() keeps nothing for a name without an account", async (parts, store) => {
      const nowMs = store.nowMs();
      const grant = { purpose: "profile_lookup", expiresAt: null, nowMs } as const;
      expect(await parts.consents.grant("ana", grant)).toBeNull();
      expect(await parts.consents.list("ana", { ...ALL, nowMs })).toEqual([]);
    });

    it("D-6.1 grant() supersedes the active consent of the same purpose only", async (parts, store) => {
      const scene = new Scene(parts, store);
      const first = await scene.consent("ana");
      const other = await scene.consent("ana", "profile_lookup");
      const someoneElses = await scene.consent("bea");
      await store.advance(1_000);
      const second = await scene.consent("ana");
      const nowMs = store.nowMs();
      expect(await parts.consents.list("ana", { ...ALL, nowMs })).toEqual([
        second,
        other,
        { ...first, ended: { as: "superseded", at: "2026-03-01T12:00:01Z" } },
      ]);
      expect(await parts.consents.list("bea", { ...ALL, nowMs })).toEqual([someoneElses]);
    });

    timed(
      "D-6.3 what was revoked after its expiry allows nothing, also before that by another clock",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        await scene.enrol("ana");
        const { hash } = await scene.giveKey("ana");
        const grant = {
          purpose: "reputation_lookup" as const,
          expiresAt: "2026-03-01T12:00:10Z",
        };
        const { id } = await scene.grant("ana", grant);
        expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
        const aheadMs = store.nowMs() + 60_000;
        const revoked = await parts.consents.revoke("ana", { id, nowMs: aheadMs });
        expect(revoked?.ended?.as).toBe("expired");
        expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("consent_required");
        expect(await parts.consents.list("ana", { ...ALL, nowMs: store.nowMs() })).toEqual([
          revoked as never,
        ]);
      },
    );

    it("D-6.1 grant() leaves an expired consent expired", async (parts, store) => {
      const grant = {
        purpose: "reputation_lookup" as const,
        expiresAt: "2026-03-01T12:00:01Z",
      };
      const expired = await new Scene(parts, store).grant("ana", grant);
      await store.advance(1_000);
      await new Scene(parts, store).consent("ana");
      const query = { ...ALL, filter: { status: "expired" as const, purpose: null } };
      const nowMs = store.nowMs();
      expect(await parts.consents.list("ana", { ...query, nowMs })).toEqual([expired]);
    });

    it.everywhere("D-6.1 of grants at once exactly one stays active", async (parts, store) => {
      const scene = new Scene(parts, store);
      await Promise.all(Array.from({ length: 10 }, () => scene.consent("ana")));
      const list = await parts.consents.list("ana", { ...ALL, nowMs: store.nowMs() });
      expect(list.length).toBe(10);
      expect(list.filter(({ ended }) => ended === null)).toEqual(list.slice(0, 1));
    });

    it("D-11.7 the 1,000 consents that ended last stay, and older ones are as if they had never been", async (parts, store) => {
      const scene = new Scene(parts, store);
      const nowMs = store.nowMs();
      const first = await scene.consent("ana", "profile_lookup");
      const superseded = await scene.consent("ana");
      for (let n = 0; n < 1_000; n++) await scene.consent("ana");
      const all = { ...ALL, limit: 2_000, nowMs };
      const count = async () => (await parts.consents.list("ana", all)).length;
      expect(await count()).toBe(1_002);
      expect((await parts.consents.revoke("ana", { id: superseded.id, nowMs }))?.ended?.as).toBe(
        "superseded",
      );
      await parts.consents.revoke("ana", { id: first.id, nowMs: nowMs + 1 });
      expect(await parts.consents.revoke("ana", { id: superseded.id, nowMs })).toBeNull();
      expect(await count()).toBe(1_001);
      await scene.consent("ana");
      expect(await count()).toBe(1_001);
      const list = await parts.consents.list("ana", all);
      expect(list.at(-1)?.id).toBe(first.id);
      expect(list.filter(({ ended }) => ended === null)).toEqual(list.slice(0, 1));
    });

    it("D-6.1 revoke() ends a consent, is idempotent, and takes only the owner's", async (parts, store) => {
      const { id } = await new Scene(parts, store).consent("ana");
      expect(await parts.consents.revoke("bea", { id, nowMs: store.nowMs() })).toBeNull();
      expect(await parts.consents.revoke("ana", { id: id + 1, nowMs: store.nowMs() })).toBeNull();
      const revoked = await parts.consents.revoke("ana", { id, nowMs: store.nowMs() });
      expect(revoked?.ended).toEqual({ as: "revoked", at: "2026-03-01T12:00:00Z" });
      await store.advance(5_000);
      expect(await parts.consents.revoke("ana", { id, nowMs: store.nowMs() })).toEqual(revoked);
    });

    it("D-6.1 revoke() leaves the status of one that was superseded", async (parts, store) => {
      const scene = new Scene(parts, store);
      const { id } = await scene.consent("ana");
      await scene.consent("ana");
      const ended = await parts.consents.revoke("ana", { id, nowMs: store.nowMs() });
      expect(ended?.ended?.as).toBe("superseded");
    });

    it("D-6.1 list() is newest first, in parts, with filters", async (parts, store) => {
      const scene = new Scene(parts, store);
      const nowMs = store.nowMs();
      const ids: number[] = [];
      for (let i = 0; i < 7; i++) {
        ids.unshift(
          (await scene.consent("ana", i % 2 ? "profile_lookup" : "reputation_lookup")).id,
        );
      }
      const list = async (query: Partial<typeof ALL> & { beforeId?: number | null }) =>
        (await parts.consents.list("ana", { ...ALL, ...query, nowMs } as never)).map(
          ({ id }) => id,
        );
      expect(await list({})).toEqual(ids);
      expect(await list({ limit: 3 })).toEqual(ids.slice(0, 3));
      expect(await list({ limit: 3, beforeId: ids[2] as never })).toEqual(ids.slice(3, 6));
      expect(await list({ filter: { status: "active", purpose: null } as never })).toEqual(
        ids.slice(0, 2),
      );
      const profile = { status: "superseded", purpose: "profile_lookup" } as never;
      expect(await list({ filter: profile, limit: 1 })).toEqual([ids[3] as number]);
    });
  });
}
