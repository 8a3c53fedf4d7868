import { describe, expect } from "bun:test";
import { AlertOutbox } from "../../../src/repositories/alert-outbox.ts";
import { type OpenedStore, openSecond, storeTests, timedTests } from "../../contract/harness.ts";
import {
  type ReputationHarness,
  type ReputationParts,
  Scene,
} from "../../contract/lookups/reputation-harness.ts";
import { reputationTests } from "../support/reputation-tests.ts";

const TEN_A_MONTH = { plan: "enterprise", callsPerMonth: 10, rateLimitPerMinute: 6_000 } as const;
const SUCCESSOR = { id: "key-new", hash: "new hash", prefix: "rep_live_", last4: "wxyz" };

reputationTests(accountAlertSuite);

/** What every store tells of keys and quotas, in the commits that change them. */
function accountAlertSuite(harness: ReputationHarness): void {
  const it = storeTests(harness);
  const timed = timedTests(harness);

  describe(`alerts of accounts`, () => {
    it("D-10.12 a key that is revoked is told once", async (parts, store) => {
      const key = await new Scene(parts, store).giveKey("ana", { name: "shop" });
      for (const nowMs of [store.nowMs(), store.nowMs() + 5]) {
        await parts.apiKeys.revoke("ana", { id: key.id, nowMs });
        await parts.apiKeys.revoke("bea", { id: key.id, nowMs });
      }
      const told = { type: "key.revoked", account: "ana", key_id: key.id, name: "shop" };
      expect(await alerts(parts)).toEqual([told]);
    });

    it("D-10.12 a rotation tells that only, and the end of its overlap nothing", async (parts, store) => {
      const scene = new Scene(parts, store);
      const nowMs = store.nowMs();
      const at = { successor: SUCCESSOR, nowMs };
      const first = await scene.giveKey("ana", { name: "at once" });
      await parts.apiKeys.rotate("ana", { ...at, id: first.id, overlapSeconds: 0 });
      await parts.apiKeys.rotate("ana", { ...at, id: first.id, overlapSeconds: 0 });
      await parts.apiKeys.revoke("ana", { id: first.id, nowMs });
      const second = await scene.giveKey("ana", { name: "later" });
      const successor = { ...SUCCESSOR, id: "key-newer", hash: "newer hash" };
      await parts.apiKeys.rotate("ana", { ...at, successor, id: second.id, overlapSeconds: 60 });
      await parts.apiKeys.revoke("ana", { id: second.id, nowMs: nowMs + 60_000 });
      const rotated = { type: "key.rotated", account: "ana" };
      expect(await alerts(parts)).toEqual([
        { ...rotated, key_id: first.id, name: "at once" },
        { ...rotated, key_id: second.id, name: "later" },
      ]);
    });

    it("D-10.12 a key that is revoked before its overlap is over is told", async (parts, store) => {
      const key = await new Scene(parts, store).giveKey("ana");
      const nowMs = store.nowMs();
      const rotation = { id: key.id, successor: SUCCESSOR, overlapSeconds: 60, nowMs };
      await parts.apiKeys.rotate("ana", rotation);
      await parts.apiKeys.revoke("ana", { id: key.id, nowMs: nowMs + 59_000 });
      expect((await alerts(parts)).map(({ type }) => type)).toEqual(["key.rotated", "key.revoked"]);
    });

    timed(
      "D-10.12 a quota is told at 80 and at 100 percent, once each a month",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        await scene.enrol("caller", TEN_A_MONTH);
        const { hash } = await scene.giveKey("caller");
        const told = async (calls: number) => {
          for (let i = 0; i < calls; i++) await scene.lookUp(hash, "nobody");
          return await alerts(parts);
        };
        const quota = { account: "caller", limit: 10, month: "2026-03" };
        const [at80, at100] = [
          { ...quota, type: "quota.80", used: 8 },
          { ...quota, type: "quota.100", used: 10 },
        ];
        expect(await told(7)).toEqual([]);
        expect(await told(2)).toEqual([at80]);
        expect(await told(4)).toEqual([at80, at100]);
        await store.advance(31 * 86_400_000);
        expect(await told(8)).toEqual([at80, at100, { ...at80, month: "2026-04" }]);
      },
    );

    it("D-10.12 one batch may reach both, and a greater limit reaches them again not", async (parts, store) => {
      const scene = new Scene(parts, store);
      await scene.enrol("caller", TEN_A_MONTH);
      const { hash } = await scene.giveKey("caller");
      const batch = Array.from({ length: 12 }, () => ({ keyHash: hash, username: "nobody" }));
      await scene.lookUpMany(batch);
      const both = [
        ["quota.80", 8],
        ["quota.100", 10],
      ];
      const told = async () => (await alerts(parts)).map(({ type, used }) => [type, used]);
      expect(await told()).toEqual(both);
      await scene.setPlan("caller", { callsPerMonth: 13 });
      await scene.lookUpMany(batch);
      expect(await told()).toEqual(both);
    });

    it("D-10.12 a limit that was lowered is told with the next call, no limit never", async (parts, store) => {
      const scene = new Scene(parts, store);
      await scene.enrol("caller", { ...TEN_A_MONTH, callsPerMonth: null });
      const { hash } = await scene.giveKey("caller");
      for (let i = 0; i < 8; i++) await scene.lookUp(hash, "nobody");
      expect(await alerts(parts)).toEqual([]);
      await scene.setPlan("caller", { callsPerMonth: 10 });
      await scene.lookUp(hash, "nobody");
      expect(await alerts(parts)).toMatchObject([{ type: "quota.80", used: 9 }]);
    });

    it("D-10.12 an erasure drops what waits for the person, nothing else", async (parts, store) => {
      const scene = new Scene(parts, store);
      for (const username of ["ana", "bea"]) {
        await scene.enrol(username, TEN_A_MONTH);
        const { id, hash } = await scene.giveKey(username);
        const batch = Array.from({ length: 8 }, () => ({ keyHash: hash, username: "nobody" }));
        await scene.lookUpMany(batch);
        await parts.apiKeys.revoke(username, { id, nowMs: store.nowMs() });
      }
      expect(await alerts(parts)).toHaveLength(4);
      expect(await parts.membership.erase("ana")).toBe("erased");
      const left = await alerts(parts);
      expect(left.map(({ type, account }) => `${type} ${account}`)).toEqual([
        "quota.80 bea",
        "key.revoked bea",
      ]);
    });

    if (!harness.options.isShared) return;

    it.everywhere("D-10.12 of several instances one tells a quota", async (parts, store) => {
      const scene = new Scene(parts, store);
      await scene.enrol("caller", TEN_A_MONTH);
      const { hash } = await scene.giveKey("caller");
      const instances = [scene, await sceneOfSecond(store)];
      const looking = Array.from({ length: 12 }, (_, i) =>
        instances[i % 2]?.lookUp(hash, "nobody"),
      );
      await Promise.all(looking);
      expect((await alerts(parts)).map(({ type }) => type).sort()).toEqual([
        "quota.100",
        "quota.80",
      ]);
    });
  });
}

async function sceneOfSecond(store: OpenedStore<ReputationParts>): Promise<Scene> {
  return new Scene(await openSecond(store), store);
}

/** What the alerts that wait tell, without ids and times. */
async function alerts({ storage }: ReputationParts) {
  const found = await new AlertOutbox(storage.documents).due(0, 100);
  // As they were made; a store may give those of one time in any order.
  const made = [...found].sort((a, b) => numberOf(a.id) - numberOf(b.id));
  return made.map(({ body }) => {
    const { id: _, at: __, ...told } = JSON.parse(body);
    return told;
  });
}

function numberOf(id: string): number {
  return Number(id.replace("alert-", ""));
}
