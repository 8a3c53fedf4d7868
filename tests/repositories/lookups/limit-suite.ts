import { expect } from "bun:test";
import { callsByDay } from "../../../src/domain/reputation/accounts/call-history.ts";
import { LOOKUP_LOG } from "../../../src/repositories/lookup-collections.ts";
import { storeTests, timedTests } from "../../contract/harness.ts";
import {
  type ReputationHarness,
  Scene,
  wordOf,
} from "../../contract/lookups/reputation-harness.ts";
import { CallLog } from "../../domain/reputation/accounts/call-log.ts";
import { SEED } from "../../support/seed.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { makeCaller } from "./make-caller.ts";

const DAY_MS = 86_400_000;

/** How calls are counted and limited. */
export function limitTests(harness: ReputationHarness): void {
  const it = storeTests(harness);
  const timed = timedTests(harness);

  it("R-8 the free plan allows 30 calls a minute, all keys together, and 29 are never refused", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { hash } = await makeCaller(scene);
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
    "D-6.4, D-6.4.1 calls come back when the 60 seconds are over, at that moment and not before",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const { hash } = await makeCaller(scene, { plan: "enterprise", rateLimitPerMinute: 2 });
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
      const { hash } = await makeCaller(scene, plan);
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
    "D-8.11 the history has the answered calls by day, and the last use of each key",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const { hash, id } = await makeCaller(scene, { plan: "enterprise", callsPerMonth: 6 });
      const other = await scene.giveKey("caller");
      const unused = await scene.giveKey("caller");
      const limits = { callsPerMinute: 30, callsPerMonth: null };
      const historyOf = async (name: string) => (await parts.usage.read(name, limits)).history;
      expect(callsByDay(await historyOf("caller"), store.nowMs()).length).toBe(31);
      await scene.enrol("ana");
      await scene.consent("ana");
      const to = (keyHash: string, username: string) => ({ keyHash, username });
      await scene.lookUpMany([to(hash, "ana"), to(hash, "x"), to(other.hash, "ana")]);
      expect(await historyOf("ana")).toEqual({ days: "", keys: "" });
      await store.advance(DAY_MS + 90_000);
      await scene.lookUpMany([to(hash, "ana"), to(hash, "ana"), to(hash, "x")]);
      expect(wordOf(await scene.lookUp(other.hash, "ana"))).toBe("quota_exceeded");
      const history = await historyOf("caller");
      expect(callsByDay(history, store.nowMs()).slice(-3)).toEqual([
        { date: "2026-02-28", calls: 0, denied: 0 },
        { date: "2026-03-01", calls: 3, denied: 1 },
        { date: "2026-03-02", calls: 3, denied: 1 },
      ]);
      const uses = await parts.usage.keyUses("caller");
      expect([id, other.id, unused.id].map((key) => uses.get(key) ?? null)).toEqual([
        "2026-03-02T12:01:00Z",
        "2026-03-01T12:00:00Z",
        null,
      ]);
    },
  );

  it.everywhere(
    "D-8.11, D-8.2 keyUses() has the last use of every key, and nothing is left of an erased person's",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const { hash, id } = await makeCaller(scene);
      const other = await scene.giveKey("caller");
      const { documents } = parts.storage;
      const keptUses = async () => {
        const count = { within: [["key_use"]] };
        const [kept] = await documents.read({ name: "test.read" }, (at) =>
          at.read({ from: LOOKUP_LOG, count }),
        );
        return kept;
      };
      await scene.lookUp(hash, "x");
      const before = await parts.usage.keyUses("caller");
      expect(before.size).toBe(1);
      // As 99 other keys leave it that are used a minute later.
      await documents.transact({ name: "test.put" }, async (tx) => {
        const usages = { within: [["usage"]] };
        const [[usage]] = await tx.read({ from: LOOKUP_LOG, stretch: usages });
        if (usage?.kind !== "usage") throw new Error("There is no usage");
        const minute = Number(usage.keys.split("@")[1]) + 1;
        const others = Array.from({ length: 99 }, (_, n) => `k${n}@${minute}`);
        tx.put(LOOKUP_LOG, { ...usage, keys: [usage.keys, ...others].join() });
      });
      await scene.lookUp(other.hash, "x");
      expect(await keptUses()).toBe(1);
      const uses = await parts.usage.keyUses("caller");
      expect([uses.size, uses.get(id)]).toEqual([101, before.get(id)]);
      // The later use of a key that is used again counts.
      await documents.transact({ name: "test.put" }, async (tx) => {
        const [[passed]] = await tx.read({ from: LOOKUP_LOG, stretch: { within: [["key_use"]] } });
        if (passed?.kind === "key_use") tx.put(LOOKUP_LOG, { ...passed, minute: 1 });
      });
      expect((await parts.usage.keyUses("caller")).get(id)).toBe("1970-01-01T00:01:00Z");
      await scene.lookUp(hash, "x");
      expect((await parts.usage.keyUses("caller")).get(id)).not.toBe("1970-01-01T00:01:00Z");
      await parts.membership.erase("caller");
      expect(await keptUses()).toBe(0);
    },
  );

  timed(
    "D-8.4 calls made while a clock was a year ahead shut nobody out, though they were all of the month",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const plan = { plan: "enterprise", callsPerMonth: 2, rateLimitPerMinute: 9 };
      const { hash } = await makeCaller(scene, plan);
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

  timed.everywhere(
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
        const log = new CallLog();
        for (let step = 0; step < 40; step++) {
          await store.advance(
            random.int(0, 3) === 0 ? random.int(0, 69_999) : random.int(0, 2_999),
          );
          const calls = random.int(1, 6);
          const expected = Array.from({ length: calls }, () => log.decide(limits, store.nowMs()));
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
    "D-6.4 calls of a busy account count to the call, also those that are kept in pages of their own",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const { hash } = await makeCaller(scene, { plan: "enterprise", rateLimitPerMinute: 9_999 });
      const keptPages = async () => {
        const count = { within: [["calls"]] };
        const [kept] = await parts.storage.documents.read({ name: "test.read" }, (at) =>
          at.read({ from: LOOKUP_LOG, count }),
        );
        return kept;
      };
      const read = async (callsPerMinute: number) =>
        (await parts.usage.read("caller", { callsPerMinute, callsPerMonth: null })).reading;
      const firstMs = store.nowMs();
      for (let i = 0; i < 1_300; i++) {
        await scene.lookUp(hash, "x");
        await store.advance(20);
      }
      expect(await keptPages()).toBe(1);
      expect(await read(9_999)).toMatchObject({ minuteCalls: 1_300, blockingMs: firstMs });
      expect(await read(100)).toMatchObject({ minuteCalls: 1_300, blockingMs: firstMs + 24_000 });
      // Of 26 s the first 10 are over.
      await store.advance(44_000);
      expect(await read(9_999)).toMatchObject({ minuteCalls: 799, blockingMs: firstMs + 10_020 });
      const used = async () => {
        const outcome = await scene.lookUp(hash, "x");
        return outcome.kind === "answered" ? outcome.quotas.minute.used : outcome.problem;
      };
      expect([await used(), await keptPages()]).toEqual([800, 1]);
      await store.advance(60_000);
      expect([await used(), await keptPages()]).toEqual([1, 0]);
    },
  );

  timed(
    "D-6.4 a limit that was lowered refuses until enough calls have gone by",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const { hash } = await makeCaller(scene, { plan: "enterprise", rateLimitPerMinute: 5 });
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
