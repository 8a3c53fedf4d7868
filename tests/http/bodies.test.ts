import { describe, expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { findProblems, readBody } from "../../src/http/bodies.ts";
import {
  ApiKeyRequestSchema,
  ConsentGrantSchema,
  PlanChangeSchema,
  ProfileChangeSchema,
  RotationSchema,
  SignInSchema,
  SignUpSchema,
} from "../../src/http/schemas/account.ts";
import { TriggerRequestSchema } from "../../src/http/schemas/runs.ts";

const ANA = { username: "ana", email: "Ana@example.org", password: "correct horse" };

const pointers = (schema: TObject, body: object) =>
  findProblems(schema, body).map(({ pointer }) => pointer);
const read = (schema: TObject, body: object | string) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return readBody(new Request("http://localhost/", { method: "POST", body: text }), schema);
};

describe("a signup", () => {
  test("D-5.4 has a name, an e-mail address, a password and perhaps a display name", async () => {
    expect(await read(SignUpSchema, ANA)).toEqual(ANA);
    expect(await read(SignUpSchema, { ...ANA, display_name: null })).toEqual({
      ...ANA,
      displayName: null,
    });
    expect(await read(SignUpSchema, { ...ANA, display_name: "Ana" })).toEqual({
      ...ANA,
      displayName: "Ana",
    });
  });

  test("D-5.2, D-5.4 every problem is reported, and never the password", () => {
    const body = { username: "Ana", email: "ana", password: "short-one", display_name: 5 };
    const problems = findProblems(SignUpSchema, body);
    expect(problems).toEqual([
      {
        pointer: "/username",
        detail:
          "Must be 1 to 40 characters of a-z, 0-9, _ and -, the first and last a letter or a digit",
      },
      { pointer: "/email", detail: "Must be an e-mail address" },
      { pointer: "/password", detail: "Must be a text of 10 to 200 characters" },
      {
        pointer: "/display_name",
        detail: "Must be a text of at most 10000 characters without control characters, or null",
      },
    ]);
    expect(JSON.stringify(problems)).not.toContain("short-one");
    expect(pointers(SignUpSchema, {})).toEqual(["/username", "/email", "/password"]);
  });

  test("D-5.4 a password has 10 to 200 characters, each one code point", () => {
    expect(pointers(SignUpSchema, { ...ANA, password: "🔑".repeat(10) })).toEqual([]);
    expect(pointers(SignUpSchema, { ...ANA, password: "🔑".repeat(200) })).toEqual([]);
    expect(pointers(SignUpSchema, { ...ANA, password: "🔑".repeat(9) })).toEqual(["/password"]);
    expect(pointers(SignUpSchema, { ...ANA, password: "🔑".repeat(201) })).toEqual(["/password"]);
    expect(pointers(SignUpSchema, { ...ANA, password: `${"x".repeat(10)}\ud800` })).toEqual([
      "/password",
    ]);
  });
});

test("D-5.4 a sign-in has a name and a password that are not empty", () => {
  expect(findProblems(SignInSchema, { username: "", password: 5 })).toEqual([
    { pointer: "/username", detail: "Must be a text that is not empty" },
    { pointer: "/password", detail: "Must be a text that is not empty" },
  ]);
  expect(pointers(SignInSchema, { username: "\ud800", password: "x" })).toEqual(["/username"]);
  expect(pointers(SignInSchema, { username: "x".repeat(1_000), password: "x" })).toEqual([]);
});

describe("an API key", () => {
  test("D-5.5 has a name and perhaps an end", async () => {
    expect(await read(ApiKeyRequestSchema, { name: "shop" })).toEqual({ name: "shop" });
    const body = { name: "🔑".repeat(100), expires_at: "2026-03-02" };
    expect(await read(ApiKeyRequestSchema, body)).toEqual({
      name: "🔑".repeat(100),
      expiresAt: "2026-03-02",
    });
  });

  test("D-5.5 other names and ends that are no time are refused together", () => {
    for (const name of [undefined, null, "", 5, "x".repeat(101), "\ud800"]) {
      expect(pointers(ApiKeyRequestSchema, { name })).toEqual(["/name"]);
    }
    expect(findProblems(ApiKeyRequestSchema, { name: "", expires_at: "soon" })).toEqual([
      {
        pointer: "/name",
        detail: "Must be a text of 1 to 100 characters without control characters",
      },
      { pointer: "/expires_at", detail: "Must be an ISO 8601 date and time, or null" },
    ]);
  });

  test("D-5.5 a rotation takes whole seconds from 0 to 86,400", async () => {
    expect(await read(RotationSchema, "")).toEqual({});
    expect(await read(RotationSchema, { overlap_seconds: 0 })).toEqual({ overlapSeconds: 0 });
    expect(await read(RotationSchema, { overlap_seconds: 86_400 })).toEqual({
      overlapSeconds: 86_400,
    });
    for (const overlap_seconds of [-1, 86_401, 1.5, "60", null, true]) {
      expect(findProblems(RotationSchema, { overlap_seconds })).toEqual([
        { pointer: "/overlap_seconds", detail: "Must be a whole number from 0 to 86400" },
      ]);
    }
  });
});

