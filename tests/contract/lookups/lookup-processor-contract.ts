import { describe, expect } from "bun:test";
import { callsByDay, lastUsedAt } from "../../../src/domain/reputation/accounts/call-history.ts";
import { decideCall, NO_USAGE } from "../../domain/reputation/accounts/sliding-window.ts";
import { SEED } from "../../support/seed.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { openSecond, storeTests, timedTests } from "../harness.ts";
import {
  PLATFORM_ACCOUNTS,
  PROFILES,
  type ReputationHarness,
  Scene,
  wordOf,
} from "./reputation-harness.ts";

const DAY_MS = 86_400_000;

/** What every `LookupProcessor` decides. */
export function lookupProcessorContract(harness: ReputationHarness): void {
  describe(`${harness.name}: lookups`, () => {
    decisionTests(harness);
    freshnessTests(harness);
    limitTests(harness);
  });
}

async function caller(scene: Scene, plan: object = {}) {
  await scene.enrol("caller", plan);
  return await scene.giveKey("caller");
}

function decisionTests(harness: ReputationHarness): void {
  const it = storeTests(harness);
  const timed = timedTests(harness);

  it("D-5.8 decide() checks key, limits, profile and consent in this order", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await caller(scene, { plan: "enterprise", rateLimitPerMinute: 3 });
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
      await caller(scene);
      const expiring = await scene.giveKey("caller", { expiresAt: "2026-03-01T12:00:01Z" });
      const orphan = await scene.giveKey("nobody");
      await parts.storage.accounts.remove("nobody");
      expect(wordOf(await scene.lookUp(expiring.hash, "x"))).toBe("profile_not_found");
      await store.advance(1_000);
      expect(wordOf(await scene.lookUp(expiring.hash, "x"))).toBe("api_key_expired");
      await parts.apiKeys.revoke("caller", { id: expiring.id, nowMs: store.nowMs() });
      expect(wordOf(await scene.lookUp(expiring.hash, "x"))).toBe("api_key_revoked");
      expect(wordOf(await scene.lookUp(orphan.hash, "x"))).toBe("api_key_invalid");
    },
  );

  it("D-6.3, D-5.6.1 a key that was revoked stays so when the clock goes back", async (parts, store) => {
    const scene = new Scene(parts, store);
    const key = await caller(scene);
    await parts.apiKeys.revoke("caller", { id: key.id, nowMs: store.nowMs() + 60_000 });
    expect(wordOf(await scene.lookUp(key.hash, "x"))).toBe("api_key_revoked");
  });

  it("D-6.1 reputation_lookup covers all three lookups, the others only their own", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await caller(scene);
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
    const { hash } = await caller(scene);
    await scene.consent("caller");
    await parts.profiles.change("caller", { public: false }, store.nowMs());
    expect(wordOf(await scene.lookUp(hash, "caller"))).toBe("profile_not_found");
  });

  it("D-5.8 the calls of one batch are decided as if one after the other", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await caller(scene, { plan: "enterprise", rateLimitPerMinute: 4 });
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

  it("D-6.5 names, texts and requests of any kind are kept and answered", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await caller(scene);
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
      expect((await parts.audit.accessLog(username, { limit: 9, before: null })).length).toBe(1);
    }
  });
}

function freshnessTests(harness: ReputationHarness): void {
  const it = storeTests(harness);

  it("D-6.7 a pushed profile or platform account shows in the next lookup", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await caller(scene);
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
    const { hash } = await caller(scene);
    const limitOf = async () => {
      const outcome = await scene.lookUp(hash, "x");
      return outcome.kind === "key_refused" ? null : outcome.quotas.minute.limit;
    };
    expect(await limitOf()).toBe(30);
    await scene.setPlan("caller", { plan: "business" });
    expect(await limitOf()).toBe(600);
  });

  if (!harness.options.isShared) return;

  it("D-6.3 changes by one instance are seen by the other at once", async (parts, store) => {
    const scene = new Scene(parts, store);
    const other = new Scene(await openSecond(store), store);
    const key = await caller(scene, { plan: "business" });
    for (let round = 0; round < 20; round++) {
      const [writer, reader] = round % 2 === 0 ? [scene, other] : [other, scene];
      const { id } = await writer.consent("caller");
      expect(wordOf(await reader.lookUp(key.hash, "caller"))).toBe("allowed");
      await writer.parts.consents.revoke("caller", { id, nowMs: store.nowMs() });
      expect(wordOf(await reader.lookUp(key.hash, "caller"))).toBe("consent_required");
    }
    await other.parts.apiKeys.revoke("caller", { id: key.id, nowMs: store.nowMs() });
    expect(wordOf(await scene.lookUp(key.hash, "caller"))).toBe("api_key_revoked");
  });
}

