// The closed list of errors of the reputation interface and their body (RFC 9457). D-5.2.

interface ProblemKind {
  /** HTTP status. */
  readonly status: number;
  /** The same words for every occurrence. */
  readonly title: string;
}

/** Every code an error reply may carry, with its status and title. D-5.2. */
export const PROBLEMS = {
  invalid_request: { status: 400, title: "Invalid request" },
  api_key_missing: { status: 401, title: "API key missing" },
  api_key_invalid: { status: 401, title: "API key invalid" },
  api_key_revoked: { status: 401, title: "API key revoked" },
  api_key_expired: { status: 401, title: "API key expired" },
  token_missing: { status: 401, title: "Token missing" },
  token_invalid: { status: 401, title: "Token invalid" },
  token_expired: { status: 401, title: "Token expired" },
  credentials_invalid: { status: 401, title: "Credentials invalid" },
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
} as const satisfies Readonly<Record<string, ProblemKind>>;

/** The code of an error reply. D-5.2. */
export type ProblemCode = keyof typeof PROBLEMS;

/** Every code, in the order of their statuses. */
export const PROBLEM_CODES: readonly ProblemCode[] = Object.keys(PROBLEMS) as ProblemCode[];

/** What is wrong with one field of a request. D-5.2. */
export interface FieldProblem {
  /**
   * JSON pointer (RFC 6901) into the body, such as `/purpose`, and `""` for the whole of it; a query
   * parameter is pointed at by name alike.
   */
  readonly pointer: string;
  readonly detail: string;
}

/** A value that was read from a request, or everything that is wrong with it. */
export type Checked<Value> =
  | { readonly value: Value; readonly problems: readonly [] }
  | { readonly value: null; readonly problems: readonly FieldProblem[] };

/** The outcome of a check: the value when nothing is wrong. `makeValue` is called only then. */
export function checked<Value>(
  problems: readonly FieldProblem[],
  makeValue: () => Value,
): Checked<Value> {
  return problems.length === 0 ? { value: makeValue(), problems: [] } : { value: null, problems };
}

/** One occurrence of an error. */
export interface ProblemOccurrence {
  readonly code: ProblemCode;
  /** What happened this time, for the caller to read; never a secret. */
  readonly detail: string;
  readonly requestId: string;
  /** Time of the reply, canonical text. */
  readonly timestamp: string;
  /** Only with `invalid_request`; absent or empty when no single field is to blame. */
  readonly errors?: readonly FieldProblem[];
}

/** The body of an error reply, in the field order of D-5.2. */
export interface ProblemBody {
  readonly success: false;
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly request_id: string;
  readonly errors?: readonly FieldProblem[];
  readonly meta: { readonly timestamp: string; readonly version: "v1" };
}

/** Builds the body. `type` is a name, not an address: nothing is served there. D-5.2, RFC 9457. */
export function problemBody(occurrence: ProblemOccurrence): ProblemBody {
  const { code, detail, requestId, timestamp, errors = [] } = occurrence;
  const { status, title } = PROBLEMS[code];
  const isOfWhole = code === "invalid_request" && errors.length === 0;
  const shown = isOfWhole ? [{ pointer: "", detail }] : errors;
  return {
    success: false,
    type: `urn:repsync:problem:${code}`,
    title,
    status,
    detail,
    code,
    request_id: requestId,
    ...(shown.length === 0 ? {} : { errors: shown }),
    meta: { timestamp, version: "v1" },
  };
}

/**
 * `WWW-Authenticate` of an error reply (RFC 9110 11.6.1, RFC 6750 3); null when its status is not
 * 401. D-5.2.
 */
export function authenticateChallenge(code: ProblemCode): string | null {
  switch (code) {
    case "api_key_missing":
    case "api_key_invalid":
    case "api_key_revoked":
    case "api_key_expired":
      return 'ApiKey realm="repsync", header="X-API-Key"';
    case "token_invalid":
    case "token_expired":
      return 'Bearer realm="repsync", error="invalid_token"';
    case "token_missing":
    case "credentials_invalid":
      return 'Bearer realm="repsync"';
    default:
      return null;
  }
}
