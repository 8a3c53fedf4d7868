import { describe, expect, test } from "bun:test";
import { PLATFORM_CATALOGUE } from "../../../../src/domain/reputation/score/platforms.ts";
import {
  computeScore,
  type Score,
  starLevelOf,
} from "../../../../src/domain/reputation/score/score.ts";
import { type JsonObject, rawNumber } from "../../../../src/domain/shared/json.ts";
import { GENERATED_SCORES, generatedPersons } from "./generated-scores.ts";
import { GOLDEN_NOW_MS, GOLDEN_SCORES } from "./golden-scores.ts";

const GITHUB: JsonObject = {
  platform: "github",
  verified: true,
  account_created_at: "2018-11-21T09:30:00Z",
  activity_count: 1500,
  last_active_at: "2026-11-20T00:00:00Z",
};

function scoreOf(...accounts: JsonObject[]): Score {
  return computeScore({ profile: null, accounts, nowMs: GOLDEN_NOW_MS });
}

describe("the formula", () => {
  test.each(GOLDEN_SCORES.map((golden) => [golden.name, golden] as const))(
    "D-6.6 computeScore() gives the golden score of %s",
    (_name, { accounts, score, starLevel, points }) => {
      expect(scoreOf(...accounts)).toEqual({
        score,
        starLevel,
        points: [...points],
        verifiedPlatforms: accounts.length,
        scoreVersion: "rep-2",
        updatedAt: "1970-01-01T00:00:00Z",
      });
    },
  );

  test("D-6.6 computeScore() agrees with an independent program on 400 persons", () => {
    expect(generatedPersons().map((accounts) => scoreOf(...accounts).score)).toEqual([
      ...GENERATED_SCORES,
    ]);
  });

  test.each([
    [0, 1],
    [19, 1],
    [20, 2],
    [39, 2],
    [40, 3],
    [59, 3],
    [60, 4],
    [79, 4],
    [80, 5],
    [99, 5],
    [100, 5],
  ])("D-6.6 starLevelOf() gives a score of %d a star level of %d", (score, starLevel) => {
    expect(starLevelOf(score)).toBe(starLevel);
  });

  test("D-6.6 ratings are as none where their mean is not known, however many there are", () => {
    const shop = { ...GITHUB, platform: "tokopedia", rating: null, rating_count: 500 };
    expect(scoreOf(shop)).toEqual(scoreOf({ ...shop, rating_count: null }));
  });

  test("D-6.6 computeScore() gives the same at every moment of a UTC day", () => {
    const at = (now: string) =>
      computeScore({ profile: null, accounts: [GITHUB], nowMs: Date.parse(now) });
    expect(at("2026-11-21T00:00:00.000Z")).toEqual(at("2026-11-21T23:59:59.999Z"));
    expect(at("2026-11-22T00:00:00Z").score).toBe(31);
    expect(at("2027-11-22T00:00:00Z").score).toBe(20);
  });

  test("D-6.6 disputes take 15 percent each, and half of the score at most", () => {
    const disputed = (disputes: number) => scoreOf({ ...GITHUB, disputes }).score;
    expect([0, 1, 2, 3, 4, 5, 1000].map(disputed)).toEqual([31, 26, 21, 17, 15, 15, 15]);
  });
});

describe("which accounts count", () => {
  test("D-6.6 an unverified account adds nothing, nor do its disputes when nobody knows since when", () => {
    const alone = scoreOf(GITHUB);
    for (const verified of [false, null, "no"]) {
      const other = { ...GITHUB, platform: "gitlab", disputes: 3, verified };
      expect(scoreOf(GITHUB, other)).toEqual(alone);
    }
  });

  test("D-6.6 a platform outside the catalogue counts as category community", () => {
    const { platform: _, ...evidence } = GITHUB;
    const known = scoreOf({ ...evidence, platform: "reddit" });
    const unknown = scoreOf({ ...evidence, platform: "mastodon" });
    expect(unknown.score).toBe(known.score);
    expect(unknown.verifiedPlatforms).toBe(1);
    expect(unknown.points).toEqual([{ platform: "mastodon", points: known.score }]);
  });

  test("D-6.2 of two platforms that differ in case the later updated_at counts", () => {
    const early = { ...GITHUB, updated_at: "2026-01-01T00:00:00Z" };
    const late = { ...GITHUB, platform: "GitHub", updated_at: "2026-01-01T00:00:00.000001Z" };
    const isLateVerified = scoreOf({ ...early, verified: false }, late);
    expect(isLateVerified.points.map(({ platform }) => platform)).toEqual(["github"]);
    expect(isLateVerified.verifiedPlatforms).toBe(1);
    expect(scoreOf(early, { ...late, verified: false }).verifiedPlatforms).toBe(0);
    expect(scoreOf(early, { ...late, verified: false }).score).toBe(0);
  });

  test("D-6.2 an unknown updated_at comes before every other", () => {
    const known = { ...GITHUB, updated_at: "0001-01-01T00:00:00Z" };
    for (const updated_at of [null, "yesterday", 5]) {
      const unknown = { ...GITHUB, platform: "GITHUB", updated_at, verified: false };
      expect(scoreOf(known, unknown).verifiedPlatforms).toBe(1);
    }
  });

  test("D-6.2 at equal updated_at the later spelling by UTF-8 bytes counts, in any order", () => {
    const lower = { ...GITHUB, updated_at: "2026-01-01T00:00:00Z" };
    const upper = { ...lower, platform: "GitHub", verified: false };
    expect(scoreOf(lower, upper).verifiedPlatforms).toBe(1);
    expect(scoreOf(upper, lower).verifiedPlatforms).toBe(1);
    const swapped = [
      { ...lower, verified: false },
      { ...upper, verified: true },
    ];
    expect(scoreOf(...swapped).verifiedPlatforms).toBe(0);
    expect(scoreOf(...swapped.reverse()).verifiedPlatforms).toBe(0);
  });

  test("D-6.6 names that every object has are platforms like others", () => {
    for (const platform of ["constructor", "__proto__", "toString", ""]) {
      const { points } = scoreOf({ ...GITHUB, platform });
      expect(points.map((one) => one.platform)).toEqual([platform.toLowerCase()]);
    }
  });
});