function limitTests(harness: ReputationHarness): void {
  const it = storeTests(harness);
  const timed = timedTests(harness);

  it("R-8 the free plan allows 30 calls a minute, all keys together, and 29 are never refused", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await caller(scene);
    const { hash: second } = await scene.giveKey("caller");
    const calls = Array.from({ length: 29 }, (_, i) => ({
      keyHash: i % 2 ? hash : second,
      username: "x",
    }));
    const outcomes = await scene.lookUpMany(calls);
    expect(outcomes.map(wordOf)).toEqual(Array(29).fill("profile_not_found"));
    expect(wordOf(await scene.lookUp(hash, "x"))).toBe("profile_not_found");
    expect(wordOf(await scene.lookUp(second, "x"))).toBe("rate_limited");
  });

  timed(
    "D-6.4 calls come back when the 60 seconds are over, at that moment and not before",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const { hash } = await caller(scene, { plan: "enterprise", rateLimitPerMinute: 2 });
      const call = async () => wordOf(await scene.lookUp(hash, "x"));
      expect(await call()).toBe("profile_not_found");
      await store.advance(10_000);
      expect([await call(), await call()]).toEqual(["profile_not_found", "rate_limited"]);
      await store.advance(49_999);
      expect(await call()).toBe("rate_limited");
      await store.advance(1);
      expect([await call(), await call()]).toEqual(["profile_not_found", "rate_limited"]);
    },
  );

  timed(
    "D-6.4 the month is the calendar month in UTC, and goes before the minute",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const plan = { plan: "enterprise", callsPerMonth: 3, rateLimitPerMinute: 3 };
      const { hash } = await caller(scene, plan);
      const call = async () => wordOf(await scene.lookUp(hash, "x"));
      const no = "profile_not_found";
      expect([await call(), await call(), await call(), await call()]).toEqual([
        no,
        no,
        no,
        "quota_exceeded",
      ]);
      // 30 days, 12 hours: the last moment of March.
      await store.advance(31 * DAY_MS - 12 * 3_600_000 - 1);
      expect(await call()).toBe("quota_exceeded");
      await store.advance(1);
      expect([await call(), await call(), await call(), await call()]).toEqual([
        no,
        no,
        no,
        "quota_exceeded",
      ]);
    },
  );

  timed(
    "D-8.11 history() has the answered calls by day, and the last use of each key",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const { hash, id } = await caller(scene, { plan: "enterprise", callsPerMonth: 6 });
      const other = await scene.giveKey("caller");
      const unused = await scene.giveKey("caller");
      expect(callsByDay(await parts.usage.history("caller"), store.nowMs()).length).toBe(31);
      await scene.enrol("ana");
      await scene.consent("ana");
      const to = (keyHash: string, username: string) => ({ keyHash, username });
      await scene.lookUpMany([to(hash, "ana"), to(hash, "x"), to(other.hash, "ana")]);
      expect(await parts.usage.history("ana")).toEqual({ days: "", keys: "" });
      await store.advance(DAY_MS + 90_000);
      await scene.lookUpMany([to(hash, "ana"), to(hash, "ana"), to(hash, "x")]);
      expect(wordOf(await scene.lookUp(other.hash, "ana"))).toBe("quota_exceeded");
      const history = await parts.usage.history("caller");
      expect(callsByDay(history, store.nowMs()).slice(-3)).toEqual([
        { date: "2026-02-28", calls: 0, denied: 0 },
        { date: "2026-03-01", calls: 3, denied: 1 },
        { date: "2026-03-02", calls: 3, denied: 1 },
      ]);
      expect([id, other.id, unused.id].map((key) => lastUsedAt(history, key))).toEqual([
        "2026-03-02T12:01:00Z",
        "2026-03-01T12:00:00Z",
        null,
      ]);
    },
  );

  timed(
    "D-8.4 calls made while a clock was a year ahead shut nobody out, though they were all of the month",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const plan = { plan: "enterprise", callsPerMonth: 2, rateLimitPerMinute: 9 };
      const { hash } = await caller(scene, plan);
      const call = async () => wordOf(await scene.lookUp(hash, "x"));
      await store.advance(365 * DAY_MS);
      expect([await call(), await call()]).toEqual(["profile_not_found", "profile_not_found"]);
      await store.advance(-365 * DAY_MS);
      expect([await call(), await call()]).toEqual(["quota_exceeded", "quota_exceeded"]);
      await store.advance(31 * DAY_MS);
      expect([await call(), await call(), await call()]).toEqual([
        "profile_not_found",
        "profile_not_found",
        "quota_exceeded",
      ]);
    },
  );

  timed(
    "D-5.5 usage() tells what was counted, and nothing for an account that made no call",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const account = await scene.enrol("caller");
      const limits = { callsPerMinute: 30, callsPerMonth: 1_000 };
      const before = await parts.usage.read(account.username, limits);
      expect(before.reading).toEqual({ minuteCalls: 0, blockingMs: null, month: null });
      const { hash } = await scene.giveKey("caller");
      await scene.lookUpMany(Array(3).fill({ keyHash: hash, username: "x" }));
      const firstMs = store.nowMs();
      await store.advance(5_000);
      await scene.lookUp(hash, "x");
      expect((await parts.usage.read("caller", limits)).reading).toEqual({
        minuteCalls: 4,
        blockingMs: firstMs,
        month: { month: "2026-03", used: 4 },
      });
      await store.advance(55_000);
      expect((await parts.usage.read("caller", limits)).reading.minuteCalls).toBe(1);
    },
  );

  timed(
    "D-6.4 random calls over time are decided as the log of every call says",
    async (parts, store) => {
      const random = new SeededRandom(SEED);
      const scene = new Scene(parts, store);
      for (let run = 0; run < Math.ceil(harness.options.randomRuns / 10); run++) {
        const limits = { callsPerMinute: random.int(1, 12), callsPerMonth: random.int(40, 79) };
        const plan = {
          callsPerMonth: limits.callsPerMonth,
          rateLimitPerMinute: limits.callsPerMinute,
        };
        await scene.enrol(`caller-${run}`, { plan: "enterprise", ...plan });
        const { hash } = await scene.giveKey(`caller-${run}`);
        let state = NO_USAGE;
        for (let step = 0; step < 40; step++) {
          await store.advance(
            random.int(0, 3) === 0 ? random.int(0, 69_999) : random.int(0, 2_999),
          );
          const calls = random.int(1, 6);
          const expected = Array.from({ length: calls }, () => {
            const decision = decideCall(state, { limits, nowMs: store.nowMs() });
            state = decision.state;
            return { outcome: decision.outcome, minute: decision.minute, month: decision.month };
          });
          const batch = Array(calls).fill({ keyHash: hash, username: "x" });
          const outcomes = await scene.lookUpMany(batch);
          const seen = outcomes.map((one) => ({
            outcome: one.kind === "answered" ? "allowed" : one.problem,
            ...(one.kind === "key_refused" ? {} : one.quotas),
          }));
          expect({ seed: SEED, seen }).toEqual({ seed: SEED, seen: expected as never });
        }
      }
    },
  );

  timed(
    "D-6.4 a limit that was lowered refuses until enough calls have gone by",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const { hash } = await caller(scene, { plan: "enterprise", rateLimitPerMinute: 5 });
      for (let i = 0; i < 5; i++) {
        await scene.lookUp(hash, "x");
        await store.advance(1_000);
      }
      await scene.setPlan("caller", { rateLimitPerMinute: 2 });
      const outcome = await scene.lookUp(hash, "x");
      expect(wordOf(outcome)).toBe("rate_limited");
      // Five calls at 0 to 4 s; one is possible when only one is left, the one of second 4: at 63 s; now it is 5 s.
      expect(outcome.kind === "limited" ? outcome.quotas.minute.resetSeconds : null).toBe(58);
      await store.advance(57_999);
      expect(wordOf(await scene.lookUp(hash, "x"))).toBe("rate_limited");
      await store.advance(1);
      expect(wordOf(await scene.lookUp(hash, "x"))).toBe("profile_not_found");
    },
  );
}