describe("a consent", () => {
  test("D-6.1 has a purpose and perhaps an end", async () => {
    expect(await read(ConsentGrantSchema, { purpose: "profile_lookup" })).toEqual({
      purpose: "profile_lookup",
    });
    const body = { purpose: "reputation_lookup", expires_at: null };
    expect(await read(ConsentGrantSchema, body)).toEqual({
      purpose: "reputation_lookup",
      expiresAt: null,
    });
  });

  test("D-6.1 unknown purposes are refused", () => {
    for (const purpose of [
      undefined,
      null,
      "",
      "Reputation_lookup",
      "all",
      1,
      ["profile_lookup"],
    ]) {
      expect(findProblems(ConsentGrantSchema, { purpose })).toEqual([
        {
          pointer: "/purpose",
          detail: "Must be one of reputation_lookup, profile_lookup, platforms_lookup",
        },
      ]);
    }
  });

  test("D-6.1 an expires_at that is no time is refused", () => {
    for (const expires_at of ["", "soon", 1893456000, true, {}, "2026-13-01T00:00:00Z"]) {
      expect(pointers(ConsentGrantSchema, { purpose: "profile_lookup", expires_at })).toEqual([
        "/expires_at",
      ]);
    }
  });

  test("D-5.2 all problems are reported together, unknown fields last", () => {
    expect(pointers(ConsentGrantSchema, { b: 1, purpose: "x", "a/~": 1, expires_at: "x" })).toEqual(
      ["/purpose", "/expires_at", "/b", "/a~1~0"],
    );
  });
});

test("D-5.7 a plan is a known one, and its numbers are whole, from 1 on", async () => {
  expect(await read(PlanChangeSchema, { plan: "business" })).toEqual({ plan: "business" });
  const numbers = { calls_per_month: 1, rate_limit_per_minute: 999_999_999_999_999 };
  expect(await read(PlanChangeSchema, { plan: "enterprise", ...numbers })).toEqual({
    plan: "enterprise",
    callsPerMonth: 1,
    rateLimitPerMinute: 999_999_999_999_999,
  });
  const nulls = { calls_per_month: null, rate_limit_per_minute: null };
  expect(pointers(PlanChangeSchema, { plan: "free", ...nulls })).toEqual([]);
  for (const plan of [undefined, "Free", "toString"]) {
    expect(pointers(PlanChangeSchema, { plan })).toEqual(["/plan"]);
  }
  for (const odd of [0, -1, 1.5, "5", true, 1e15, Number.NaN]) {
    expect(
      findProblems(PlanChangeSchema, { plan: "enterprise", rate_limit_per_minute: odd }),
    ).toEqual([
      {
        pointer: "/rate_limit_per_minute",
        detail: "Must be a whole number from 1 to 999999999999999",
      },
    ]);
  }
});

test("D-5.5, D-5.5.1 a profile takes texts, nulls and public, and nothing of another type", async () => {
  const body = { display_name: "Ana", bio: null, public: false };
  expect(await read(ProfileChangeSchema, body)).toEqual({
    displayName: "Ana",
    bio: null,
    public: false,
  });
  expect(await read(ProfileChangeSchema, {})).toEqual({});
  expect(pointers(ProfileChangeSchema, { public: "true", bio: 1, location: "\ud800" })).toEqual([
    "/bio",
    "/location",
    "/public",
  ]);
  expect(pointers(ProfileChangeSchema, { bio: "x".repeat(10_001) })).toEqual(["/bio"]);
});

test("D-11.3.1 names and lines have no control characters, a bio none but line breaks and tabs", () => {
  for (const character of ["\0", "\u001b", "\u007f", "\u009b", "\n", "\r", "\t", "\u0085"]) {
    const text = `a${character}b`;
    const lines = { display_name: text, profession: text, location: text };
    expect(pointers(SignUpSchema, { ...ANA, username: text })).toEqual(["/username"]);
    expect(pointers(SignUpSchema, { ...ANA, display_name: text })).toEqual(["/display_name"]);
    expect(pointers(ApiKeyRequestSchema, { name: text })).toEqual(["/name"]);
    const isOfBio = ["\n", "\r", "\t"].includes(character);
    expect(pointers(ProfileChangeSchema, { ...lines, bio: text })).toEqual([
      "/display_name",
      ...(isOfBio ? [] : ["/bio"]),
      ...["/profession", "/location"],
    ]);
  }
  const emoji = { display_name: "Zoë ❤️ 👩‍💻", bio: "می‌خواهم" };
  expect(pointers(ProfileChangeSchema, emoji)).toEqual([]);
});

test("D-4.2 a run ignores fields that it does not know", async () => {
  expect(
    await read(TriggerRequestSchema, { direction: "push", dry_run: true, other: 1 }),
  ).toMatchObject({
    direction: "push",
    dryRun: true,
  });
});
