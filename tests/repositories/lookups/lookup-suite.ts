import { describe, expect, spyOn } from "bun:test";
import { ACCOUNTS } from "../../../src/repositories/account-collections.ts";
import { LOOKUP_LOG } from "../../../src/repositories/lookup-collections.ts";
import { openSecond, storeTests, timedTests } from "../../contract/harness.ts";
import {
  BY_ROOT,
  NO_DEADLINE,
  PLATFORM_ACCOUNTS,
  PROFILES,
  type ReputationHarness,
  Scene,
  wordOf,
} from "../../contract/lookups/reputation-harness.ts";
import { accessLog } from "../../support/audit-views.ts";
import { failureOf } from "../../support/failures.ts";
import { limitTests } from "./limit-suite.ts";
import { makeCaller } from "./make-caller.ts";

/** What a `LookupProcessor` decides on every store. */
export function lookupSuite(harness: ReputationHarness): void {
  describe("lookups", () => {
    decisionTests(harness);
    freshnessTests(harness);
    limitTests(harness);
  });
}

function decisionTests(harness: ReputationHarness): void {
  const it = storeTests(harness);
  const timed = timedTests(harness);

  it("D-5.8 decide() checks key, limits, profile and consent in this order", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await makeCaller(scene, { plan: "enterprise", rateLimitPerMinute: 3 });
    expect(wordOf(await scene.lookUp("unknown", "nobody"))).toBe("api_key_invalid");
    expect(wordOf(await scene.lookUp(hash, "nobody"))).toBe("profile_not_found");
    expect(wordOf(await scene.lookUp(hash, "caller"))).toBe("consent_required");
    await scene.consent("caller");
    expect(wordOf(await scene.lookUp(hash, "caller"))).toBe("allowed");
    expect(wordOf(await scene.lookUp(hash, "nobody"))).toBe("rate_limited");
    expect(wordOf(await scene.lookUp("unknown", "nobody"))).toBe("api_key_invalid");
  });

  timed(
    "D-5.8 a key is refused when it has expired, is revoked, or has no account",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      await makeCaller(scene);
      const expiring = await scene.giveKey("caller", { expiresAt: "2026-03-01T12:00:01Z" });
      const orphan = await scene.giveKey("nobody");
      await parts.storage.documents.transact({ name: "test.remove" }, async (tx) => {
        tx.remove(ACCOUNTS, ["nobody"]);
      });
      expect(wordOf(await scene.lookUp(expiring.hash, "x"))).toBe("profile_not_found");
      await store.advance(1_000);
      expect(wordOf(await scene.lookUp(expiring.hash, "x"))).toBe("api_key_expired");
      await parts.apiKeys.revoke("caller", { id: expiring.id, nowMs: store.nowMs() });
      expect(wordOf(await scene.lookUp(expiring.hash, "x"))).toBe("api_key_revoked");
      expect(wordOf(await scene.lookUp(orphan.hash, "x"))).toBe("api_key_invalid");
    },
  );

  it("D-8.3 what takes time of a reply is made before the decision is confirmed", async (parts, store) => {
    const { hash } = await makeCaller(new Scene(parts, store));
    const call = { keyHash: hash, endpoint: "profile", username: "x", requestId: "r" } as const;
    // The process stands still, as a long computation makes it.
    const standStill = () => {
      Bun.sleepSync(1_001);
      return performance.now();
    };
    const decided = parts.lookupProcessor.decide([call], Number.POSITIVE_INFINITY, standStill);
    const { value: madeAtMs, confirmedAtMs } = await decided;
    expect(confirmedAtMs).toBeGreaterThanOrEqual(madeAtMs);
  });

  it.everywhere(
    "D-8.3 a late reply is sent where rows came meanwhile, and is 503 where a right went",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const { hash, id: keyId } = await makeCaller(scene);
      const { id } = await scene.consent("caller");
      const { documents } = parts.storage;
      /** A lookup that takes long, and what happens before it is confirmed. */
      const lookUpLate = async (
        requestId: string,
        meanwhile: () => Promise<unknown>,
        username = "caller",
      ) => {
        const read = documents.read.bind(documents);
        const spied = spyOn(documents, "read").mockImplementation(async (options, work) => {
          if (options.name === "lookups.confirm") {
            spied.mockRestore();
            await meanwhile();
          }
          return await read(options, work);
        });
        const call = { keyHash: hash, endpoint: "profile", username, requestId } as const;
        const decided = await parts.lookupProcessor.decide([call], NO_DEADLINE, (outcomes) => {
          Bun.sleepSync(1_001);
          return outcomes;
        });
        return decided.value;
      };
      const row = { username: "caller", created_at: "2020-01-01T00:00:00Z" };
      const outcomes = await lookUpLate("r1", () => scene.push(PROFILES, row));
      expect(outcomes.map(wordOf)).toEqual(["allowed"]);
      const nowMs = store.nowMs();
      const went = { kind: "store_unavailable" };
      const revokeKey = () => parts.apiKeys.revoke("caller", { id: keyId, nowMs });
      const revoke = () => parts.consents.revoke("caller", { id, nowMs });
      expect(await failureOf(lookUpLate("r2", revoke))).toMatchObject(went);
      const { id: second } = await scene.consent("caller");
      const giveAnew = async () => {
        await parts.consents.revoke("caller", { id: second, nowMs });
        await scene.consent("caller");
      };
      expect(await failureOf(lookUpLate("r3", giveAnew))).toMatchObject(went);
      await scene.enrol("bea");
      await scene.consent("bea");
      const replaceBea = async () => {
        await parts.membership.erase("bea");
        await parts.administration.release("bea", BY_ROOT);
        await scene.enrol("bea");
        await scene.consent("bea");
      };
      expect(await failureOf(lookUpLate("r4", replaceBea, "bea"))).toMatchObject(went);
      expect(await failureOf(lookUpLate("r5", revokeKey))).toMatchObject(went);
    },
  );

  it("D-6.3, D-5.6.1 a key that was revoked stays so when the clock goes back", async (parts, store) => {
    const scene = new Scene(parts, store);
    const key = await makeCaller(scene);
    await parts.apiKeys.revoke("caller", { id: key.id, nowMs: store.nowMs() + 60_000 });
    expect(wordOf(await scene.lookUp(key.hash, "x"))).toBe("api_key_revoked");
  });

  it("D-6.1 reputation_lookup covers all three lookups, the others only their own", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await makeCaller(scene);
    const words = async (username: string) => [
      wordOf(await scene.lookUp(hash, username, "reputation")),
      wordOf(await scene.lookUp(hash, username, "profile")),
      wordOf(await scene.lookUp(hash, username, "platforms")),
    ];
    const no = "consent_required";
    await scene.consent("caller", "profile_lookup");
    expect(await words("caller")).toEqual([no, "allowed", no]);
    await scene.consent("caller", "platforms_lookup");
    expect(await words("caller")).toEqual([no, "allowed", "allowed"]);
    await scene.enrol("bea");
    await scene.consent("bea");
    expect(await words("bea")).toEqual(["allowed", "allowed", "allowed"]);
  });

  it("D-6.2 a profile that is not public is not found", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await makeCaller(scene);
    await scene.consent("caller");
    await parts.profiles.change("caller", { public: false }, store.nowMs());
    expect(wordOf(await scene.lookUp(hash, "caller"))).toBe("profile_not_found");
  });

  it("D-5.8 the calls of one batch are decided as if one after the other", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await makeCaller(scene, { plan: "enterprise", rateLimitPerMinute: 4 });
    await scene.enrol("bea");
    const bea = await scene.giveKey("bea");
    const mine = { keyHash: hash, username: "x" };
    const hers = { keyHash: bea.hash, username: "x" };
    const bad = { keyHash: "unknown", username: "x" };
    const outcomes = await scene.lookUpMany([mine, hers, mine, bad, mine, mine, hers, mine]);
    const no = "profile_not_found";
    expect(outcomes.map(wordOf)).toEqual([
      ...[no, no, no, "api_key_invalid", no, no, no],
      "rate_limited",
    ]);
    const left = outcomes.map((one) =>
      one.kind === "key_refused" ? null : one.quotas.minute.remaining,
    );
    expect(left).toEqual([3, 29, 2, null, 1, 0, 28, 0]);
  });

  it.everywhere(
    "D-6.5 a copy of the process that goes on with its chain is refused, and begins another",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const { hash } = await makeCaller(scene);
      await scene.lookUp(hash, "x");
      const [head] = await parts.audit.heads();
      const { chainId = "", seq = 0 } = head?.statement ?? {};
      const { documents } = parts.storage;
      await documents.transact({ name: "test.move" }, async (tx) => {
        const [[stored]] = await tx.read({ from: LOOKUP_LOG, keys: [["head", chainId]] });
        if (stored?.kind === "head") tx.put(LOOKUP_LOG, { ...stored, seq: seq + 1 });
      });
      const failure = await scene.lookUp(hash, "x").catch((error) => error.kind);
      expect(failure).toBe("commit_failed");
      expect(wordOf(await scene.lookUp(hash, "x"))).toBe("profile_not_found");
      expect((await parts.audit.heads()).length).toBe(2);
      const limits = { callsPerMinute: 30, callsPerMonth: null };
      expect((await parts.usage.read("caller", limits)).reading.minuteCalls).toBe(2);
    },
  );

  it("D-6.5 names, texts and requests of any kind are kept and answered", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await makeCaller(scene);
    const names = [
      "__proto__",
      "constructor",
      "a'b\"c;--",
      "日本語🙂",
      "a\u0000b",
      " ",
      "x".repeat(200),
    ];
    for (const username of names) {
      await scene.push(PROFILES, { username });
      await scene.consent(username);
      expect(wordOf(await scene.lookUp(hash, username))).toBe("allowed");
      expect(
        (await accessLog(parts.auditSearch, username, { limit: 9, before: null })).length,
      ).toBe(1);
    }
  });
}

