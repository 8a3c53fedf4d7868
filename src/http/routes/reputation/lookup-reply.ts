import type { TSchema } from "@sinclair/typebox";
import type { LookupRefusal } from "../../../domain/reputation/accounts/consent.ts";
import type { CallOutcome, Quota } from "../../../domain/reputation/accounts/plan.ts";
import { ERROR_KINDS } from "../../../domain/shared/error-kinds.ts";
import { MINUTE_WINDOW_MS } from "../../../domain/shared/limits.ts";
import type { LookupReply } from "../../../usecases/reputation/lookups/look-up.ts";
import { headerDoc } from "../../document-parts.ts";
import { problemReply } from "../../errors.ts";
import { namingOf } from "../../naming.ts";
import { data, envelope, type ReplyKind } from "../../replies.ts";

// Replies of the three lookups. This is the path that has to be fast: texts that do not change are made once.

/** The message of each refusal. None tells which consents exist, or whether a profile is hidden or missing. */
const DETAILS: Record<LookupRefusal, string> = {
  api_key_missing: "A lookup needs an API key",
  api_key_invalid: "This API key is not known here",
  api_key_revoked: "This API key was revoked",
  api_key_expired: "This API key has expired",
  account_suspended: "The account of this API key is suspended",
  rate_limited: "All calls of the last 60 seconds are used",
  quota_exceeded: "All calls of this month are used",
  profile_not_found: "There is no public profile of this name",
  consent_required: "The profile's owner has given no active consent to this",
};

/** Headers of metered replies. D-5.3. */
export const RATE_LIMIT_DOCS = {
  "RateLimit-Policy": headerDoc("The limits, draft-ietf-httpapi-ratelimit-headers"),
  RateLimit: headerDoc("Calls left in each limit, and seconds until there are more"),
  "X-RateLimit-Limit": headerDoc("Calls per minute"),
  "X-RateLimit-Remaining": headerDoc("Calls left now"),
  "X-RateLimit-Reset": headerDoc("Seconds until more calls are possible"),
};

/** The reply to a lookup, allowed or not. D-5.1 to D-5.3. */
export function lookup(description: string, schema: TSchema): ReplyKind<LookupReply> {
  const encode = encoderOf(namingOf(schema));
  return {
    document: data(description, schema, RATE_LIMIT_DOCS).document,
    send({ problem, data: found, quotas, nowMs }, { exchange }) {
      const outcome = outcomeOf(problem);
      const limits = quotas === null ? {} : rateLimitHeaders({ ...quotas, outcome });
      const headers = { ...limits, ...exchange.replyHeaders() };
      if (found === null) {
        const { requestId } = exchange;
        return problemReply({ ...refusalOf(problem), requestId, nowMs }, headers);
      }
      return new Response(envelope(encode(found), nowMs), {
        headers: { ...headers, "Content-Type": "application/json" },
      });
    },
  };
}

/** The JSON text of each `data` object, made once. */
function encoderOf(naming: (data: unknown) => unknown): (data: object) => string {
  const encoded = new WeakMap<object, string>();
  return (found) => {
    const known = encoded.get(found);
    if (known !== undefined) return known;
    const text = JSON.stringify(naming(found));
    encoded.set(found, text);
    return text;
  };
}

function refusalOf(problem: LookupRefusal | null) {
  return problem === null
    ? ({ code: "internal_error", detail: "" } as const)
    : { code: problem, detail: DETAILS[problem], hint: ERROR_KINDS[problem].hint };
}

function outcomeOf(problem: LookupRefusal | null) {
  return problem === "rate_limited" || problem === "quota_exceeded" ? problem : "allowed";
}

// Headers of metered replies: the IETF draft's two (draft-ietf-httpapi-ratelimit-headers-10) and
// the customary three. D-5.3.

type RateLimitHeaders = Readonly<Record<string, string>>;

/**
 * The headers of a metered reply; an unlimited month has no `month` policy. `Retry-After` only when
 * refused. D-5.3.
 */
export function rateLimitHeaders(decision: {
  readonly outcome: CallOutcome;
  readonly minute: Quota;
  readonly month: Quota;
}): RateLimitHeaders {
  const { outcome, minute, month } = decision;
  const headers: Record<string, string> = {
    "RateLimit-Policy": joinPolicies(policyItem(minute), month, (limit) => `"month";q=${limit}`),
    RateLimit: joinPolicies(
      `"minute";r=${minute.remaining};t=${minute.resetSeconds}`,
      month,
      () => `"month";r=${month.remaining};t=${month.resetSeconds}`,
    ),
    "X-RateLimit-Limit": String(minute.limit),
    "X-RateLimit-Remaining": String(minute.remaining),
    "X-RateLimit-Reset": String(minute.resetSeconds),
  };
  if (outcome === "rate_limited") headers["Retry-After"] = retryAfter(minute);
  if (outcome === "quota_exceeded") headers["Retry-After"] = retryAfter(month);
  return headers;
}

/** `Retry-After` of a refused call: whole seconds until the next can succeed, 1 or more. */
function retryAfter(quota: Quota): string {
  return String(Math.max(1, quota.resetSeconds));
}

function policyItem(minute: Quota): string {
  return `"minute";q=${minute.limit};w=${MINUTE_WINDOW_MS / 1000}`;
}

function joinPolicies(
  minuteItem: string,
  month: Quota,
  monthItem: (limit: number) => string,
): string {
  return month.limit === null ? minuteItem : `${minuteItem}, ${monthItem(month.limit)}`;
}
