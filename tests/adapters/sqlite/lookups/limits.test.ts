// D-6.4 over processes: exact counts on one file.
import { describe, expect, test } from "bun:test";
import type { Account } from "../../../../src/domain/reputation/accounts/account.ts";
import { openParts, Scene } from "../../../contract/lookups/reputation-harness.ts";
import { remembering } from "../reputation-support.ts";
import { SqliteFile } from "../support.ts";

const CHILD = new URL("./lookups-child.ts", import.meta.url).pathname;
const TIMEOUT_MS = 60_000;

/** Starts a process per number of calls, and counts the outcomes of all. */
async function countOutcomes(plan: Partial<Account>, calls: readonly number[]) {
  const counts: Record<string, number> = {};
  await SqliteFile.use(async (file) => {
    const parts = await openParts(await file.open(), remembering);
    const time = { nowMs: () => Date.now(), advance: async () => {}, dispose: async () => {} };
    const scene = new Scene(parts, { storage: parts, ...time });
    await scene.enrol("ana", plan);
    const { hash } = await scene.giveKey("ana");
    const children = calls.map((count) =>
      Bun.spawn([process.execPath, CHILD, file.path, hash, "x", String(count)], {
        stdout: "pipe",
        stderr: "inherit",
      }),
    );
    for (const child of children) {
      const words = (await new Response(child.stdout).text()).trim().split("\n");
      for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
      expect(await child.exited).toBe(0);
    }
    const { reading } = await parts.usage.read("ana", {
      callsPerMinute: 1_000,
      callsPerMonth: null,
    });
    expect(reading.minuteCalls).toBe(counts["profile_not_found"] ?? 0);
    expect(reading.month?.used).toBe(counts["profile_not_found"] ?? 0);
  });
  return counts;
}

describe("SQLite: limits over processes", () => {
  test(
    "D-6.4 of 300 calls by three processes exactly the limit succeed",
    async () => {
      const plan = { plan: "enterprise", rateLimitPerMinute: 101 } as const;
      expect(await countOutcomes(plan, [100, 100, 100])).toEqual({
        profile_not_found: 101,
        rate_limited: 199,
      });
    },
    TIMEOUT_MS,
  );

  test(
    "D-6.4 of a month's calls by three processes exactly the quota succeed",
    async () => {
      const plan = { plan: "enterprise", callsPerMonth: 57 } as const;
      expect(await countOutcomes(plan, [40, 40, 40])).toEqual({
        profile_not_found: 57,
        quota_exceeded: 63,
      });
    },
    TIMEOUT_MS,
  );

  test(
    "R-8, D-6.4 a caller with 29 calls of 30 is not refused, whichever process is asked",
    async () => {
      expect(await countOutcomes({}, [10, 10, 9])).toEqual({ profile_not_found: 29 });
    },
    TIMEOUT_MS,
  );
});
