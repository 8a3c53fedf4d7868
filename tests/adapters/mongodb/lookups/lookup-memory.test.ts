// D-6.3 How long what lookups remember is good.
import { describe, expect, test } from "bun:test";
import {
  type Aged,
  type KnownForLookups,
  LookupMemory,
} from "../../../../src/adapters/mongodb/lookups/lookup-memory.ts";
import type { LookupSubject } from "../../../../src/domain/reputation/lookups/lookup.ts";
import type { LimitedCaller } from "../../../../src/domain/reputation/lookups/lookup-batch.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { remembering } from "../reputation-support.ts";

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
    callerCache: remembering<Aged<LimitedCaller>>(),
    subjectCache: remembering<Aged<LookupSubject>>(),
  };
  const memory = new LookupMemory(caches, clock);
  const ask = () => memory.recall({ hashes: ["hash", "other"], usernames: ["ana", "ben"] });
  const recalled = (): KnownForLookups => {
    const { callers, people } = ask();
    return { callers, people };
  };
  /** What a batch reads that begins now. */
  const remember = (text: string | null, known: KnownForLookups) =>
    memory.remember(text, known, ask().askedAt);
  return { clock, memory, ask, recalled, remember };
}

describe("LookupMemory", () => {
  test("D-6.3 recalls what was read in a state that was committed before", () => {
    const { memory, recalled, remember } = makeMemory();
    remember("a", NOTHING);
    remember("a", BOTH);
    expect(recalled()).toEqual(BOTH);
    expect([memory.isIn("a"), memory.isIn("b"), memory.isIn(null)]).toEqual([true, false, false]);
  });

  test("D-6.3 does not remember what was read where a state was first seen", () => {
    const { recalled, remember } = makeMemory();
    remember("a", BOTH);
    expect(recalled()).toEqual(NOTHING);
  });

  test("D-6.3 remembers nothing of a state that nobody knows", () => {
    const { memory, recalled, remember } = makeMemory();
    for (let i = 0; i < 2; i++) remember(null, BOTH);
    expect(recalled()).toEqual(NOTHING);
    expect(memory.isIn(null)).toBe(false);
  });

  test("D-6.3 forgets all with the state, and when a state comes again", () => {
    const { recalled, remember } = makeMemory();
    for (let i = 0; i < 2; i++) remember("a", BOTH);
    for (const text of ["b", "a"]) {
      remember(text, NOTHING);
      expect(recalled()).toEqual(NOTHING);
    }
  });

  test("D-6.3 forgets each value 100 s after it was asked for", () => {
    const { clock, memory, ask, recalled, remember } = makeMemory();
    remember("a", NOTHING);
    const { askedAt } = ask();
    clock.advance(30_000);
    memory.remember("a", BOTH, askedAt);
    clock.advance(69_999);
    expect(recalled()).toEqual(BOTH);
    clock.advance(1);
    expect(recalled()).toEqual(NOTHING);
    remember("a", BOTH);
    clock.advance(99_999);
    expect(recalled()).toEqual(BOTH);
    clock.advance(1);
    expect(recalled()).toEqual(NOTHING);
  });

  test("D-6.3 people are due from 50 s on", () => {
    const { clock, ask, remember } = makeMemory();
    for (let i = 0; i < 2; i++) remember("a", BOTH);
    const dueAfter = [49_999, 1, 49_999, 1].map((durationMs) => {
      clock.advance(durationMs);
      return ask().dueUsernames;
    });
    expect(dueAfter).toEqual([[], ["ana"], ["ana"], []]);
  });

  test("D-6.3 what was read beside batches is good in the state that it was asked for in", () => {
    const { clock, memory, ask, recalled, remember } = makeMemory();
    for (let i = 0; i < 2; i++) remember("a", BOTH);
    clock.advance(60_000);
    const { askedAt } = ask();
    memory.renew("b", BOTH, askedAt);
    expect(ask().dueUsernames).toEqual(["ana"]);
    memory.renew("a", BOTH, askedAt);
    expect(ask().dueUsernames).toEqual([]);
    clock.advance(99_999);
    expect(recalled()).toEqual(BOTH);
    // The state was another one meanwhile.
    for (const text of ["b", "a"]) remember(text, NOTHING);
    memory.renew("a", BOTH, askedAt);
    expect(recalled()).toEqual(NOTHING);
  });

  test("D-6.3 what was read beside batches begins no state", () => {
    const { memory, ask, recalled } = makeMemory();
    for (let i = 0; i < 2; i++) memory.renew("a", BOTH, ask().askedAt);
    expect(recalled()).toEqual(NOTHING);
    expect(memory.isIn("a")).toBe(false);
  });
});
