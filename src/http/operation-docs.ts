// What the documents of several operations share.
import { type TSchema, Type } from "@sinclair/typebox";
import type { Registry } from "../domain/sync/table/table.ts";
import {
  ADMINISTRATOR_SECURITY,
  ALLOW,
  CHALLENGE,
  headerDoc,
  jsonReply,
  jsonRequest,
  parameterDoc,
  problemReplyDoc,
} from "./openapi.ts";
import { envelopeOf, ProblemSchema } from "./schemas/reputation.ts";
import { ConfigErrorSchema, SyncRunErrorSchema } from "./schemas/runs.ts";
import { SyncErrorSchema } from "./schemas/sync.ts";

const CACHE = { "Cache-Control": headerDoc("Always private, no-store") };
const RETRY = { "Retry-After": headerDoc("Seconds to wait before trying again") };

/** Headers of metered replies. D-5.3. */
export const RATE_LIMIT_HEADERS = {
  "RateLimit-Policy": headerDoc("The limits, draft-ietf-httpapi-ratelimit-headers"),
  RateLimit: headerDoc("Calls left in each limit, and seconds until there are more"),
  "X-RateLimit-Limit": headerDoc("Calls per minute"),
  "X-RateLimit-Remaining": headerDoc("Calls left now"),
  "X-RateLimit-Reset": headerDoc("Seconds until more calls are possible"),
};

export function dataDoc(description: string, data: TSchema, headers: Record<string, unknown> = {}) {
  return jsonReply(description, envelopeOf(data), { ...CACHE, ...headers });
}

/** Failures by status: the text of each, and the headers that go with it. D-5.2. */
export function problemDocs(
  texts: Readonly<Record<number, string>>,
  headers: Readonly<Record<number, Record<string, unknown>>> = {},
) {
  const all: Record<number, string> = {
    405: "Another method than this path takes",
    500: "Internal error",
    503: "The store cannot be reached, or the service is stopping",
    ...texts,
  };
  const docs = Object.entries(all).map(([status, text]) => {
    const own = { ...CACHE, ...headersOf(Number(status)), ...headers[Number(status)] };
    return [status, problemReplyDoc(text, ProblemSchema, own)];
  });
  return Object.fromEntries(docs) as Record<string, ReturnType<typeof problemReplyDoc>>;
}

function headersOf(status: number): Record<string, unknown> {
  if (status === 401) return CHALLENGE;
  if (status === 405) return ALLOW;
  return status === 429 || status === 503 ? RETRY : {};
}

export const API_KEY_SECURITY = [{ apiKey: [] as string[] }];
export const USER_SECURITY = [{ bearer: [] as string[] }, { session: [] as string[] }];

/** Failures of every route of a signed-in user. */
export const USER_PROBLEMS = {
  401: "Token missing, invalid or expired",
  403: "The username belongs to an account of another issuer, or a page of another origin sent the cookie",
};

/** Failures of every route that changes something of a signed-in user. D-8.5. */
export const WRITER_PROBLEMS = {
  ...USER_PROBLEMS,
  429: "Too many changes of this account within a minute",
};

/** Failures of a route that takes a body. */
export const BODY_PROBLEMS = {
  400: "The body is invalid; `errors` lists the fields",
  413: "Body too large",
};

export function bodyDoc(schema: TSchema) {
  return { ...jsonRequest(schema), required: true };
}

/** Parameters of every list. D-5.5. */
export const LIST_PARAMETERS = [
  parameterDoc("query", "limit", {
    description: "Items of the part",
    schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 },
  }),
  parameterDoc("query", "cursor", {
    description: "next_cursor of the part before",
    schema: { type: "string" },
  }),
];

export const USERNAME = parameterDoc("path", "username", {
  description: "Slug of a profile",
  schema: { type: "string", minLength: 1 },
});

export const ID = parameterDoc("path", "id", {
  description: "As the list shows it",
  schema: { type: "string", minLength: 1 },
});

/** The table in the path. With sync disabled the document names no tables, as the status does. */
export function tableNameDoc(deps: {
  readonly isSyncEnabled: boolean;
  readonly registry: Registry;
}) {
  const names = deps.isSyncEnabled ? { enum: [...deps.registry.keys()] } : {};
  return parameterDoc("path", "table_name", {
    description: "Name of a table of the registry",
    schema: { type: "string", ...names },
  });
}

/** Headers of a page and of a digest. S-4.1.4, S-4.1.5. */
export const PAGE_HEADERS = {
  "X-Content-SHA256": headerDoc("Lowercase hexadecimal SHA-256 of the uncompressed body"),
  "X-Original-Size": headerDoc("Uncompressed bytes, only with gzip"),
  "Content-Encoding": headerDoc("gzip, for bodies of 1024 bytes or more"),
};

/** Failures of S-5, in its order. */
export const SYNC_KEY_FAILURES = {
  401: jsonReply("X-Sync-Key missing or wrong", SyncErrorSchema),
  403: jsonReply("Sync is disabled", SyncErrorSchema),
  500: jsonReply("No sync key is configured, or an internal error", SyncErrorSchema),
};

export const WRONG_METHOD = jsonReply(
  "Another method than this path takes",
  SyncErrorSchema,
  ALLOW,
);

export const UNAVAILABLE = jsonReply(
  "The store cannot be reached, or the service is stopping",
  SyncErrorSchema,
  {
    "Retry-After": headerDoc("Seconds to wait before trying again"),
  },
);

/** Failures of every operation of an administrator. D-4.1. */
export const ADMINISTRATOR_FAILURES = {
  401: jsonReply("Token missing, invalid or expired", SyncErrorSchema, CHALLENGE),
  403: jsonReply("Signed in, but not as an administrator", SyncErrorSchema),
  405: WRONG_METHOD,
  503: UNAVAILABLE,
};

/** Failures of an administrator's operation that takes a body. D-4.2. */
export const BODY_FAILURES = {
  400: jsonReply("The body is not what it should be, or an unknown table", SyncErrorSchema),
  413: jsonReply("Body too large", SyncErrorSchema),
};

/** Failures of an operation that talks to the remote. S-4.4.5, S-7. */
export const REMOTE_FAILURES = {
  ...BODY_FAILURES,
  400: jsonReply(
    "The body is not what it should be, an unknown table, or a configuration problem",
    Type.Union([SyncErrorSchema, ConfigErrorSchema]),
  ),
  500: jsonReply("Any other failure", Type.Union([SyncRunErrorSchema, SyncErrorSchema])),
};

export function administratorDetail(operationId: string, summary: string, rest: object) {
  return { operationId, summary, tags: ["sync"], security: ADMINISTRATOR_SECURITY, ...rest };
}

/** An id in the path. */
export function idParameterDoc(name: string, description: string) {
  return parameterDoc("path", name, { description, schema: { type: "string", minLength: 1 } });
}
