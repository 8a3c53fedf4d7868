import { describe, expect } from "bun:test";
import { SUBJECTS } from "../../../src/repositories/account-collections.ts";
import { LOOKUP_LOG } from "../../../src/repositories/lookup-collections.ts";
import { openSecond, storeTests } from "../../contract/harness.ts";
import {
  type ReputationHarness,
  Scene,
  wordOf,
} from "../../contract/lookups/reputation-harness.ts";
import { reputationTests } from "../support/reputation-tests.ts";

const ALL_KEYS = { limit: 2_000, beforeId: null };
const ALL = { limit: 100, beforeId: null };

reputationTests(apiKeySuite);

/** What every `ApiKeyStore` does. */
function apiKeySuite(harness: ReputationHarness): void {
  const it = storeTests(harness);

  describe(`API keys`, () => {
    it("D-5.5 list() gives an account's keys as they were kept, newest first, in parts", async (parts, store) => {
      const scene = new Scene(parts, store);
      const first = await scene.giveKey("ana", { expiresAt: "2027-01-01T00:00:00Z" });
      const second = await scene.giveKey("ana");
      const third = await scene.giveKey("ana");
      await scene.giveKey("bea");
      expect(await parts.apiKeys.list("ana", ALL)).toEqual([third, second, first]);
      expect(await parts.apiKeys.list("ana", { ...ALL, limit: 2 })).toEqual([third, second]);
      expect(await parts.apiKeys.list("ana", { ...ALL, beforeId: second.id })).toEqual([first]);
      expect(await parts.apiKeys.list("ana", { ...ALL, beforeId: "unknown-id" })).toEqual([]);
    });

    it("D-5.5, D-5.4.4 create() keeps nothing for a name without an account", async (parts, store) => {
      const scene = new Scene(parts, store);
      const { id: _, ...key } = await scene.giveKey("bea");
      const another = { ...key, id: "k", username: "ana", hash: "h" };
      expect(await parts.apiKeys.create(another, store.nowMs())).toBe("no_account");
      expect(await parts.apiKeys.list("ana", ALL)).toEqual([]);
    });

    it("D-5.5 revoke() ends a key at once, is idempotent, and takes only the account's", async (parts, store) => {
      const key = await new Scene(parts, store).giveKey("ana");
      const nowMs = store.nowMs();
      expect(await parts.apiKeys.revoke("bea", { id: key.id, nowMs })).toBeNull();
      expect(await parts.apiKeys.revoke("ana", { id: "unknown-id", nowMs })).toBeNull();
      const revoked = { ...key, isRevoked: true, revokedAt: "2026-03-01T12:00:00Z" };
      expect(await parts.apiKeys.revoke("ana", { id: key.id, nowMs })).toEqual(revoked);
      for (const otherMs of [nowMs + 9_000, nowMs - 9_000]) {
        expect(await parts.apiKeys.revoke("ana", { id: key.id, nowMs: otherMs })).toEqual(revoked);
      }
      expect(await parts.apiKeys.list("ana", ALL)).toEqual([revoked]);
    });

    it("D-5.5 rotate() puts a key in place of another, which ends after the overlap", async (parts, store) => {
      const key = await new Scene(parts, store).giveKey("ana", {
        expiresAt: "2027-01-01T00:00:00Z",
      });
      const successor = { id: "key-new", hash: "new hash", prefix: "rep_live_", last4: "wxyz" };
      await store.advance(1_000);
      const rotation = { id: key.id, successor, overlapSeconds: 60, nowMs: store.nowMs() };
      const made = await parts.apiKeys.rotate("ana", rotation);
      expect(made).toEqual({ ...key, ...successor, createdAt: "2026-03-01T12:00:01Z" });
      expect(await parts.apiKeys.list("ana", ALL)).toEqual([
        made as never,
        { ...key, revokedAt: "2026-03-01T12:01:01Z" },
      ]);
    });

    it("D-5.5 rotate() of a key that is not active is a conflict and writes nothing", async (parts, store) => {
      const scene = new Scene(parts, store);
      const key = await scene.giveKey("ana");
      const nowMs = store.nowMs();
      const revoked = await parts.apiKeys.revoke("ana", { id: key.id, nowMs });
      const successor = { id: "key-new", hash: "new hash", prefix: "rep_live_", last4: "wxyz" };
      const rotation = { id: key.id, successor, overlapSeconds: 0, nowMs };
      expect(await parts.apiKeys.rotate("ana", rotation)).toBe("conflict");
      // Nor by a clock that was set back.
      const earlier = { ...rotation, nowMs: nowMs - 5_000 };
      expect(await parts.apiKeys.rotate("ana", earlier)).toBe("conflict");
      expect(await parts.apiKeys.rotate("bea", rotation)).toBeNull();
      expect(await parts.apiKeys.list("ana", ALL)).toEqual([revoked as never]);
    });

    it.everywhere(
      "D-11.7 create() makes 100 active keys, also of several made at once on two instances",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        for (let n = 0; n < 97; n++) await scene.giveKey("ana");
        const expired = await scene.giveKey("ana", { expiresAt: "2026-03-01T12:00:00Z" });
        const { id: _, hash: __, ...key } = await scene.giveKey("ana");
        const nowMs = store.nowMs();
        const instances =
          store.openSecond === undefined ? [parts] : [parts, await openSecond(store)];
        const made = await Promise.all(
          Array.from({ length: 8 }, (_, n) => {
            const { apiKeys } = instances[n % instances.length] ?? parts;
            return apiKeys.create({ ...key, id: `key-${n}`, hash: `h${n}` }, nowMs);
          }),
        );
        expect(made.sort()).toEqual(["created", "created", ...Array(6).fill("full")]);
        const keys = await parts.apiKeys.list("ana", ALL_KEYS);
        expect([keys.length, keys.filter(({ id }) => id !== expired.id).length]).toEqual([
          101, 100,
        ]);
        // Whoever has 100 rotates them all the same, and another account has its own 100.
        const [newest] = keys;
        const rotation = {
          ...{ id: newest?.id ?? "", nowMs, overlapSeconds: 60 },
          successor: { id: "key-new", hash: "new", prefix: "rep_live_", last4: "wxyz" },
        };
        expect(await parts.apiKeys.rotate("ana", rotation)).toMatchObject({ id: "key-new" });
        await scene.giveKey("bea");
        expect(await parts.apiKeys.create({ ...key, id: "k", hash: "h" }, nowMs)).toBe("full");
        await parts.apiKeys.revoke("ana", { id: "key-new", nowMs });
        expect(await parts.apiKeys.create({ ...key, id: "k", hash: "h" }, nowMs)).toBe("full");
        await parts.apiKeys.revoke("ana", { id: newest?.id ?? "", nowMs });
        expect(await parts.apiKeys.create({ ...key, id: "k", hash: "h" }, nowMs)).toBe("created");
      },
    );

    it("D-11.7 the 1,000 keys that ended last stay, and older ones are as if they had never been", async (parts, store) => {
      const scene = new Scene(parts, store);
      await scene.enrol("bea");
      const nowMs = store.nowMs();
      const wordOfKey = async (hash: string) => wordOf(await scene.lookUp(hash, "bea"));
      const active = await scene.giveKey("ana");
      // Made first, ended last.
      const long = await scene.giveKey("ana");
      const endOf = (n: number) => new Date(nowMs - 2_000_000 + n * 1_000).toISOString();
      for (let n = 0; n < 1_000; n++) {
        const isExpired = n % 2 === 0;
        const at = endOf(n).replace(".000Z", "Z");
        const ended = isExpired ? { expiresAt: at } : { revokedAt: at, isRevoked: true };
        await scene.giveKey("ana", { id: `ended-${n}`, hash: `ended ${n}`, ...ended });
      }
      expect(await wordOfKey("ended 0")).toBe("api_key_expired");
      expect(await wordOfKey("ended 1")).toBe("api_key_revoked");
      await wordOfKey(active.hash);
      await parts.storage.documents.transact({ name: "test.put" }, async (tx) => {
        const [[subject]] = await tx.read({ from: SUBJECTS, keys: [["ana"]] });
        const accountId = subject?.id ?? "";
        for (const keyId of ["ended-0", "ended-2"]) {
          tx.put(LOOKUP_LOG, { kind: "key_use", accountId, keyId, minute: 1 });
        }
      });
      const used = async () => [...(await parts.usage.keyUses("ana")).keys()].toSorted();
      expect(await used()).toEqual(["ended-0", "ended-2", active.id].toSorted());
      await parts.apiKeys.revoke("ana", { id: long.id, nowMs });
      expect(await used()).toEqual(["ended-2", active.id].toSorted());
      expect(await wordOfKey("ended 0")).toBe("api_key_invalid");
      expect(await wordOfKey("ended 1")).toBe("api_key_revoked");
      const successor = { id: "key-new", hash: "new", prefix: "rep_live_", last4: "wxyz" };
      const rotation = { id: active.id, nowMs, overlapSeconds: 0, successor };
      await parts.apiKeys.rotate("ana", rotation);
      expect(await wordOfKey("ended 1")).toBe("api_key_invalid");
      expect(await wordOfKey(long.hash)).toBe("api_key_revoked");
      expect(await wordOfKey(active.hash)).toBe("api_key_revoked");
      expect(await parts.apiKeys.revoke("ana", { id: "ended-1", nowMs })).toBeNull();
      expect(await parts.apiKeys.rotate("ana", { ...rotation, id: "ended-1" })).toBeNull();
      const kept = await parts.apiKeys.list("ana", ALL_KEYS);
      expect(kept.length).toBe(1_001);
      expect(kept.at(-1)?.id).toBe(active.id);
    });

    it.everywhere(
      "D-5.5 of rotations at once exactly one succeeds without overlap",
      async (parts, store) => {
        const key = await new Scene(parts, store).giveKey("ana");
        const outcomes = await Promise.all(
          Array.from({ length: 8 }, (_, i) => {
            const successor = {
              id: `key-new-${i}`,
              hash: `h${i}`,
              prefix: "rep_live_",
              last4: "wxyz",
            };
            const nowMs = store.nowMs();
            return parts.apiKeys.rotate("ana", { id: key.id, successor, overlapSeconds: 0, nowMs });
          }),
        );
        expect(outcomes.filter((outcome) => outcome === "conflict").length).toBe(7);
        expect((await parts.apiKeys.list("ana", ALL)).length).toBe(2);
      },
    );
  });
}
