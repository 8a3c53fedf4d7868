import { expect, test } from "bun:test";
import { SEED } from "../../support/seed.ts";
import { History, type HistoryOptions, TOPOLOGIES } from "./live-ends.ts";

const HISTORIES = 40;

const KINDS: readonly HistoryOptions[] = [false, true].flatMap((deletes) => [
  { deletes },
  { deletes, crashes: true },
  { deletes, crashes: true, skew: true, meanwhile: true, oddTimes: true },
]);

const cases = Object.keys(TOPOLOGIES).flatMap((topology) =>
  KINDS.map((options) => [topology as keyof typeof TOPOLOGIES, options] as const),
);

test.each(cases)(
  "D-7.1, D-7.4, D-7.6 runs alone make live ends equal: %s, %p",
  async (topology, options) => {
    for (let i = 0; i < HISTORIES; i++) {
      const seed = SEED + i;
      const history = new History(seed, topology, options);
      const { isEqual, isNewest, rounds } = await history.play();
      if (!isEqual || isNewest === false || rounds > 2) {
        throw new Error(
          `SEED=${seed}: ${JSON.stringify({ isEqual, isNewest, rounds })}\n${history.show()}`,
        );
      }
      expect(isEqual).toBe(true);
    }
  },
);

/** What has to be left out for histories of a kind to end unequal, or not with the newest rows. */
const CONTROLS = [
  ["hub", { without: "own marks" }],
  ["hub", { without: "remote marks" }],
  ["pair", { without: "guard" }],
] as const;

test.each(CONTROLS)("D-7.1, D-7.4 the histories of a %s find %p", async (topology, options) => {
  const found: number[] = [];
  for (let i = 0; i < HISTORIES && found.length === 0; i++) {
    const { isEqual, isNewest } = await new History(SEED + i, topology, options).play();
    if (!isEqual || isNewest === false) found.push(SEED + i);
  }
  expect(found).toHaveLength(1);
});
