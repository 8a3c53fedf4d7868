// `/v1/public/profiles/{username}` and below. R-4, D-5.8.
import type { TSchema } from "@sinclair/typebox";
import type { Quotas } from "../../../domain/reputation/accounts/call-meter.ts";
import type { LookupRefusal } from "../../../domain/reputation/accounts/consent.ts";
import { ERROR_KINDS } from "../../../domain/shared/error-kinds.ts";
import { MINUTE_WINDOW_MS } from "../../../domain/shared/limits.ts";
import type { LookupReply, Lookups } from "../../../usecases/reputation/lookups/look-up.ts";
import { ANYBODY, type Guard, headerDoc, type ReplyKind } from "../../description.ts";
import { problemReply } from "../../errors.ts";
import { type Operation, operation } from "../../operation.ts";
import { data, envelope, namingOf } from "../../replies.ts";
import { USERNAME } from "../../schemas/parts.ts";
import { PlatformListSchema, ProfileSchema, ReputationSchema } from "../../schemas/reputation.ts";

const PROFILE = "/v1/public/profiles/:username";

/** `purpose`: the consents that allow the lookup. */
const LOOKUPS = [
  {
    endpoint: "reputation",
    path: `${PROFILE}/reputation`,
    id: "lookUpReputation",
    summary: "Score, star level and number of verified platforms",
    purpose: "reputation_lookup",
    data: ReputationSchema,
  },
  {
    endpoint: "profile",
    path: PROFILE,
    id: "lookUpProfile",
    summary: "Profile data",
    purpose: "profile_lookup or reputation_lookup",
    data: ProfileSchema,
  },
  {
    endpoint: "platforms",
    path: `${PROFILE}/platforms`,
    id: "listPlatforms",
    summary: "Verified platforms",
    purpose: "platforms_lookup or reputation_lookup",
    data: PlatformListSchema,
  },
] as const;

/** Headers of metered replies. D-5.3. */
const RATE_LIMIT_DOCS = {
  "RateLimit-Policy": headerDoc("The limits, draft-ietf-httpapi-ratelimit-headers"),
  RateLimit: headerDoc("Calls left in each limit, and seconds until there are more"),
  "X-RateLimit-Limit": headerDoc("Calls per minute"),
  "X-RateLimit-Remaining": headerDoc("Calls left now"),
  "X-RateLimit-Reset": headerDoc("Seconds until more calls are possible"),
};

/** The key is checked in the commit of the lookup. D-5.8. */
const API_KEY: Guard<null> = {
  security: [{ apiKey: [] }],
  failures: {
    401: "API key missing, invalid, revoked or expired",
    403: { text: "No active consent", headers: RATE_LIMIT_DOCS },
    404: { text: "No public profile of this name", headers: RATE_LIMIT_DOCS },
    429: { text: "Calls of this minute or month are used up", headers: RATE_LIMIT_DOCS },
  },
  admit: () => ANYBODY,
};

export function lookupRoutes(lookups: Lookups): Operation[] {
  return LOOKUPS.map(({ endpoint, path, id, summary, purpose, data }) =>
    operation({
      at: `GET ${path}`,
      id,
      summary,
      description: `Needs an active consent of the profile's owner: ${purpose}. Every call is audited.`,
      guard: API_KEY,
      params: USERNAME,
      replies: { 200: lookup("Allowed", data) },
      run: ({ params: { username }, exchange: { request, requestId } }) => {
        const apiKey = request.headers.get("x-api-key");
        return lookups.lookUp({ apiKey, endpoint, username, requestId });
      },
    }),
  );
}

// Replies of lookups, the path that has to be fast: texts that do not change are made once.

/** The message of each refusal. None reveals which consents exist, or whether a profile is hidden or missing. */
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

/** The reply to a lookup, allowed or not. D-5.1 to D-5.3. */
function lookup(description: string, schema: TSchema): ReplyKind<LookupReply> {
  const encode = encoderOf(namingOf(schema));
  return {
    document: data(description, schema, RATE_LIMIT_DOCS).document,
    send({ problem, data: found, quotas, nowMs }, { exchange }) {
      const headers = exchange.replyHeaders();
      if (quotas !== null) Object.assign(headers, rateLimitHeaders(quotas, problem));
      if (problem !== null) {
        const { requestId } = exchange;
        const refusal = {
          code: problem,
          detail: DETAILS[problem],
          hint: ERROR_KINDS[problem].hint,
        };
        return problemReply({ ...refusal, requestId, nowMs }, headers);
      }
      headers["Content-Type"] = "application/json";
      return new Response(envelope(encode(found), nowMs), { headers });
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

/**
 * The headers of a metered reply: two of draft-ietf-httpapi-ratelimit-headers-10, and the three customary ones. An unlimited
 * month has no `month` policy. `Retry-After` only when refused. D-5.3.
 */
export function rateLimitHeaders(
  { minute, month }: Quotas,
  problem: LookupRefusal | null,
): Readonly<Record<string, string>> {
  const isLimited = month.limit !== null;
  const monthPolicy = isLimited ? `, "month";q=${month.limit}` : "";
  const monthLeft = isLimited ? `, "month";r=${month.remaining};t=${month.resetSeconds}` : "";
  const refusing =
    problem === "rate_limited" ? minute : problem === "quota_exceeded" ? month : null;
  return {
    "RateLimit-Policy": `"minute";q=${minute.limit};w=${MINUTE_WINDOW_MS / 1000}${monthPolicy}`,
    RateLimit: `"minute";r=${minute.remaining};t=${minute.resetSeconds}${monthLeft}`,
    "X-RateLimit-Limit": String(minute.limit),
    "X-RateLimit-Remaining": String(minute.remaining),
    "X-RateLimit-Reset": String(minute.resetSeconds),
    ...(refusing === null ? {} : { "Retry-After": String(Math.max(1, refusing.resetSeconds)) }),
  };
}
