// What the score promises for every person. A failure prints its seed; `SEED=` runs it again.
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  findPlatform,
  PLATFORM_CATALOGUE,
} from "../../../../src/domain/reputation/score/platforms.ts";
import { CATEGORY_WEIGHTS, computeScore } from "../../../../src/domain/reputation/score/score.ts";
import { type JsonObject, rawNumber } from "../../../../src/domain/shared/json.ts";
import { checkProperty } from "../../../support/seed.ts";
import { GOLDEN_NOW_MS } from "./golden-scores.ts";

const DAY_MS = 86_400_000;
const KNOWN = [...PLATFORM_CATALOGUE.keys()];
const TODAY = Math.floor(GOLDEN_NOW_MS / DAY_MS);

const dayValue = fc
  .integer({ min: TODAY - 7000, max: TODAY + 400 })
  .map((day) => new Date(day * DAY_MS + 12_345_678).toISOString());
const oddValue = fc.oneof(
  fc.constantFrom<JsonObject[string]>(null, "", "x", true, false, "1e999", "-1e999", "0.5", -1),
  fc.constant(rawNumber("9223372036854775807")),
  fc.double({ noNaN: true }),
  fc.string(),
);
const countValue = fc.oneof(fc.nat(8000), fc.nat(8000).map(String));
const ratingValue = fc.integer({ min: 0, max: 50 }).map((tenths) => String(tenths / 10));
const orOdd = (value: fc.Arbitrary<JsonObject[string]>) =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: oddValue });

const evidence = fc.record({
  account_created_at: orOdd(dayValue),
  activity_count: orOdd(countValue),
  rating: orOdd(ratingValue),
  rating_count: orOdd(countValue),
  last_active_at: orOdd(dayValue),
  updated_at: orOdd(dayValue),
});
const platform = fc.oneof(
  fc.constantFrom(...KNOWN),
  fc.constantFrom("mastodon", "GitHub", "EBAY", "vk"),
  fc.string({ maxLength: 5 }),
);
const account: fc.Arbitrary<JsonObject> = fc
  .tuple(
    platform,
    evidence,
    fc.boolean(),
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom<JsonObject[string]>(0, null, "0", -2, "none") },
      { weight: 1, arbitrary: fc.nat(5) },
    ),
  )
  .map(([name, values, verified, disputes]) => ({ platform: name, verified, disputes, ...values }));
const accounts = fc.array(account, { maxLength: 14 });
const goodAccount: fc.Arbitrary<JsonObject> = fc
  .tuple(platform, evidence, fc.constantFrom<JsonObject[string]>(0, null, "0", -2, "none"))
  .map(([name, values, disputes]) => ({ platform: name, verified: true, disputes, ...values }));

function scoreOf(rows: readonly JsonObject[]) {
  return computeScore({ profile: null, accounts: rows, nowMs: GOLDEN_NOW_MS });
}

function isOnPlatform(row: JsonObject, other: JsonObject): boolean {
  return String(row.platform).toLowerCase() === String(other.platform).toLowerCase();
}

test("D-6.6 adding a verified platform without disputes never lowers the score", () => {
  checkProperty(
    fc.property(accounts, goodAccount, (rows, added) => {
      const others = rows.filter((row) => !isOnPlatform(row, added));
      expect(scoreOf([...others, added]).score).toBeGreaterThanOrEqual(scoreOf(others).score);
    }),
    30_000,
  );
}, 120_000);

test("D-6.6 the score never falls while a person adds the whole catalogue one by one", () => {
  const person = fc.array(evidence, { minLength: KNOWN.length, maxLength: KNOWN.length });
  const order = fc.shuffledSubarray(KNOWN, { minLength: KNOWN.length });
  checkProperty(
    fc.property(person, order, (values, platforms) => {
      let last = 0;
      const rows: JsonObject[] = [];
      for (const [i, name] of platforms.entries()) {
        rows.push({ platform: name, verified: true, ...values[i] });
        const { score } = scoreOf(rows);
        expect(score).toBeGreaterThanOrEqual(last);
        last = score;
      }
    }),
    500,
  );
}, 120_000);

