// Small builders for the parts of the OpenAPI document that routes share.
import { type TSchema, Type } from "@sinclair/typebox";

export function jsonReply(
  description: string,
  schema: TSchema,
  headers: Record<string, unknown> = {},
) {
  return {
    description,
    headers: { ...REQUEST_ID, ...headers },
    content: { "application/json": { schema } },
  };
}

export function jsonRequest(schema: TSchema) {
  return { content: { "application/json": { schema } } };
}

export function problemReplyDoc(
  description: string,
  schema: TSchema,
  headers: Record<string, unknown> = {},
) {
  return {
    description,
    headers: { ...REQUEST_ID, ...headers },
    content: { "application/problem+json": { schema } },
  };
}

/** A reply of `eventStream`; `event` is the schema of each event. */
export function eventsReply(
  description: string,
  event: TSchema,
  headers: Record<string, unknown> = {},
) {
  return {
    description,
    headers: {
      ...REQUEST_ID,
      "Cache-Control": headerDoc("Always no-cache"),
      "X-Accel-Buffering": headerDoc("Always no"),
      ...headers,
    },
    content: {
      "text/event-stream": {
        schema: Type.String({ description: "Each `data:` line is an `x-event`" }),
        "x-event": event,
      },
    },
  };
}

export function headerDoc(
  description: string,
  schema: Record<string, unknown> = { type: "string" },
) {
  return { description, schema };
}

export function parameterDoc(
  place: "query" | "header" | "path",
  name: string,
  rest: { description: string; schema: Record<string, unknown> },
) {
  return { name, in: place, required: place === "path", ...rest };
}

interface DocumentedRoute {
  readonly method: string;
  readonly path: string;
  readonly hooks: { readonly detail?: object };
}

/**
 * The document of routes, from the `detail` of each: the plugin itself leaves `parameters` out. A schema with an `$id`
 * stands once among the components, under that name, and is referred to wherever it is used. Made on the first request,
 * because it would take a third of the time of a start.
 */
export function documentOf(routes: readonly DocumentedRoute[]) {
  let made: ReturnType<typeof describeRoutes> | undefined;
  const parts = () => {
    made ??= describeRoutes(routes);
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

function describeRoutes(routes: readonly DocumentedRoute[]) {
  const schemas: Record<string, object> = {};
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, hooks } of routes) {
    const name = path.replace(/:(\w+)/g, "{$1}");
    const operation = withReferences(hooks.detail ?? {}, schemas) as object;
    paths[name] = { ...paths[name], [method.toLowerCase()]: operation };
  }
  return { paths, schemas };
}

/** A part of a document with references in place of named schemas, which are put into `schemas`. */
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

/** Header of every reply. D-5.3. */
export const REQUEST_ID = {
  "X-Request-Id": headerDoc("Identifies this exchange in the log; a caller's own is kept"),
};

/** Of a reply that asks for a credential. */
export const CHALLENGE = { "WWW-Authenticate": headerDoc("How to authenticate") };

/** Header of a reply with status 405. D-3.11. */
export const ALLOW = { Allow: headerDoc("The methods of this path") };

export const SYNC_KEY_SECURITY = [{ syncKey: [] as string[] }];
export const ADMINISTRATOR_SECURITY = [{ bearer: [] as string[] }, { session: [] as string[] }];
export const METRICS_SECURITY = [{ metricsToken: [] as string[] }, {}];

/** The document without its operations. */
export const DOCUMENTATION = {
  info: {
    title: "repsync",
    version: "0.1.0",
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
