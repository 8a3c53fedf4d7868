import { expect, test } from "bun:test";
import {
  findPlatform,
  PLATFORM_CATALOGUE,
} from "../../../../src/domain/reputation/score/platforms.ts";
import { SCORE_VERSION } from "../../../../src/domain/reputation/score/score.ts";

test("R-1, D-6.6 the catalogue has at least 26 platforms, each in lowercase", () => {
  expect([SCORE_VERSION, PLATFORM_CATALOGUE.size]).toEqual(["rep-2", 34]);
  for (const [identifier, { platform, fullActivity }] of PLATFORM_CATALOGUE) {
    expect(platform).toBe(identifier);
    expect(identifier).toMatch(/^[a-z_]+$/);
    expect(fullActivity).toBeGreaterThanOrEqual(1);
  }
});

test("D-6.6 findPlatform() knows platforms in any case", () => {
  expect(findPlatform("GitHub")).toEqual({
    platform: "github",
    category: "code",
    fullActivity: 2000,
    hasRatings: false,
  });
  expect(findPlatform("TOKOPEDIA")).toEqual({
    platform: "tokopedia",
    category: "commerce",
    fullActivity: 5000,
    hasRatings: true,
  });
});

test("D-6.6 findPlatform() takes every other platform for a community without ratings", () => {
  for (const identifier of ["Mastodon", "", "constructor", "__proto__", "git hub"]) {
    expect(findPlatform(identifier)).toEqual({
      platform: identifier.toLowerCase(),
      category: "community",
      fullActivity: 2000,
      hasRatings: false,
    });
  }
});
