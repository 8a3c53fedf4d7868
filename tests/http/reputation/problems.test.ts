import { expect, test } from "bun:test";
import { type ProblemOccurrence, problemReply } from "../../../src/http/errors.ts";
import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from "../../../src/http/schemas/parts.ts";

const STATUSES: Record<ProblemCode, number> = {
  invalid_request: 400,
  api_key_missing: 401,
  api_key_invalid: 401,
  api_key_revoked: 401,
  api_key_expired: 401,
  token_missing: 401,
  token_invalid: 401,
  token_expired: 401,
  credentials_invalid: 401,
  account_suspended: 403,
  consent_required: 403,
  forbidden: 403,
  profile_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  username_taken: 409,
  email_taken: 409,
  conflict: 409,
  body_too_large: 413,
  rate_limited: 429,
  quota_exceeded: 429,
  internal_error: 500,
  unavailable: 503,
};
const bodyOf = async (of: ProblemOccurrence) =>
  (await problemReply(of).json()) as Record<string, unknown>;
const OCCURRENCE = {
  detail: "The profile's owner has no active consent for this",
  requestId: "req_00000001",
  nowMs: Date.parse("2026-03-01T12:00:00Z"),
};

test("D-5.2 the codes are the closed list of the decision, each with status and title", () => {
  expect([...PROBLEM_CODES].sort()).toEqual(Object.keys(STATUSES).sort() as ProblemCode[]);
  for (const code of PROBLEM_CODES) {
    expect(PROBLEMS[code].status).toBe(STATUSES[code] as 400);
    expect(PROBLEMS[code].title).toMatch(/^[A-Z][^.]+$/);
  }
});

test("D-5.2, D-5.2.1 problemReply() has the decision's fields in its order", async () => {
  const body = await bodyOf({ ...OCCURRENCE, code: "consent_required" });
  expect(JSON.stringify(body)).toBe(
    '{"success":false,"type":"urn:repsync:problem:consent_required","title":"Consent required",' +
      '"status":403,"detail":"The profile\'s owner has no active consent for this",' +
      '"code":"consent_required","request_id":"req_00000001",' +
      '"meta":{"timestamp":"2026-03-01T12:00:00Z","version":"v1"}}',
  );
});

test("D-5.2, D-5.2.2 problemReply() lists the fields that are wrong, or points at the whole request", async () => {
  const problems = [{ pointer: "/purpose", detail: "Must be one of a, b" }];
  const body = await bodyOf({ ...OCCURRENCE, code: "invalid_request", problems });
  expect(body["errors"]).toEqual([{ pointer: "/purpose", detail: "Must be one of a, b" }]);
  for (const none of [{}, { problems: [] }]) {
    const whole = await bodyOf({ ...OCCURRENCE, ...none, code: "invalid_request" });
    expect(whole["errors"]).toEqual([{ pointer: "", detail: OCCURRENCE.detail }]);
    expect(await bodyOf({ ...OCCURRENCE, ...none, code: "not_found" })).not.toHaveProperty(
      "errors",
    );
  }
});

test("D-5.2, D-5.2.1 every 401 has a challenge, and no other", () => {
  const challengeOf = (code: ProblemCode) =>
    problemReply({ ...OCCURRENCE, code }).headers.get("WWW-Authenticate");
  for (const code of PROBLEM_CODES) {
    expect(challengeOf(code) !== null).toBe(STATUSES[code] === 401);
  }
  expect(challengeOf("api_key_revoked")).toBe('ApiKey realm="repsync", header="X-API-Key"');
  expect(challengeOf("token_missing")).toBe('Bearer realm="repsync"');
  expect(challengeOf("token_expired")).toBe('Bearer realm="repsync", error="invalid_token"');
});
