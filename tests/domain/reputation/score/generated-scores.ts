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
  59 47 66 18 66 37 0 54 43 25 63 29 71 12 0 57 66 66 0 63 51 47 59 66 51
  69 77 0 75 17 52 59 48 84 61 68 57 62 34 18 30 71 13 20 30 70 62 19 0 31
  74 69 77 67 44 68 34 26 60 47 79 55 52 39 0 15 57 0 28 55 47 44 26 18 69
  84 78 29 59 18 16 66 58 23 58 56 53 70 0 66 71 67 45 62 39 30 58 65 68 58
  41 77 50 55 0 44 8 60 47 19 36 20 41 50 52 77 0 80 63 33 39 66 62 36 43
  57 9 25 63 74 0 86 0 47 23 31 72 41 0 0 18 67 72 76 18 53 69 41 43 67
  42 53 0 54 38 22 19 56 67 48 32 62 74 45 25 34 0 60 62 42 54 34 45 27 51
  79 77 62 76 62 30 70 53 76 41 56 38 72 70 34 64 45 58 59 60 66 54 65 30 37
  11 38 22 72 58 70 46 51 49 54 0 66 58 64 0 50 18 50 69 63 11 75 31 68 41
  69 45 61 84 72 59 61 12 27 31 52 41 3 72 0 57 68 84 53 0 0 85 0 0 74
  48 70 38 76 54 69 29 46 58 47 50 67 41 77 71 0 62 48 0 82 52 65 44 52 61
  51 16 68 66 0 79 28 47 0 62 56 72 23 67 10 51 48 70 60 0 30 56 69 8 58
  39 70 58 73 53 19 10 0 56 0 56 62 75 58 69 60 12 0 83 39 47 41 37 0 73
  31 41 47 65 64 54 42 38 17 40 65 57 47 0 32 82 28 70 0 70 48 0 75 75 67
  40 58 26 39 0 68 49 3 39 79 68 56 61 71 72 25 68 71 69 50 79 39 19 71 0
  58 28 42 55 0 80 65 75 4 23 69 43 59 19 62 20 55 27 3 82 36 53 58 53 0
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
