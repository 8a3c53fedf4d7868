// D-6.3 How long what lookups remember is good.
import { describe, expect, test } from "bun:test";
import { LookupMemory } from "../../src/adapters/mongodb/lookup-memory.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { remembering } from "./mongodb-reputation-support.ts";

const ANA = new Map([["ana", "Ana"]]);

function makeMemory() {
  const clock = new FakeClock();
  return { clock, memory: new LookupMemory<string>(remembering(), clock) };
}

describe("LookupMemory", () => {
  test("D-6.3 recalls what was read in a state that was committed before", () => {
    const { memory } = makeMemory();
    memory.remember("a", new Map());
    memory.remember("a", ANA);
    expect([...memory.recall(["ana", "ben"])]).toEqual([["ana", "Ana"]]);
    expect([memory.isIn("a"), memory.isIn("b"), memory.isIn(null)]).toEqual([true, false, false]);
  });

  test("D-6.3 does not remember what was read where a state was first seen", () => {
    const { memory } = makeMemory();
    memory.remember("a", ANA);
    expect(memory.recall(["ana"]).size).toBe(0);
  });

  test("D-6.3 remembers nothing of a state that nobody knows", () => {
    const { memory } = makeMemory();
    for (let i = 0; i < 2; i++) memory.remember(null, ANA);
    expect([memory.recall(["ana"]).size, memory.isIn(null)]).toEqual([0, false]);
  });

  test("D-6.3 forgets all with the state, and when a state comes again", () => {
    const { memory } = makeMemory();
    for (let i = 0; i < 2; i++) memory.remember("a", ANA);
    for (const text of ["b", "a"]) {
      memory.remember(text, new Map());
      expect(memory.recall(["ana"]).size).toBe(0);
    }
  });

  test("D-6.3 forgets once what it remembered while a transaction may have been open", () => {
    const { memory, clock } = makeMemory();
    for (let i = 0; i < 2; i++) memory.remember("a", ANA);
    clock.advance(99_999);
    expect(memory.recall(["ana"]).size).toBe(1);
    clock.advance(1);
    expect(memory.recall(["ana"]).size).toBe(0);
    memory.remember("a", ANA);
    clock.advance(1_000_000);
    expect(memory.recall(["ana"]).size).toBe(1);
  });
});
