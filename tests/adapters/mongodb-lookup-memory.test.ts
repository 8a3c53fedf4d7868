// D-6.3 How long what lookups remember is good.
import { describe, expect, test } from "bun:test";
import { type KnownForLookups, LookupMemory } from "../../src/adapters/mongodb/lookup-memory.ts";
import type { LookupSubject } from "../../src/domain/reputation/lookup.ts";
import type { LimitedCaller } from "../../src/domain/reputation/lookup-batch.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { remembering } from "./mongodb-reputation-support.ts";

const CALLER: LimitedCaller = {
  key: { id: "key", expiresAt: null, revokedAt: null, isRevoked: false },
  accountId: "account",
  limits: { callsPerMinute: 30, callsPerMonth: null },
};
const ANA: LookupSubject = { profile: {}, accounts: [], consents: [], subjectHmac: "ana" };
const BOTH: KnownForLookups = {
  callers: new Map([["hash", CALLER]]),
  people: new Map([["ana", ANA]]),
};
const NOTHING: KnownForLookups = { callers: new Map(), people: new Map() };

function makeMemory() {
  const clock = new FakeClock();
  const caches = {
    callerCache: remembering<LimitedCaller>(),
    subjectCache: remembering<LookupSubject>(),
  };
  const memory = new LookupMemory(caches, clock);
  const recalled = () => memory.recall({ hashes: ["hash", "other"], usernames: ["ana", "ben"] });
  return { clock, memory, recalled };
}

describe("LookupMemory", () => {
  test("D-6.3 recalls what was read in a state that was committed before", () => {
    const { memory, recalled } = makeMemory();
    memory.remember("a", NOTHING);
    memory.remember("a", BOTH);
    expect(recalled()).toEqual(BOTH);
    expect([memory.isIn("a"), memory.isIn("b"), memory.isIn(null)]).toEqual([true, false, false]);
  });

  test("D-6.3 does not remember what was read where a state was first seen", () => {
    const { memory, recalled } = makeMemory();
    memory.remember("a", BOTH);
    expect(recalled()).toEqual(NOTHING);
  });

  test("D-6.3 remembers nothing of a state that nobody knows", () => {
    const { memory, recalled } = makeMemory();
    for (let i = 0; i < 2; i++) memory.remember(null, BOTH);
    expect(recalled()).toEqual(NOTHING);
    expect(memory.isIn(null)).toBe(false);
  });

  test("D-6.3 forgets all with the state, and when a state comes again", () => {
    const { memory, recalled } = makeMemory();
    for (let i = 0; i < 2; i++) memory.remember("a", BOTH);
    for (const text of ["b", "a"]) {
      memory.remember(text, NOTHING);
      expect(recalled()).toEqual(NOTHING);
    }
  });

  test("D-6.3 forgets what it remembered while a transaction may have been open, and again each such time", () => {
    const { memory, clock, recalled } = makeMemory();
    for (let i = 0; i < 2; i++) memory.remember("a", BOTH);
    clock.advance(99_999);
    expect(recalled()).toEqual(BOTH);
    clock.advance(1);
    expect(recalled()).toEqual(NOTHING);
    memory.remember("a", BOTH);
    clock.advance(99_999);
    expect(recalled()).toEqual(BOTH);
    clock.advance(1);
    expect(recalled()).toEqual(NOTHING);
  });
});
