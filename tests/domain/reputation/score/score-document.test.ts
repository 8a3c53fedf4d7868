// docs/reputation.md is what people are told about their score: its tables must be what the code does.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { PLATFORM_CATALOGUE } from "../../../../src/domain/reputation/score/platforms.ts";
import {
  CATEGORY_WEIGHTS,
  computeScore,
  SCORE_VERSION,
} from "../../../../src/domain/reputation/score/score.ts";
import type { JsonObject } from "../../../../src/domain/shared/json.ts";

const DOCUMENT = readFileSync(new URL("../../../../docs/reputation.md", import.meta.url), "utf8");
const NOW_MS = Date.parse("2026-11-21T10:00:00Z");
const DAY_MS = 86_400_000;

/** The rows below the table head with these columns, as cells. */
function tableOf(...columns: string[]): string[][] {
  const head = `| ${columns.join(" | ")} |\n`;
  const start = DOCUMENT.indexOf(head);
  expect(start).toBeGreaterThan(-1);
  const rows: string[][] = [];
  for (const line of DOCUMENT.slice(start + head.length)
    .split("\n")
    .slice(1)) {
    if (!line.startsWith("|")) break;
    rows.push(line.slice(2, -2).split(" | "));
  }
  return rows;
}

function rowOf(cells: string[]): JsonObject {
  const [, platform = "", created, activity, active, rating = "", disputes] = cells;
  const [stars, count] = rating.split(" × ");
  const orNull = (text: string | undefined) => (text === undefined || text === "–" ? null : text);
  return {
    platform,
    verified: true,
    account_created_at: orNull(created),
    activity_count: orNull(activity),
    last_active_at: orNull(active),
    rating: orNull(stars),
    rating_count: orNull(count),
    disputes: Number(disputes),
  };
}

test("D-6.6 the document names the version of the formula", () => {
  expect(SCORE_VERSION).toBe("rep-2");
  expect(DOCUMENT).toContain("## How the score is computed\n\nThis is formula `rep-2`,");
});

test("D-6.6 the document's catalogue is the code's", () => {
  const rows = tableOf("platform", "category", "N_p", "ratings");
  const expected = [...PLATFORM_CATALOGUE.values()].map(
    ({ platform, category, fullActivity, hasRatings }) => [
      platform,
      category,
      String(fullActivity),
      hasRatings ? "yes" : "no",
    ],
  );
  expect(rows.toSorted()).toEqual(expected.toSorted());
});

test("D-6.6 the document's category weights are the code's", () => {
  const rows = tableOf("category", "weight");
  expect(rows.map(([category, weight]) => [category, Number(weight)])).toEqual(
    Object.entries(CATEGORY_WEIGHTS),
  );
});

test("D-6.6 the document's examples are what the code computes", () => {
  const accounts = tableOf(
    ...["person", "platform", "created", "activity", "last active", "rating", "disputes", "points"],
  );
  const persons = tableOf("person", "score", "star level");
  expect(persons).toHaveLength(9);
  for (const [person, expectedScore, expectedStars] of persons) {
    const rows = accounts.filter(([name]) => name === person);
    const result = computeScore({ profile: null, accounts: rows.map(rowOf), nowMs: NOW_MS });
    expect([person, result.score, result.starLevel]).toEqual([
      person,
      Number(expectedScore),
      Number(expectedStars),
    ]);
    expect(result.points.map(({ platform, points }) => [platform, points.toFixed(2)])).toEqual(
      rows.map((cells) => [cells[1] ?? "", cells[7] ?? ""]).toSorted(),
    );
  }
});

test("D-6.6 the document's steps are those of its formula", () => {
  const steps = tableOf("step", "government_id", "shopee", "tokopedia");
  const accounts = tableOf(
    ...["person", "platform", "created", "activity", "last active", "rating", "disputes", "points"],
  ).filter(([name]) => name === "a seller");
  const sum = accounts.reduce((total, cells, i) => {
    const column = (step: string) => steps.find(([name]) => name === step)?.[i + 1];
    const expected = stepsOf(cells);
    for (const [step, value] of Object.entries(expected)) {
      expect([step, column(step)]).toEqual([step, value === null ? "–" : value.toFixed(4)]);
    }
    const rank = cells[1] === "shopee" ? 0.6 : 1;
    expect(column("c")).toBe((expected.e * rank).toFixed(4));
    return total + expected.e * rank;
  }, 0);
  expect(sum.toFixed(4)).toBe("7.2487");
  expect(DOCUMENT).toContain("E = 7.2487");
  expect((100 * (1 - Math.exp(-sum / 4))).toFixed(2)).toBe("83.67");
});

/** The steps of one row of the example table, written from the document's formula alone. */
function stepsOf([, name = "", created = "", activity, active = "", rating = ""]: string[]) {
  const platform = PLATFORM_CATALOGUE.get(name);
  const daysSince = (day: string) => Math.floor((NOW_MS - Date.parse(day)) / DAY_MS);
  const [stars, count] = rating.split(" × ").map(Number);
  const A = 1 - Math.exp(-daysSince(created) / 730);
  const V = Math.log(1 + Number(activity)) / Math.log(1 + (platform?.fullActivity ?? 0));
  const young = Math.exp(-daysSince(created) / 180);
  const Q = count === undefined ? null : (count * (Number(stars) / 5) + 4.9) / (Number(count) + 7);
  const b = Q === null ? (1 + 3 * A + 4 * V) / 8 : (1 + 3 * A + 4 * V + 3 * Q) / 11;
  const r = 0.5 + 0.5 * 2 ** (-daysSince(active) / 180);
  const m = 0.1 + 0.9 * (1 - young * (1 - V));
  const record = (count ?? 0) / ((count ?? 0) + 200);
  const t = 1 + 1.25 * A * record * Math.max(0, ((Q ?? 0) - 0.7) / 0.3);
  const e = CATEGORY_WEIGHTS[platform?.category ?? "community"] * b * r * m * t;
  return { A, V, Q, b, r, m, t, e };
}
