// Every code of an error of the reputation interface, with its status and title. D-5.2.

export interface Problem {
  readonly status: number;
  /** The same for every occurrence. */
  readonly title: string;
  /** `WWW-Authenticate`, with every 401 (RFC 9110 11.6.1, RFC 6750 3). */
  readonly challenge?: string;
}

const API_KEY_CHALLENGE = 'ApiKey realm="repsync", header="X-API-Key"';
const BEARER_CHALLENGE = 'Bearer realm="repsync"';
const BAD_BEARER_CHALLENGE = 'Bearer realm="repsync", error="invalid_token"';

export const PROBLEMS = {
  invalid_request: { status: 400, title: "Invalid request" },
  api_key_missing: { status: 401, title: "API key missing", challenge: API_KEY_CHALLENGE },
  api_key_invalid: { status: 401, title: "API key invalid", challenge: API_KEY_CHALLENGE },
  api_key_revoked: { status: 401, title: "API key revoked", challenge: API_KEY_CHALLENGE },
  api_key_expired: { status: 401, title: "API key expired", challenge: API_KEY_CHALLENGE },
  token_missing: { status: 401, title: "Token missing", challenge: BEARER_CHALLENGE },
  token_invalid: { status: 401, title: "Token invalid", challenge: BAD_BEARER_CHALLENGE },
  token_expired: { status: 401, title: "Token expired", challenge: BAD_BEARER_CHALLENGE },
  credentials_invalid: { status: 401, title: "Credentials invalid", challenge: BEARER_CHALLENGE },
  account_suspended: { status: 403, title: "Account suspended" },
  consent_required: { status: 403, title: "Consent required" },
  forbidden: { status: 403, title: "Forbidden" },
  profile_not_found: { status: 404, title: "Profile not found" },
  not_found: { status: 404, title: "Not found" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  username_taken: { status: 409, title: "Username taken" },
  email_taken: { status: 409, title: "E-mail address taken" },
  conflict: { status: 409, title: "Conflict" },
  body_too_large: { status: 413, title: "Body too large" },
  rate_limited: { status: 429, title: "Rate limit exceeded" },
  quota_exceeded: { status: 429, title: "Monthly quota exceeded" },
  internal_error: { status: 500, title: "Internal error" },
  unavailable: { status: 503, title: "Service unavailable" },
} as const satisfies Readonly<Record<string, Problem>>;

export type ProblemCode = keyof typeof PROBLEMS;

/** In the order of their statuses. */
export const PROBLEM_CODES: readonly ProblemCode[] = Object.keys(PROBLEMS) as ProblemCode[];
