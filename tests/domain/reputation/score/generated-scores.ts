// Many persons without rhyme or reason, and their scores by the same independent program as the
// golden ones.
import type { JsonObject } from "../../../../src/domain/shared/json.ts";
import { GOLDEN_NOW_MS } from "./golden-scores.ts";

const DAY_MS = 86_400_000;
const PLATFORMS = `
  government_id phone email_domain paypal stripe dana ovo tokopedia shopee bukalapak ebay etsy
  linkedin upwork fiverr freelancer toptal github gitlab bitbucket npm huggingface stackoverflow
  kaggle devto medium dribbble behance youtube instagram tiktok x discord reddit mastodon
  telegram vk
`
  .trim()
  .split(/\s+/);

/** The scores of `generatedPersons()`, in their order. */
export const GENERATED_SCORES: readonly number[] = `
  59 47 79 18 75 34 0 57 43 25 60 46 71 12 0 57 64 70 0 64 51 47 67 72 51
  81 77 0 75 17 52 66 68 84 61 66 57 62 29 18 30 69 13 20 30 76 62 19 0 61
  69 63 76 67 44 67 34 26 60 47 75 55 52 39 0 15 57 0 28 55 47 44 45 18 69
  82 81 29 55 18 16 63 58 23 58 52 47 70 0 72 71 77 44 67 39 24 64 65 68 58
  55 68 49 57 0 44 8 60 58 19 36 20 41 50 62 77 0 80 72 33 39 66 62 36 65
  57 9 25 63 73 0 88 0 47 23 31 61 41 0 0 18 74 72 81 47 53 69 41 42 67
  42 49 0 43 37 22 19 56 67 48 32 62 74 45 25 34 0 69 56 42 61 34 45 27 51
  79 73 62 76 62 30 85 41 71 41 74 34 72 79 34 64 45 58 54 60 61 43 63 30 37
  11 38 22 69 68 70 46 51 49 54 0 81 58 62 0 50 18 46 73 61 11 75 31 68 37
  69 45 61 84 71 59 67 12 27 31 52 41 29 72 0 57 64 84 53 0 0 85 0 0 61
  48 67 38 76 54 62 29 45 52 62 50 67 41 76 71 0 75 66 0 82 69 65 41 52 57
  51 16 67 66 0 84 28 47 0 62 64 72 23 66 10 51 38 70 60 0 30 56 63 8 58
  39 65 76 68 51 19 10 0 56 0 56 70 75 57 69 71 12 0 86 39 62 61 37 0 73
  52 41 47 65 57 63 42 38 17 40 49 57 47 0 56 82 19 66 0 79 58 0 79 69 69
  41 58 26 39 0 62 50 32 39 79 65 55 59 82 72 48 82 65 79 50 86 56 19 71 0
  58 29 42 65 0 75 60 75 35 42 69 43 52 19 62 44 55 27 33 78 31 52 48 49 0
`
  .trim()
  .split(/\s+/)
  .map(Number);

/** The same 400 persons every time: a linear congruential generator draws them. */
export function generatedPersons(): readonly (readonly JsonObject[])[] {
  let state = 20261121;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor(state / 8) % below;
  };
  return GENERATED_SCORES.map(() => {
    const accounts = new Map<string, JsonObject>();
    const drawn = draw(9);
    for (let i = 0; i < drawn; i++) {
      const platform = PLATFORMS[draw(PLATFORMS.length)] ?? "";
      const account = drawAccount(platform, draw);
      if (!accounts.has(platform)) accounts.set(platform, account);
    }
    return [...accounts.values()];
  });
}

function drawAccount(platform: string, draw: (below: number) => number): JsonObject {
  const ageDays = draw(6000);
  const activity = draw(7000);
  const idleDays = draw(900);
  const rating = draw(51);
  const ratings = draw(3000);
  const isDisputed = draw(12) === 0;
  return {
    platform,
    verified: true,
    account_created_at: daysAgo(ageDays),
    activity_count: activity,
    last_active_at: daysAgo(idleDays),
    rating: String(rating / 10),
    rating_count: ratings,
    disputes: isDisputed ? 1 : 0,
  };
}

function daysAgo(days: number): string {
  return new Date(GOLDEN_NOW_MS - days * DAY_MS).toISOString();
}