describe("what strangers cannot get for nothing", () => {
  const today = "2026-11-21T08:00:00Z";
  const made = (platform: string, values: JsonObject = {}): JsonObject => ({
    platform,
    verified: true,
    account_created_at: today,
    activity_count: 0,
    last_active_at: today,
    ...values,
  });

  test("D-8.10 phone and e-mail domain give at most 10 points together", () => {
    const best = { account_created_at: "1999-01-01T00:00:00Z", activity_count: 1 };
    expect(scoreOf(made("phone", { activity_count: 1 })).score).toBe(4);
    const both = [made("phone", best), made("email_domain", best)];
    expect(scoreOf(...both).score).toBe(10);
    const { points } = scoreOf(...both, GITHUB, { ...GITHUB, platform: "government_id" });
    const ofContact = points.filter(({ platform }) => /phone|email/.test(platform));
    expect(ofContact.reduce((sum, one) => sum + one.points, 0)).toBeLessThanOrEqual(10);
  });

  test("D-8.10 accounts made today without activity give at most 15 points, however many", () => {
    const known = [...PLATFORM_CATALOGUE.keys()].map((platform) => made(platform));
    const others = Array.from({ length: 5000 }, (_, n) => made(`forum-${n}`));
    expect(scoreOf(...known).score).toBe(12);
    expect(scoreOf(...known, ...others).score).toBe(12);
  });

  test.each(["tokopedia", "shopee", "bukalapak", "ebay", "etsy"])(
    "D-8.10 ten years of trade at %s with 2,000 ratings of 4.9 alone give at least 60",
    (platform) => {
      const years = { account_created_at: "2016-11-21T00:00:00Z", rating: 4.9, rating_count: 2000 };
      expect(scoreOf(made(platform, years)).score).toBeGreaterThanOrEqual(60);
      const bad = scoreOf(made(platform, { ...years, rating: 3.5 }));
      expect(bad.score).toBeLessThan(40);
    },
  );

  test("D-8.10 disputes of an account that is not verified any more count for a year", () => {
    const shop = made("tokopedia", {
      account_created_at: "2020-01-01T00:00:00Z",
      activity_count: 500,
      disputes: 2,
    });
    const unlinked = (updated_at: string | null) =>
      scoreOf(GITHUB, { ...shop, verified: false, updated_at }).score;
    expect([scoreOf(GITHUB).score, scoreOf(GITHUB, shop).score]).toEqual([31, 38]);
    expect(unlinked("2026-11-21T00:00:00Z")).toBe(21);
    expect(unlinked("2025-11-21T00:00:00Z")).toBe(21);
    expect(unlinked("2025-11-20T23:59:59Z")).toBe(31);
    expect(unlinked(null)).toBe(31);
    const other = { ...shop, platform: "Tokopedia", updated_at: "2026-01-01T00:00:00Z" };
    const former = { ...shop, verified: false, disputes: 5, updated_at: "2025-12-31T00:00:00Z" };
    expect(scoreOf(GITHUB, former, other).score).toBe(38);
  });
});

