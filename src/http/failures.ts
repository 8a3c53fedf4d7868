// Replies, above all failures, as the document shows them. Each interface has its own shape of failures, and failures of every
// operation. S-7, D-5.2.
import type { TSchema } from "@sinclair/typebox";
import { isHealthPath, isPrivatePath, isReputationPath } from "./exchange.ts";
import { ProblemSchema } from "./schemas/reputation.ts";
import { SyncErrorSchema } from "./schemas/sync.ts";

export interface ReplyDocument {
  readonly description: string;
  readonly headers: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, object>>;
}

export function headerDoc(description: string, schema: object = { type: "string" }) {
  return { description, schema };
}

/** D-5.3. */
const REQUEST_ID = {
  "X-Request-Id": headerDoc("Identifies this exchange in the log; a caller's own is kept"),
};

/** `content`: by media type; null without a body. */
export function replyDocument(
  description: string,
  content: Readonly<Record<string, object>> | null,
  headers: Readonly<Record<string, object>>,
): ReplyDocument {
  const all = { ...REQUEST_ID, ...headers };
  return content === null ? { description, headers: all } : { description, headers: all, content };
}

/** A failure with its own body or headers. */
export interface Failure {
  readonly text: string;
  /** Of the body under `/api/v1/sync`; under `/v1` it is `ProblemSchema` for all failures. */
  readonly schema?: TSchema;
  /** Instead of the usual ones under `/api/v1/sync`, beside them under `/v1`. */
  readonly headers?: Readonly<Record<string, object>>;
}

/** Causes by status. */
export type Failures = Readonly<Record<number, string | Failure>>;

/** Of replies under `/v1`. D-5.3. */
export const PRIVATE = { "Cache-Control": headerDoc("Always private, no-store") };

const WRONG_METHOD = "Another method than this path takes";
const UNAVAILABLE = "The store cannot be reached, or the service is stopping";

const HEADERS: Readonly<Record<number, Record<string, object>>> = {
  401: { "WWW-Authenticate": headerDoc("How to authenticate") },
  405: { Allow: headerDoc("The methods of this path") },
  429: { "Retry-After": headerDoc("Seconds to wait before trying again") },
  503: { "Retry-After": headerDoc("Seconds to wait before trying again") },
};

/** The failures of every operation at a path. D-4.2, D-5.2, D-5.5. */
export function usualFailures(path: string, hasBody: boolean): Failures {
  if (isHealthPath(path)) return { 405: WRONG_METHOD };
  const isReputation = isReputationPath(path);
  const badBody = isReputation
    ? "The body is invalid; `errors` lists the fields"
    : "The body is not what it should be, or an unknown table";
  return {
    405: WRONG_METHOD,
    503: UNAVAILABLE,
    ...(isReputation ? { 500: "Internal error" } : {}),
    ...(hasBody ? { 400: badBody, 413: "Body too large" } : {}),
  };
}

export function failureDocument(
  path: string,
  status: number,
  declared: string | Failure,
): ReplyDocument {
  const failure: Failure = typeof declared === "string" ? { text: declared } : declared;
  const { text, schema, headers } = failure;
  const usual = HEADERS[status] ?? {};
  if (isReputationPath(path)) {
    const shared = isPrivatePath(path) ? PRIVATE : {};
    const all = { ...shared, ...usual, ...headers };
    return replyDocument(text, { "application/problem+json": { schema: ProblemSchema } }, all);
  }
  const content = { "application/json": { schema: schema ?? SyncErrorSchema } };
  return replyDocument(text, content, headers ?? usual);
}
