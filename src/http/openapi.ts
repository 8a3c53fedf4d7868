// The OpenAPI document, from the descriptions of the operations. D-6.8, D-10.10.
import type { TSchema } from "@sinclair/typebox";
import manifest from "../../package.json" with { type: "json" };
import {
  type Body,
  type Description,
  type Failure,
  type Failures,
  type HeaderDocs,
  headerDoc,
  type Parameters,
  type Replies,
  type ReplyDocument,
} from "./description.ts";
import { isHealthPath, isPrivatePath, isReputationPath } from "./exchange.ts";
import { ProblemSchema } from "./schemas/parts.ts";
import { SyncErrorSchema } from "./schemas/sync.ts";

const TAGS = [
  ["/api/v1/sync", "sync"],
  ["/v1/public", "reputation"],
  ["/v1/me/consents", "reputation"],
  ["/v1/me", "account"],
  ["/v1/signup", "account"],
  ["/v1/sessions", "account"],
  ["/v1/admin", "administration"],
] as const;

export interface Entry {
  readonly method: string;
  readonly path: string;
  /** Null for a page or file, which is no part of the interface. */
  readonly document: object | null;
}

type Described = Description<unknown, Parameters, Parameters, Parameters, Body, Replies>;

/**
 * The document. A schema with an `$id` stands once among the components, under that name, and is referred to elsewhere. Made at
 * the first request, as it would take a third of the time of a start.
 */
export function openApiOf(operations: readonly Entry[]) {
  let made: ReturnType<typeof describeAll> | undefined;
  const parts = () => {
    made ??= describeAll(operations);
    return made;
  };
  return {
    ...DOCUMENTATION,
    get paths() {
      return parts().paths;
    },
    get components() {
      return { ...DOCUMENTATION.components, schemas: parts().schemas };
    },
  };
}

function describeAll(operations: readonly Entry[]) {
  const schemas: Record<string, object> = {};
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, document } of operations) {
    const name = path.replace(/:(\w+)/g, "{$1}");
    const entry = withReferences(document, schemas) as object;
    paths[name] = { ...paths[name], [method.toLowerCase()]: entry };
  }
  return { paths, schemas };
}

/** A part of the document with references in place of named schemas, which go into `schemas`. */
function withReferences(part: unknown, schemas: Record<string, object>): unknown {
  if (Array.isArray(part)) return part.map((each) => withReferences(each, schemas));
  if (typeof part !== "object" || part === null) return part;
  const { $id: name, ...fields } = part as { readonly $id?: string };
  const copy = Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, withReferences(value, schemas)]),
  );
  if (name === undefined) return copy;
  schemas[name] = copy;
  return { $ref: `#/components/schemas/${name}` };
}

export function describeOperation(path: string, described: Described): object {
  const { id, summary, description, guard, body } = described;
  const parameters = [
    ...parametersIn("path", described.params),
    ...parametersIn("query", described.query),
    ...parametersIn("header", described.headers),
  ];
  return {
    operationId: id,
    tags: [TAGS.find(([start]) => path.startsWith(start))?.[1] ?? "operations"],
    summary,
    ...(description === undefined ? {} : { description }),
    security: guard.security,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBodyOf(body) }),
    responses: responsesOf(path, described),
  };
}

function parametersIn(place: "path" | "query" | "header", parameters: Parameters = {}) {
  return Object.entries(parameters).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: place === "path",
    description,
    schema,
  }));
}

function requestBodyOf(body: Body): object {
  if ("types" in body) {
    const schema = { type: "string", format: "binary" };
    const content = Object.fromEntries(body.types.map((type: string) => [type, { schema }]));
    return { content, required: true };
  }
  const schema: TSchema = "maxBytes" in body ? body.shown : body;
  const { required = [] } = schema as { readonly required?: readonly string[] };
  return { content: { "application/json": { schema } }, required: required.length > 0 };
}

/** Headers of every reply. D-5.3. */
const REQUEST_ID = {
  "X-Request-Id": headerDoc("Identifies this exchange in the log; a caller's own is kept"),
};
const PRIVATE = { "Cache-Control": headerDoc("Always private, no-store") };

function responsesOf(path: string, { guard, body, replies }: Described) {
  const declared = {
    ...usualFailures(path, body !== undefined && !("types" in body)),
    ...guard.failures,
    ...replies,
  } as Readonly<Record<number, Replies[number]>>;
  const shared = isPrivatePath(path) ? { ...REQUEST_ID, ...PRIVATE } : REQUEST_ID;
  const documents = Object.entries(declared).map(([status, reply]) => {
    const isKind = typeof reply === "object" && "document" in reply;
    const document = isKind ? reply.document : failureDocument(path, Number(status), reply);
    return [status, { ...document, headers: { ...shared, ...document.headers } }];
  });
  return Object.fromEntries(documents) as Record<string, ReplyDocument>;
}

// Each interface has its own shape of failures, and failures of every operation. S-7, D-5.2.

const WRONG_METHOD = "Another method than this path takes";
const UNAVAILABLE = "The store cannot be reached, or the service is stopping";

const FAILURE_HEADERS: Readonly<Record<number, HeaderDocs>> = {
  401: { "WWW-Authenticate": headerDoc("How to authenticate") },
  405: { Allow: headerDoc("The methods of this path") },
  429: { "Retry-After": headerDoc("Seconds to wait before trying again") },
  503: { "Retry-After": headerDoc("Seconds to wait before trying again") },
};

/** The failures of every operation at a path. D-4.2, D-5.2, D-5.5. */
function usualFailures(path: string, hasBody: boolean): Failures {
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

function failureDocument(path: string, status: number, declared: string | Failure): ReplyDocument {
  const failure: Failure = typeof declared === "string" ? { text: declared } : declared;
  const { text, schema, headers } = failure;
  const usual = FAILURE_HEADERS[status] ?? {};
  if (isReputationPath(path)) {
    const content = { "application/problem+json": { schema: ProblemSchema } };
    return { description: text, headers: { ...usual, ...headers }, content };
  }
  const content = { "application/json": { schema: schema ?? SyncErrorSchema } };
  return { description: text, headers: headers ?? usual, content };
}

/** The fixed part of the document. */
export const DOCUMENTATION = {
  info: {
    title: "repsync",
    version: manifest.version,
    description:
      "Table synchronization between deployments, and reputation lookups with the owner's consent.",
  },
  servers: [{ url: "/" }],
  tags: [
    { name: "sync", description: "Table synchronization" },
    { name: "reputation", description: "Lookups, and the consents that allow them" },
    { name: "account", description: "Signing up and in, API keys, your profile" },
    { name: "administration", description: "What administrators do" },
    { name: "operations", description: "Health and metrics" },
  ],
  components: {
    securitySchemes: {
      syncKey: {
        type: "apiKey" as const,
        in: "header" as const,
        name: "X-Sync-Key",
        description: "The deployment's SYNC_API_KEY",
      },
      apiKey: {
        type: "apiKey" as const,
        in: "header" as const,
        name: "X-API-Key",
        description: "A key of /v1/me/api-keys",
      },
      bearer: {
        type: "http" as const,
        scheme: "bearer",
        bearerFormat: "JWT",
        description: "A token of /v1/sessions, or of the identity provider",
      },
      session: {
        type: "apiKey" as const,
        in: "cookie" as const,
        name: "repsync_session",
        description: "The cookie that /v1/sessions sets, and that replies renew while it is used",
      },
      metricsToken: {
        type: "http" as const,
        scheme: "bearer",
        description: "The deployment's METRICS_TOKEN",
      },
    },
  },
};
