// Replies of the three lookups. This is the path that has to be fast: texts that do not change are made once.
import { authenticateChallenge, type ProblemCode } from "../domain/reputation/accounts/problem.ts";
import { rateLimitHeaders } from "../domain/reputation/lookups/rate-limit-headers.ts";
import { formatMs } from "../domain/shared/time.ts";
import type { LookupReply } from "../usecases/reputation/lookups/look-up.ts";
import { problemText } from "./problem-text.ts";

/** What each refusal says. None tells what consents there are, or whether a profile is hidden or absent. */
const DETAILS: Partial<Record<ProblemCode, string>> = {
  api_key_missing: "Send an API key in the X-API-Key header",
  api_key_invalid: "This API key is not known here",
  api_key_revoked: "This API key was revoked",
  api_key_expired: "This API key has expired",
  rate_limited: "All calls of the last 60 seconds are used",
  quota_exceeded: "All calls of this month are used",
  profile_not_found: "There is no public profile of this name",
  consent_required: "The profile's owner has given no active consent to this",
};

/** JSON of `data`, by the object it is of. */
const encoded = new WeakMap<object, string>();

/** The reply to a lookup. D-5.1 to D-5.3. */
export function lookupReply(reply: LookupReply, requestId: string): Response {
  const { problem, data, quotas, nowMs } = reply;
  const headers: Record<string, string> = {
    "Content-Type": problem === null ? "application/json" : "application/problem+json",
    "Cache-Control": "private, no-store",
    "X-Request-Id": requestId,
  };
  if (quotas !== null)
    Object.assign(headers, rateLimitHeaders({ ...quotas, outcome: outcomeOf(problem) }));
  const timestamp = formatMs(nowMs);
  if (problem === null && data !== null) {
    const text = `{"success":true,"data":${encode(data)},"meta":{"timestamp":"${timestamp}","version":"v1"}}`;
    return new Response(text, { headers });
  }
  const code = problem ?? "internal_error";
  const challenge = authenticateChallenge(code);
  if (challenge !== null) headers["WWW-Authenticate"] = challenge;
  const detail = DETAILS[code] ?? "";
  const { status, text } = problemText({ code, detail, requestId, timestamp });
  return new Response(text, { status, headers });
}

function outcomeOf(problem: ProblemCode | null) {
  return problem === "rate_limited" || problem === "quota_exceeded" ? problem : "allowed";
}

function encode(data: object): string {
  const known = encoded.get(data);
  if (known !== undefined) return known;
  const text = JSON.stringify(data);
  encoded.set(data, text);
  return text;
}
