import { describe, expect, test } from "bun:test";
import {
  commonBits,
  filterBits,
  hasBits,
  INDEX_SHAPE,
  joinSlices,
  makeFilter,
  sliceFilters,
} from "../../../../src/domain/reputation/audit/name-filter.ts";
import { SEED } from "../../../support/seed.ts";
import { SeededRandom } from "../../../support/seeded-random.ts";

const SHAPE = { segmentRecords: 4, segmentsAtOnce: 1, filterBits: 256, groupSize: 8 };

function randomName(random: SeededRandom): string {
  return Array.from({ length: 64 }, () => random.int(0, 15).toString(16)).join("");
}

describe("filters of names", () => {
  test("D-5.5 a filter has every name that is in it, and practically no other", () => {
    const random = new SeededRandom(SEED);
    const names = Array.from({ length: 600 }, () => randomName(random));
    const filter = makeFilter([...names, "", "no name"], INDEX_SHAPE);
    expect(filter.length).toBe(2_048);
    expect(names.every((name) => hasBits(filter, filterBits(name, INDEX_SHAPE)))).toBe(true);
    const others = Array.from({ length: 20_000 }, () =>
      filterBits(randomName(random), INDEX_SHAPE),
    );
    expect(others.filter((bits) => hasBits(filter, bits)).length).toBeLessThan(10);
  });

  test("D-5.5 slices of small and of large groups tell what the filters tell", () => {
    const random = new SeededRandom(SEED + 1);
    const names = Array.from({ length: 40 }, () => randomName(random));
    const named = Array.from({ length: 64 }, () => names.filter(() => random.chance(0.1)));
    const filters = named.map((some) => makeFilter(some, SHAPE));
    const smalls = Array.from({ length: 8 }, (_, group) =>
      sliceFilters(filters.slice(group * 8, group * 8 + 8), SHAPE),
    );
    const parts = Array.from({ length: 32 }, (_, part) =>
      joinSlices(
        smalls.map((slices) => slices[part]),
        SHAPE,
      ),
    );
    expect(parts[0]?.[0]?.length).toBe(8);
    for (const name of names) {
      const bits = filterBits(name, SHAPE);
      const expected = filters.flatMap((filter, n) => (hasBits(filter, bits) ? [n] : []));
      const large = bits.map((bit) => parts[Math.floor(bit / 8)]?.[bit % 8] ?? new Uint8Array());
      expect([SEED, commonBits(large)]).toEqual([SEED, expected]);
      const found = smalls.flatMap((slices, group) => {
        const of = bits.map((bit) => slices[Math.floor(bit / 8)]?.subarray(bit % 8, (bit % 8) + 1));
        return commonBits(of as Uint8Array[]).map((n) => group * 8 + n);
      });
      expect([SEED, found]).toEqual([SEED, expected]);
    }
  });
});
