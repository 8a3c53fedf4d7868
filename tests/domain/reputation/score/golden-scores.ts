// Scores as an independent program gave them (Python, 60 decimal digits). Every runtime must agree.
import type { JsonObject } from "../../../../src/domain/shared/json.ts";

/** One person and the expected score. */
interface GoldenScore {
  readonly name: string;
  readonly accounts: readonly JsonObject[];
  readonly score: number;
  readonly starLevel: number;
  /** In the order of the accounts' platforms. */
  readonly points: readonly { readonly platform: string; readonly points: number }[];
}

/** A verified account: its platform, the expected points, and what is known of it; nothing of a platform alone. */
type Line = readonly [platform: string, points: number, known?: Known];
type Known = readonly [created: string, activity: number, lastActive: string, more?: JsonObject];

/** The moment of every golden score: 2026-11-21T15:00:00Z. */
export const GOLDEN_NOW_MS = 1_795_273_200_000;

function person(name: string, score: number, starLevel: number, lines: readonly Line[]) {
  const accounts = lines.map(([platform, , known]) => ({
    ...{ platform, verified: true },
    ...(known === undefined ? {} : fieldsOf(known)),
  }));
  const points = lines.map(([platform, points]) => ({ platform, points }));
  points.sort((a, b) => (a.platform < b.platform ? -1 : 1));
  return { name, accounts, score, starLevel, points };
}

function fieldsOf([created, activity, lastActive, more]: Known): JsonObject {
  return {
    account_created_at: `${created}T09:30:00Z`,
    activity_count: activity,
    last_active_at: `${lastActive}T23:59:59.999999Z`,
    ...more,
  };
}

/** Persons of all kinds. */
export const GOLDEN_SCORES: readonly GoldenScore[] = [
  person("nobody", 0, 1, []),
  person("one two-month Instagram account", 6, 1, [
    ["instagram", 6, ["2026-09-21", 40, "2026-11-20"]],
  ]),
  person("a developer", 64, 4, [
    ["github", 22.56, ["2018-11-21", 1500, "2026-11-20"]],
    ["stackoverflow", 16.48, ["2019-11-21", 300, "2026-10-22"]],
    ["linkedin", 24.96, ["2016-11-21", 200, "2026-11-20"]],
  ]),
  person("a seller", 84, 5, [
    ["government_id", 22.48, ["2024-11-21", 1, "2026-05-25"]],
    ["shopee", 18.82, ["2021-11-21", 800, "2026-11-20", { rating: "4.7", rating_count: 300 }]],
    ["tokopedia", 42.7, ["2020-11-21", 2400, "2026-11-20", { rating: "4.9", rating_count: 1200 }]],
  ]),
  person("the seller after a dispute", 71, 4, [
    ["government_id", 19, ["2024-11-21", 1, "2026-05-25"]],
    [
      "shopee",
      15.91,
      ["2021-11-21", 800, "2026-11-20", { rating: "4.7", rating_count: 300, disputes: 1 }],
    ],
    ["tokopedia", 36.09, ["2020-11-21", 2400, "2026-11-20", { rating: "4.9", rating_count: 1200 }]],
  ]),
  person("eight strong platforms", 98, 5, [
    ["government_id", 13.79, ["2020-01-01", 1, "2026-05-25"]],
    ["paypal", 15.46, ["2015-01-01", 500, "2026-11-20"]],
    ["tokopedia", 25.88, ["2016-01-01", 5000, "2026-11-20", { rating: "4.9", rating_count: 4000 }]],
    ["upwork", 15.19, ["2017-01-01", 150, "2026-11-20", { rating: "5", rating_count: 120 }]],
    ["github", 9.28, ["2012-01-01", 2000, "2026-11-20"]],
    ["stackoverflow", 7.68, ["2012-01-01", 900, "2026-11-20"]],
    ["youtube", 6.08, ["2014-01-01", 400, "2026-11-20"]],
    ["reddit", 4.64, ["2013-01-01", 2000, "2026-11-20"]],
  ]),
  person("five strong platforms idle for two years", 79, 4, [
    ["paypal", 16.62, ["2015-01-01", 500, "2024-11-21"]],
    ["tokopedia", 27.82, ["2016-01-01", 5000, "2024-11-21", { rating: "4.9", rating_count: 4000 }]],
    ["upwork", 16.33, ["2017-01-01", 150, "2024-11-21", { rating: "5", rating_count: 120 }]],
    ["github", 9.98, ["2012-01-01", 2000, "2024-11-21"]],
    ["stackoverflow", 8.25, ["2012-01-01", 900, "2024-11-21"]],
  ]),
  person("ten social accounts", 55, 3, [
    ["discord", 10.09, ["2023-11-21", 300, "2026-11-20"]],
    ["instagram", 4.84, ["2023-11-21", 300, "2026-11-20"]],
    ["mastodon", 6.06, ["2023-11-21", 300, "2026-11-20"]],
    ["reddit", 3.63, ["2023-11-21", 300, "2026-11-20"]],
    ["telegram", 2.18, ["2023-11-21", 300, "2026-11-20"]],
    ["threads", 1.31, ["2023-11-21", 300, "2026-11-20"]],
    ["tiktok", 8.46, ["2023-11-21", 300, "2026-11-20"]],
    ["vk", 0.79, ["2023-11-21", 300, "2026-11-20"]],
    ["x", 2.76, ["2023-11-21", 300, "2026-11-20"]],
    ["youtube", 14.88, ["2023-11-21", 300, "2026-11-20"]],
  ]),
  person("accounts of which nothing is known", 2, 1, [
    ["github", 0.31],
    ["government_id", 0.62],
    ["mastodon", 0.15],
    ["tokopedia", 0.92],
  ]),
];
