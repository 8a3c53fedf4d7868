// The rules of live ends, played over a model of them before they are in the service.
import { expect, test } from "bun:test";
import { ModelWorld, TOPOLOGIES } from "./live-ends-model.ts";
import type { ModelOptions } from "./model-end.ts";

const HISTORIES = 200;
const STAMPED_HISTORIES = 600;
const TEST_TIMEOUT_MS = 120_000;
/** Clocks are up to 120 s apart. */
const STAMPED: ModelOptions = { stamps: "row and tombstone", skew: 60 };

const PLAYED: readonly (readonly [string, ModelOptions, number])[] = [
  ["times of writers", {}, HISTORIES],
  ["interrupted runs", { crashes: true }, HISTORIES],
  ["odd times", { crashes: true, skew: 2, meanwhile: true, oddTimes: true }, HISTORIES],
  ["stamps", STAMPED, STAMPED_HISTORIES],
  [
    "stamps and interrupted runs",
    { ...STAMPED, crashes: true, meanwhile: true },
    STAMPED_HISTORIES,
  ],
  ["stamps on rows without times", { ...STAMPED, begun: true, crashes: true }, STAMPED_HISTORIES],
];

test.each(PLAYED)(
  "D-7.1, D-7.4, D-7.6, D-14.2, D-14.2.1, D-14.2.4 by the rules ends become equal in two rounds, and no edit loses to what its writer had seen: %s",
  (_, options, histories) => {
    for (const topology of Object.keys(TOPOLOGIES)) {
      for (const deletes of [false, true]) {
        const wrong = problemsOf(topology, { ...options, deletes }, histories);
        expect([topology, deletes, ...wrong]).toEqual([topology, deletes]);
      }
    }
  },
  TEST_TIMEOUT_MS,
);

/** The rule that is left out, and where. */
const CONTROLS: readonly (readonly [string, string, ModelOptions])[] = [
  ["late rows", "hub", { without: "late rows" }],
  ["kept rows", "pair", { oddTimes: true, without: "kept rows" }],
  ["kept tombstones", "pair", { deletes: true, without: "kept tombstones" }],
  ["a mark that is taken first", "hub", { meanwhile: true, without: "early mark" }],
  ["a stamp behind the row", "pair", { ...STAMPED, stamps: "now" }],
  ["a stamp behind the tombstone", "pair", { ...STAMPED, stamps: "row", deletes: true }],
  ["one first time", "pair", { ...STAMPED, begun: true, without: "first stamp" }],
  ["the time of the file", "pair", { ...STAMPED, without: "file time" }],
];

test.each(CONTROLS)(
  "control: D-7.4, D-7.6, D-14.2 the model shows what comes of leaving out: %s",
  (_, topology, options) => {
    expect(problemsOf(topology, options, STAMPED_HISTORIES)).not.toEqual([]);
  },
  TEST_TIMEOUT_MS,
);

function problemsOf(topology: string, options: ModelOptions, histories: number): readonly string[] {
  return Array.from({ length: histories }, (_, seed) => {
    const { problem, rounds } = new ModelWorld(seed, topology, options).play();
    if (problem !== null) return `seed ${seed}: ${problem}`;
    return rounds > 2 ? `seed ${seed}: ${rounds} rounds` : "";
  }).filter((problem) => problem !== "");
}
