// D-6.3 When people who are remembered are read again.
import { describe, expect, test } from "bun:test";
import type { Named } from "../../../../src/adapters/mongodb/lookups/lookup-memory.ts";
import { LookupRenewal } from "../../../../src/adapters/mongodb/lookups/lookup-renewal.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

function people(first: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `person-${first + i}`);
}

function makeRenewal() {
  const clock = new FakeClock();
  const asked: Named[] = [];
  let work = Promise.withResolvers<void>();
  const renewal = new LookupRenewal(clock, (named) => {
    asked.push(named);
    work = Promise.withResolvers<void>();
    return work.promise;
  });
  const keepUpWith = (usernames: readonly string[]) =>
    renewal.keepUpWith({ hashes: ["key"], usernames });
  /** Lets the reading end. */
  const end = async (error?: Error) => {
    if (error === undefined) work.resolve();
    else work.reject(error);
    await new Promise(setImmediate);
  };
  return { clock, asked, keepUpWith, end };
}

describe("LookupRenewal", () => {
  test("D-6.3 reads 32 people together, each once, with the key they were asked for with", () => {
    const { asked, keepUpWith } = makeRenewal();
    keepUpWith(people(0, 20));
    keepUpWith(people(0, 31));
    expect(asked).toEqual([]);
    keepUpWith(people(30, 50));
    expect(asked).toEqual([{ hashes: ["key"], usernames: people(0, 32) }]);
  });

  test("D-6.3 reads once at a time, and lets 100 ms pass in between", async () => {
    const { clock, asked, keepUpWith, end } = makeRenewal();
    keepUpWith(people(0, 32));
    clock.advance(1_000);
    keepUpWith(people(100, 32));
    await end();
    keepUpWith([]);
    clock.advance(99);
    keepUpWith([]);
    expect(asked.length).toBe(1);
    clock.advance(1);
    keepUpWith([]);
    expect(asked.slice(1)).toEqual([{ hashes: ["key"], usernames: people(100, 32) }]);
  });

  test("D-6.3 goes on after a failure", async () => {
    const { clock, asked, keepUpWith, end } = makeRenewal();
    keepUpWith(people(0, 32));
    await end(new Error("The server is away"));
    clock.advance(100);
    keepUpWith(people(0, 32));
    expect(asked.length).toBe(2);
  });
});
