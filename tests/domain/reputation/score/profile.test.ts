import { describe, expect, test } from "bun:test";
import {
  isPublicProfile,
  platformEntries,
  profileBody,
  reputationBody,
} from "../../../../src/domain/reputation/score/profile.ts";
import { computeScore } from "../../../../src/domain/reputation/score/score.ts";
import { type JsonObject, rawNumber } from "../../../../src/domain/shared/json.ts";
import { toWire } from "../../../../src/domain/shared/wire-names.ts";
import { namingOf } from "../../../../src/http/replies.ts";
import {
  ExplanationSchema,
  PlatformListSchema,
  ProfileSchema,
  ReputationSchema,
} from "../../../../src/http/schemas/reputation.ts";
import { GOLDEN_NOW_MS } from "./golden-scores.ts";

const PROFILE: JsonObject = {
  id: 1,
  username: "ana",
  display_name: "Ana",
  bio: "Potter",
  profession: "artist",
  location: "Bandung",
  verified: true,
  public: true,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-02-01T00:00:00Z",
};
const ETSY: JsonObject = {
  id: 1,
  username: "ana",
  platform: "etsy",
  handle: "ana-pots",
  verified: true,
  last_synced_at: "2026-02-03T00:00:00Z",
  updated_at: "2026-02-02T00:00:00Z",
};

describe("the profile", () => {
  test("R-2.2 profileBody() has the six fields in the document's order", () => {
    expect(JSON.stringify(toWire(profileBody(PROFILE)))).toBe(
      '{"username":"ana","display_name":"Ana","bio":"Potter","profession":"artist",' +
        '"location":"Bandung","verified":true}',
    );
  });

  test('D-6.2 null texts are "", and a null verified is false', () => {
    const empty = { displayName: "", bio: "", profession: "", location: "", verified: false };
    expect(profileBody({ username: "ana" })).toEqual({ username: "ana", ...empty });
    const nulls = { display_name: null, bio: null, profession: null, location: null };
    expect(profileBody({ username: "ana", ...nulls, verified: null })).toEqual({
      username: "ana",
      ...empty,
    });
  });

  test("S-4.2.8 texts that arrived as other scalars are shown as text", () => {
    const odd = {
      username: 42,
      display_name: rawNumber("12345678901234567890"),
      bio: false,
      location: 1.5,
      profession: {},
    };
    expect(profileBody(odd)).toEqual({
      username: "42",
      displayName: "12345678901234567890",
      bio: "false",
      profession: "",
      location: "1.5",
      verified: false,
    });
  });

  test.each([
    [true, true],
    [null, true],
    [false, false],
    ["yes", true],
    ["TRUE", true],
    ["no", false],
    ["", false],
    [1, true],
    [0, false],
  ] as const)("D-6.2 a profile whose public is %p is public: %p", (value, expected) => {
    expect(isPublicProfile({ ...PROFILE, public: value })).toBe(expected);
  });

  test("D-6.2 a profile without public is public", () => {
    expect(isPublicProfile({ username: "ana" })).toBe(true);
  });
});

describe("the platforms", () => {
  test("R-2.3 an entry has the four fields in the document's order", () => {
    expect(JSON.stringify(toWire(platformEntries([ETSY])))).toBe(
      '[{"platform":"etsy","handle":"ana-pots","verified":true,' +
        '"last_synced_at":"2026-02-03T00:00:00Z"}]',
    );
  });

  test("D-6.2 the verified ones are listed, lowercase, by platform", () => {
    const rows = ["Shopee", "mastodon", "GITHUB", "ÄB", "x"].map((platform) => ({
      ...ETSY,
      platform,
    }));
    const unverified = [false, null].map((verified, i) => ({
      ...ETSY,
      platform: `p${i}`,
      verified,
    }));
    const names = platformEntries([...rows, ...unverified]).map(({ platform }) => platform);
    expect(names).toEqual(["github", "mastodon", "shopee", "x", "äb"]);
    expect(platformEntries([])).toEqual([]);
  });

  test("D-6.2 of two that differ only in case the later updated_at counts, verified or not", () => {
    const later = { ...ETSY, platform: "Etsy", handle: "b", updated_at: "2026-02-02T00:00:01Z" };
    expect(platformEntries([ETSY, later]).map(({ handle }) => handle)).toEqual(["b"]);
    expect(platformEntries([later, ETSY]).map(({ handle }) => handle)).toEqual(["b"]);
    expect(platformEntries([ETSY, { ...later, verified: false }])).toEqual([]);
  });

  test("D-6.2 a null handle is empty, and a null last_synced_at is updated_at", () => {
    const entry = (values: JsonObject) => platformEntries([{ ...ETSY, ...values }])[0];
    expect(entry({ handle: null })?.handle).toBe("");
    expect(entry({ last_synced_at: null })?.lastSyncedAt).toBe("2026-02-02T00:00:00Z");
    expect(entry({ last_synced_at: "lately" })?.lastSyncedAt).toBe("2026-02-02T00:00:00Z");
    expect(entry({ last_synced_at: null, updated_at: null })?.lastSyncedAt).toBe(
      "1970-01-01T00:00:00Z",
    );
    expect(entry({ last_synced_at: "2026-02-03 07:00+07:00" })?.lastSyncedAt).toBe(
      "2026-02-03T00:00:00Z",
    );
  });
});

describe("the score", () => {
  const score = computeScore({ profile: PROFILE, accounts: [ETSY], nowMs: GOLDEN_NOW_MS });

  test("R-2.1 reputationBody() has the five fields in the document's order", () => {
    expect(JSON.stringify(toWire(reputationBody("ana", score)))).toBe(
      '{"username":"ana","score":1,"star_level":1,"verified_platforms":1,' +
        '"updated_at":"2026-02-02T00:00:00Z"}',
    );
  });

  test("R-2.1, R-2.2, R-2.3 the schema of a lookup, by whose names it goes out, lacks no field of its body", () => {
    const bodies = [
      [ReputationSchema, reputationBody("ana", score)],
      [ProfileSchema, profileBody(PROFILE)],
      [PlatformListSchema, platformEntries([ETSY])],
    ] as const;
    for (const [schema, body] of bodies) expect(namingOf(schema)(body)).toEqual(toWire(body));
  });

  test("D-6.6 the explanation of a score has the decision's fields in its order", () => {
    expect(JSON.stringify(namingOf(ExplanationSchema)({ username: "ana", ...score }))).toBe(
      '{"username":"ana","score":1,"star_level":1,"score_version":"rep-2",' +
        '"updated_at":"2026-02-02T00:00:00Z","points":[{"platform":"etsy","points":1}]}',
    );
  });
});