test("D-6.6 every person gets whole numbers in range, and points that sum to the score", () => {
  checkProperty(
    fc.property(accounts, (rows) => {
      const { score, starLevel, points, verifiedPlatforms } = scoreOf(rows);
      expect(Number.isInteger(score) && score >= 0 && score <= 100).toBe(true);
      expect(starLevel).toBe([1, 2, 3, 4, 5, 5][Math.floor(score / 20)] ?? 0);
      expect(points).toHaveLength(verifiedPlatforms);
      const hundredths = points.map((one) => Math.round(one.points * 100));
      expect(points.map((one) => one.points)).toEqual(hundredths.map((number) => number / 100));
      expect(hundredths.every((number) => number >= 0)).toBe(true);
      expect(hundredths.reduce((sum, number) => sum + number, 0)).toBe(score * 100);
      expect(Math.abs(points.reduce((sum, one) => sum + one.points, 0) - score)).toBeLessThan(0.05);
    }),
    10_000,
  );
}, 120_000);

test("D-6.6 the order of the accounts does not matter", () => {
  const shuffled = accounts.chain((rows) =>
    fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
  );
  checkProperty(
    fc.property(shuffled, ([rows, others]) => {
      expect(scoreOf(others)).toEqual(scoreOf(rows));
    }),
    5_000,
  );
}, 120_000);

test("D-6.6 unverified accounts without disputes change nothing but updated_at", () => {
  checkProperty(
    fc.property(accounts, account, (rows, added) => {
      const others = rows.filter((row) => !isOnPlatform(row, added));
      const { updatedAt: _, ...expected } = scoreOf(others);
      expect(scoreOf([...others, { ...added, verified: false, disputes: 0 }])).toMatchObject(
        expected,
      );
    }),
    5_000,
  );
}, 120_000);

test("D-6.6 the score is the formula's as plain floating point has it, to one point", () => {
  const plain = fc.uniqueArray(
    fc.record({
      platform: fc.constantFrom(...KNOWN, "mastodon", "vk"),
      ageDays: fc.nat(7000),
      activity: fc.nat(8000),
      idleDays: fc.nat(1000),
      rating: fc.integer({ min: 0, max: 50 }).map((tenths) => tenths / 10),
      ratings: fc.nat(5000),
      disputes: fc.constantFrom(0, 0, 0, 0, 1, 2),
    }),
    { maxLength: 14, selector: (one) => one.platform },
  );
  checkProperty(
    fc.property(plain, (persons) => {
      const rows = persons.map((one) => ({
        platform: one.platform,
        verified: true,
        account_created_at: new Date((TODAY - one.ageDays) * DAY_MS).toISOString(),
        activity_count: one.activity,
        last_active_at: new Date((TODAY - one.idleDays) * DAY_MS).toISOString(),
        rating: one.rating,
        rating_count: one.ratings,
        disputes: one.disputes,
      }));
      const model = plainFormula(persons);
      expect(Math.abs(scoreOf(rows).score - model)).toBeLessThan(0.5001);
    }),
    5_000,
  );
}, 120_000);

interface PlainAccount {
  readonly platform: string;
  readonly ageDays: number;
  readonly activity: number;
  readonly idleDays: number;
  readonly rating: number;
  readonly ratings: number;
  readonly disputes: number;
}

/** The formula of docs/reputation.md as one would write it first, not rounded. */
function plainFormula(persons: readonly PlainAccount[]): number {
  const byCategory = new Map<string, number[]>();
  for (const one of persons) {
    const { category, fullActivity, hasRatings } = findPlatform(one.platform);
    const a = 1 - Math.exp(-one.ageDays / 730);
    const done = hasRatings ? Math.max(one.activity, one.ratings) : one.activity;
    const v = Math.min(1, Math.log(1 + done) / Math.log(1 + fullActivity));
    const q = (one.ratings * (one.rating / 5) + 4.9) / (one.ratings + 7);
    const b = hasRatings ? (1 + 3 * a + 4 * v + 3 * q) / 11 : (1 + 3 * a + 4 * v) / 8;
    const r = 0.5 + 0.5 * 2 ** (-one.idleDays / 180);
    const m = 0.1 + 0.9 * (1 - Math.exp(-one.ageDays / 180) * (1 - v));
    const record = a * (one.ratings / (one.ratings + 200)) * Math.max(0, (q - 0.7) / 0.3);
    const t = hasRatings ? 1 + 1.25 * record : 1;
    const e = CATEGORY_WEIGHTS[category] * b * r * m * t;
    byCategory.set(category, [...(byCategory.get(category) ?? []), e]);
  }
  let evidenceSum = 0;
  for (const list of byCategory.values()) {
    list.sort((x, y) => y - x);
    for (const [k, e] of list.entries()) evidenceSum += e * 0.6 ** k;
  }
  const disputes = persons.reduce((sum, one) => sum + one.disputes, 0);
  return 100 * (1 - Math.exp(-evidenceSum / 4)) * (1 - Math.min(0.5, 0.15 * disputes));
}
