// Hundreds of small histories of two and three live ends, each decided by its seed. A seed that fails is named with how to
// play it again; SEEDS=<number> plays more of them.
import { expect, test } from "bun:test";
import { onBackends, POSTGRESQL } from "../../http/support/backends.ts";
import { seedRange, seedRanges } from "../seed-range.ts";
import * as controls from "./controls.ts";
import { FAIR, type LiveScenario, UPGRADED_IN_RUNS } from "./live-scenario.ts";
import type { Sabotage } from "./live-world.ts";
import { playLive, playOnServer } from "./play-live.ts";

/** Some 5 s; `npm run test:seeds` plays thousands. */
const DEFAULT_SEEDS = 25;
const SEEDS_PER_TEST = 100;
/** One on a server takes as long. */
const SEEDS_FOR_ONE_ON_SERVER = 20;
const TEST_TIMEOUT_MS = 300_000;
const CONTROL_SEEDS = 30;

test.each(seedRanges(seedRange(DEFAULT_SEEDS), SEEDS_PER_TEST))(
  "D-7.1, D-7.3.3, D-7.4, D-7.6, D-11.9, D-11.10.1, D-14.2 live ends become equal by runs alone, in two rounds, and each row is its newest version: seeds %d to %d",
  async (from, to) => {
    for (let seed = from; seed <= to; seed++) {
      const { problem, world } = await playLive(seed);
      if (problem === null) continue;
      const replay = `SEED=${seed} node .ci/test.mjs tests/simulation/live`;
      throw new Error(`${replay}\n${problem}\n${JSON.stringify(world.scenario)}`);
    }
  },
  TEST_TIMEOUT_MS,
);

const { first, count } = seedRange(DEFAULT_SEEDS);
const onServer = { first, count: Math.ceil(count / SEEDS_FOR_ONE_ON_SERVER) };

onBackends([POSTGRESQL], "live ends", () => {
  test.each(seedRanges(onServer, SEEDS_PER_TEST))(
    "D-7.1, D-7.4, D-7.6, D-12.3, D-14.2 so do ends on PostgreSQL: seeds %d to %d",
    async (from, to) => {
      for (let seed = from; seed <= to; seed++) {
        const { problem, world } = await playOnServer(seed);
        if (problem !== null) throw new Error(`${problem}\n${JSON.stringify(world.scenario)}`);
      }
    },
    TEST_TIMEOUT_MS,
  );
});

/** Each has runs at once that were told of different registries, by instances or before a start. */
const UPGRADED_SEEDS = [53, 99, 155, 175, 187, 215, 242, 327, 358, 384];

test("D-7.3.3 runs at once empty no column that one of them was told nothing of", async () => {
  for (const seed of UPGRADED_SEEDS) {
    const { problem } = await playLive(seed, { scenario: UPGRADED_IN_RUNS });
    expect([seed, problem]).toEqual([seed, null]);
  }
});

/** What is left out, where that shows, and in how many of the seeds at least. */
const CONTROLS: readonly (readonly [string, Partial<LiveScenario>, Sabotage, number])[] = [
  ["D-7.1 no guard", FAIR, controls.NO_GUARD, 18],
  [
    "D-7.1 an untouched row that is sent again at an equal time",
    {
      ...{ ...FAIR, topology: "pair", acts: { new: 1, coarse: 8 }, coarseSeconds: 50, keys: 1 },
      ...{ isStrict: true, gaps: [5], steps: 9, maxPageRows: 100, directions: ["push", "both"] },
    },
    controls.NO_EXCHANGED_ROWS,
    4,
  ],
  [
    "D-7.6 no tombstone",
    { ...FAIR, topology: "pair", deletes: true, acts: { new: 4, edit: 5, delete: 4 } },
    controls.NO_TOMBSTONE,
    18,
  ],
  [
    "D-14.2 a stamp of now",
    {
      ...{ ...FAIR, topology: "pair", stamped: true, skewMs: 60_000, keys: 5 },
      ...{ acts: { new: 1, edit: 6 }, gaps: [1], steps: 30 },
    },
    controls.STAMPS_NOW,
    12,
  ],
  ["D-7.4 no marks on the pull side", FAIR, controls.NO_REMOTE_MARKS, 20],
  ["D-7.4 no marks on the push side", { ...FAIR, topology: "pair" }, controls.NO_OWN_MARKS, 13],
  [
    "D-7.4 a mark that is taken after the read",
    { ...FAIR, acts: { late: 1 }, maxPageRows: 1, gaps: [0.3, 1], steps: 30 },
    controls.MARK_AFTER_READING,
    10,
  ],
  [
    "D-7.3 an instance that goes by another registry than the run was told of",
    UPGRADED_IN_RUNS,
    controls.NO_COLUMNS,
    5,
  ],
  [
    "D-11.9 no owner of a table without times",
    { ...FAIR, topology: "pair", owner: "B", acts: { new: 2, edit: 5 }, directions: ["both"] },
    controls.NO_OWNER,
    25,
  ],
  [
    "D-11.10.1 one memory for all remotes",
    { ...FAIR, topology: "roaming" },
    controls.ONE_REMOTE,
    20,
  ],
  [
    "D-7.7 a marker before the refusal",
    {
      ...{ ...FAIR, topology: "pair", acts: { new: 2, refused: 6 }, keys: 25, crashes: 0.9 },
      ...{ maxPageRows: 100, directions: ["push", "both"] },
    },
    controls.MARKER_BEFORE_REFUSAL,
    20,
  ],
];

test(
  "control: the worlds of the controls find no fault with the product",
  async () => {
    for (const scenario of new Set(CONTROLS.map(([, played]) => played))) {
      expect(await problems(scenario, {})).toEqual([]);
    }
  },
  TEST_TIMEOUT_MS,
);

test.each(CONTROLS)(
  "control: %s is caught by the rows that stand at the end",
  async (_, scenario, sabotage, least) => {
    const found = await problems(scenario, sabotage);
    expect(found.filter((problem) => problem.includes("A quiet run"))).toEqual([]);
    expect(found.length).toBeGreaterThanOrEqual(least);
  },
  TEST_TIMEOUT_MS,
);

async function problems(scenario: Partial<LiveScenario>, sabotage: Sabotage): Promise<string[]> {
  const found: string[] = [];
  for (let seed = 1; seed <= CONTROL_SEEDS; seed++) {
    const { problem } = await playLive(seed, { scenario, sabotage });
    if (problem !== null) found.push(problem);
  }
  return found;
}
