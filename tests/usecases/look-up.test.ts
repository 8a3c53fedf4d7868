import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { makeApiKey } from "../../src/domain/reputation/accounts/api-key.ts";
import type { LookupOutcome } from "../../src/domain/reputation/lookups/lookup-batch.ts";
import { NO_TRACING } from "../../src/ports/runtime/tracing.ts";
import { Lookups } from "../../src/usecases/reputation/lookups/look-up.ts";
import { LookupTally } from "../../src/usecases/reputation/lookups/lookup-tally.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

type LookupsDeps = ConstructorParameters<typeof Lookups>[0];

const ALLOWED = {
  kind: "answered",
  nowMs: 0,
  decision: { code: null },
  subject: { profile: { username: "ana" }, accounts: [] },
  quotas: {},
} as unknown as LookupOutcome;

const CALL = {
  apiKey: makeApiKey(new Uint8Array(64), crc32),
  endpoint: "profile",
  username: "ana",
  requestId: "a-request",
} as const;

function depsOf(clock: FakeClock): Omit<LookupsDeps, "lookupProcessor"> {
  return {
    crc32,
    pepperMac: { hex: (text) => text } as LookupsDeps["pepperMac"],
    defer: (work) => void queueMicrotask(work),
    timer: { sleep: () => new Promise(() => {}) },
    tracing: NO_TRACING,
    tally: new LookupTally(),
    clock,
  };
}

test.each([
  [1_000, "is the reply"],
  [1_001, "is no reply any more"],
])(
  "D-8.3 what was read %i ms ago when the process goes on after its decision %s",
  async (standsMs) => {
    const clock = new FakeClock();
    const deps = depsOf(clock);
    const lookups = new Lookups({
      lookupProcessor: {
        decide: async (calls, _deadlineMs, replyTo) => {
          const confirmedAtMs = clock.monotonicMs();
          const value = replyTo(calls.map(() => ALLOWED));
          clock.advance(standsMs);
          return { value, confirmedAtMs };
        },
      },
      ...deps,
    });
    const looking = lookups.lookUp(CALL);
    if (standsMs <= 1_000) {
      expect((await looking).data).toMatchObject({ username: "ana" });
      expect(deps.tally.decided()).toBe(1);
    } else {
      await expect(looking).rejects.toMatchObject({
        kind: "store_unavailable",
        message: "The reply was held up, and may be no longer right",
      });
    }
  },
);

test("D-8.3 a reply that takes long to be made is made before it is confirmed", async () => {
  const clock = new FakeClock();
  const profile = () => {
    clock.advance(1_500);
    return { username: "ana" };
  };
  const subject = Object.defineProperty({ accounts: [] }, "profile", { get: profile });
  const lookups = new Lookups({
    lookupProcessor: {
      decide: async (calls, _deadlineMs, replyTo) => {
        const outcomes = calls.map(() => ({ ...ALLOWED, subject }) as unknown as LookupOutcome);
        return { value: replyTo(outcomes), confirmedAtMs: clock.monotonicMs() };
      },
    },
    ...depsOf(clock),
  });
  expect((await lookups.lookUp(CALL)).data).toMatchObject({ username: "ana" });
});