function freshnessTests(harness: ReputationHarness): void {
  const it = storeTests(harness);

  it("D-6.7 a pushed profile or platform account shows in the next lookup", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await makeCaller(scene);
    await scene.consent("caller");
    const subject = async () => {
      const outcome = await scene.lookUp(hash, "caller");
      if (outcome.kind !== "answered") throw new Error(outcome.kind);
      return outcome.subject;
    };
    expect((await subject()).accounts).toEqual([]);
    await scene.push(PLATFORM_ACCOUNTS, {
      username: "caller",
      platform: "github",
      activity_count: 1,
    });
    expect((await subject()).accounts).toMatchObject([{ platform: "github", activity_count: 1 }]);
    await scene.push(PLATFORM_ACCOUNTS, {
      username: "caller",
      platform: "github",
      activity_count: 2,
    });
    expect((await subject()).accounts).toMatchObject([{ activity_count: 2 }]);
    await scene.push(PROFILES, { username: "caller", created_at: "2020-01-01T00:00:00Z" });
    expect((await subject()).profile).toMatchObject({ created_at: "2020-01-01T00:00:00Z" });
  });

  it("D-5.7 a change of plan counts for the next call", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await makeCaller(scene);
    const limitOf = async () => {
      const outcome = await scene.lookUp(hash, "x");
      return outcome.kind === "key_refused" ? null : outcome.quotas.minute.limit;
    };
    expect(await limitOf()).toBe(30);
    await scene.setPlan("caller", { plan: "business" });
    expect(await limitOf()).toBe(600);
  });

  if (!harness.options.isShared) return;

  it.everywhere(
    "D-6.3 changes by one instance are seen by the other at once",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const other = new Scene(await openSecond(store), store);
      const key = await makeCaller(scene, { plan: "business" });
      for (let round = 0; round < 20; round++) {
        const [writer, reader] = round % 2 === 0 ? [scene, other] : [other, scene];
        const { id } = await writer.consent("caller");
        expect(wordOf(await reader.lookUp(key.hash, "caller"))).toBe("allowed");
        await writer.parts.consents.revoke("caller", { id, nowMs: store.nowMs() });
        expect(wordOf(await reader.lookUp(key.hash, "caller"))).toBe("consent_required");
      }
      await other.parts.apiKeys.revoke("caller", { id: key.id, nowMs: store.nowMs() });
      expect(wordOf(await scene.lookUp(key.hash, "caller"))).toBe("api_key_revoked");
    },
  );
}
