// Thousands of small histories of two deployments: writers, a bad network, crashes, pauses, two instances at once. Each is
// decided by its seed. A seed that fails is named with how to play it again; SEEDS=<number> plays more of them.
import { expect, setDefaultTimeout, test } from "bun:test";
import { startMarkerFirstRun } from "./controls/marker-first-run.ts";
import { startOffsetRun } from "./controls/offset-run.ts";
import { runSeed } from "./run-seed.ts";
import type { Scenario } from "./scenario.ts";
import { seedRange, seedRanges } from "./seed-range.ts";

/** Some 5 s; `npm run test:seeds` plays thousands. */
const DEFAULT_SEEDS = 60;
/** Seeds of one test. */
const SEEDS_PER_TEST = 500;
/** Controls have to be caught within so many seeds. */
const CONTROL_SEEDS = 20;

setDefaultTimeout(300_000);

test.each(seedRanges(seedRange(DEFAULT_SEEDS), SEEDS_PER_TEST))(
  "D-4.5, D-4.6 both ends are equal after quiet, and no marker passes a row: seeds %d to %d",
  async (from, to) => {
    for (let seed = from; seed <= to; seed++) {
      const { problem, world } = await runSeed(seed);
      if (problem === null) continue;
      const replay = `SEED=${seed} node .ci/test.mjs tests/simulation`;
      throw new Error(`${replay}\n${problem}\n${JSON.stringify(world.scenario)}`);
    }
  },
);

/** Only one thing is at fault in each control: the network is fair and nobody crashes. */
const FAIR: Partial<Scenario> = {
  ...{ direction: "pull", remote: "repsync", faults: 0, crashes: 0, pauses: 0, refusals: 0 },
  ...{ lagSeconds: 2, lateMs: 1_000, writes: 120, runs: 8, maxPageRows: 2 },
  // Such tables get no rows without a timestamp, which only the product finds.
  entry: {
    timestamp_column: "at",
    upsert_key: ["k"],
    conflict: "newer",
    columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
  },
};

test("D-4.5 control: the same worlds find no fault with the product", async () => {
  expect(await caught({ scenario: FAIR })).toEqual([]);
  expect(await caught({ scenario: { ...FAIR, lagSeconds: 20, lateMs: 18_000 } })).toEqual([]);
});

test("D-4.5 control: an offset carried over rows that move is caught", async () => {
  const problems = await caught({ scenario: FAIR, start: startOffsetRun });
  expect(problems.length).toBeGreaterThan(CONTROL_SEEDS / 2);
});

test("D-4.5, D-4.6 control: runs without an allowance for late commits are caught", async () => {
  const late = { ...FAIR, lagSeconds: 0, lateMs: 18_000 };
  expect((await caught({ scenario: late })).length).toBeGreaterThan(CONTROL_SEEDS / 2);
  const push: Partial<Scenario> = { ...late, direction: "push" };
  expect((await caught({ scenario: push })).length).toBeGreaterThan(CONTROL_SEEDS / 2);
});

test("D-4.5 control: a marker that is committed before its rows is caught", async () => {
  const problems = await caught({ scenario: FAIR, start: startMarkerFirstRun });
  expect(problems.length).toBeGreaterThan(CONTROL_SEEDS / 2);
});

async function caught(options: Parameters<typeof runSeed>[1]): Promise<string[]> {
  const problems: string[] = [];
  for (let seed = 1; seed <= CONTROL_SEEDS; seed++) {
    const { problem } = await runSeed(seed, options);
    if (problem !== null) problems.push(problem);
  }
  return problems;
}
