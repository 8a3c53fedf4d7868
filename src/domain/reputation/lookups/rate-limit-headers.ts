// Headers of metered replies: the IETF draft's two (draft-ietf-httpapi-ratelimit-headers-10) and
// the customary three. D-5.3.
import { MINUTE_WINDOW_MS } from "../../shared/limits.ts";
import type { CallOutcome, Quota } from "../accounts/quota.ts";

/** Header texts by name. */
export type RateLimitHeaders = Readonly<Record<string, string>>;

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
export function retryAfter(quota: Quota): string {
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