describe("odd values", () => {
  test("S-4.2.8 numbers that arrived as text count as numbers", () => {
    const ebay = { ...GITHUB, platform: "ebay", rating: 4.5, rating_count: 20, disputes: 1 };
    const asText = {
      ...ebay,
      activity_count: "1.5e3",
      rating: "4.50",
      rating_count: "+20",
      disputes: "1",
    };
    expect(scoreOf(asText)).toEqual(scoreOf(ebay));
  });

  test("S-4.2.8 what is no number or no time counts as unknown", () => {
    const bare = scoreOf({ platform: "ebay", verified: true });
    for (const odd of [null, "many", "", " 5", "NaN", "Infinity", "0x10", true, false]) {
      const account = {
        platform: "ebay",
        verified: true,
        account_created_at: odd,
        activity_count: odd,
        rating: odd,
        rating_count: odd,
        disputes: odd,
        last_active_at: odd,
      };
      expect(scoreOf(account)).toEqual(bare);
    }
    expect(bare.score).toBe(1);
  });

  test("D-6.6 negative counts are 0, and counts beyond N_p are N_p", () => {
    const withCount = (activity_count: JsonObject[string]) =>
      scoreOf({ ...GITHUB, activity_count }).score;
    expect(withCount(-5)).toBe(withCount(0));
    expect(withCount("-9223372036854775808")).toBe(withCount(null));
    expect(withCount(rawNumber("9223372036854775807"))).toBe(withCount(2000));
    expect(withCount("9223372036854775807")).toBe(withCount(2000));
    expect(withCount("1e999")).toBe(withCount(2000));
    expect(withCount(1.9)).toBe(withCount(1));
    expect(scoreOf({ ...GITHUB, disputes: -3 })).toEqual(scoreOf(GITHUB));
  });

  test("D-6.2 ratings beyond 0 to 5 count as the nearer end", () => {
    const withRating = (rating: JsonObject[string]) =>
      scoreOf({ ...GITHUB, platform: "etsy", rating, rating_count: 1000 }).score;
    expect(withRating("7")).toBe(withRating(5));
    expect(withRating(-1)).toBe(withRating("0"));
    expect(withRating("5")).toBeGreaterThan(withRating("0"));
  });

  test("D-6.6 times to come are now, and times before 1970 are old", () => {
    const created = (account_created_at: string) => scoreOf({ ...GITHUB, account_created_at });
    const active = (last_active_at: string) => scoreOf({ ...GITHUB, last_active_at });
    expect(created("9999-12-31T23:59:59Z")).toEqual(created("2026-11-21T00:00:00Z"));
    expect(active("2031-01-01T00:00:00Z")).toEqual(active("2026-11-21T00:00:00Z"));
    expect(created("1955-04-05T00:00:00Z").score).toBe(31);
    expect(created("0001-01-01T00:00:00Z").score).toBe(31);
    expect(active("0001-01-01T00:00:00Z").score).toBe(17);
  });

  test("D-6.6 thousands of accounts give a score, and points that sum to it", () => {
    const accounts = Array.from({ length: 5000 }, (_, i) => ({ ...GITHUB, platform: `p${i}` }));
    const { score, points, verifiedPlatforms } = scoreOf(...accounts);
    expect(verifiedPlatforms).toBe(5000);
    expect(score).toBe(37);
    expect(Math.abs(points.reduce((sum, one) => sum + one.points, 0) - score)).toBeLessThan(0.05);
  });
});

describe("updated_at", () => {
  const at = (profile: JsonObject | null, ...accounts: JsonObject[]) =>
    computeScore({ profile, accounts, nowMs: GOLDEN_NOW_MS }).updatedAt;

  test("D-6.6 updated_at is the latest of the profile and its accounts, verified or not", () => {
    const profile = { updated_at: "2026-02-01T00:00:00Z" };
    expect(at(profile)).toBe("2026-02-01T00:00:00Z");
    expect(at(profile, { ...GITHUB, updated_at: "2026-01-01T00:00:00Z" })).toBe(
      "2026-02-01T00:00:00Z",
    );
    const unverified = { verified: false, updated_at: "2026-02-01T00:00:00.000001Z" };
    expect(at(profile, { ...GITHUB, ...unverified })).toBe("2026-02-01T00:00:00.000001Z");
  });

  test("D-6.6 updated_at is canonical, and passes over what is no time", () => {
    expect(at({ updated_at: "2026-02-01 07:00:00+07:00" })).toBe("2026-02-01T00:00:00Z");
    const accounts = ["soon", 17, null].map((updated_at) => ({ ...GITHUB, updated_at }));
    expect(at({ updated_at: "2020-01-01T00:00:00Z" }, ...accounts)).toBe("2020-01-01T00:00:00Z");
  });

  test("D-6.6 without any updated_at it is the profile's created_at, and without that 1970", () => {
    expect(at({ updated_at: null, created_at: "2019-05-06T00:00:00Z" }, GITHUB)).toBe(
      "2019-05-06T00:00:00Z",
    );
    expect(at({ updated_at: null, created_at: null })).toBe("1970-01-01T00:00:00Z");
    expect(at(null)).toBe("1970-01-01T00:00:00Z");
  });
});
