// Building blocks for the schemas of both interfaces.
import {
  Kind,
  type ObjectOptions,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
  TypeRegistry,
} from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isTextOf } from "../../domain/shared/text.ts";
import type { Registry } from "../../domain/sync/table/table.ts";

/** The TypeBox kind of values that the domain checks more exactly than JSON Schema can. */
export const CHECKED = "Checked";
const CHECK = Symbol("check");

interface Check {
  fits(value: unknown): boolean;
  detail(value: unknown): string;
}

interface CheckedSchema extends TSchema {
  readonly [CHECK]: Check;
}

TypeRegistry.Set<CheckedSchema>(CHECKED, (schema, value) => schema[CHECK].fits(value));

/** A schema with a check by a function; the document shows the schema. */
export function checked<Value>(
  schema: object,
  fits: (value: unknown) => boolean,
  detail: string | ((value: unknown) => string),
): TUnsafe<Value> {
  const check: Check = { fits, detail: typeof detail === "string" ? () => detail : detail };
  return Type.Unsafe<Value>({ ...schema, [Kind]: CHECKED, [CHECK]: check });
}

/** The message for a value that the schema of a field refused. D-5.2. */
export function detailOf(schema: TSchema, value: unknown): string {
  switch (schema[Kind]) {
    case CHECKED:
      return (schema as CheckedSchema)[CHECK].detail(value);
    case "Boolean":
      return "Must be true or false";
    case "Integer":
      return `Must be a whole number from ${schema["minimum"]} to ${schema["maximum"]}`;
    default:
      throw new Error(`No words for a field of the kind ${schema[Kind]}`);
  }
}

export const Text = Type.String();

export const Count = Type.Integer({ minimum: 0 });

export function counted(description: string) {
  return Type.Integer({ minimum: 0, description });
}

export const Time = Type.String({ format: "date-time", description: "ISO 8601, UTC" });

/** An object with exactly these fields; clients made from the document do not name its type. */
export function only<Fields extends TProperties>(fields: Fields): TObject<Fields> {
  return Type.Object(fields, { additionalProperties: false });
}

/** An object with any fields. */
export function object(options: ObjectOptions = {}) {
  return Type.Object({}, { additionalProperties: true, ...options });
}

export function someText(): TUnsafe<string> {
  const fits = (value: unknown) => isTextOf(value, 1, Number.POSITIVE_INFINITY);
  return checked({ type: "string", minLength: 1 }, fits, "Must be a text that is not empty");
}

/** An object with exactly these fields; clients made from the document name its type so. */
export function model<Fields extends TProperties>(
  name: string,
  fields: Fields,
  options: ObjectOptions = {},
): TObject<Fields> {
  return Type.Object(fields, { $id: name, additionalProperties: false, ...options });
}

/** A value or null as one type, as many generators of clients make a separate class of a union. */
export function nullable<Schema extends TSchema>(
  schema: Schema,
  options: object = {},
): TUnsafe<Static<Schema> | null> {
  const { type, enum: values } = schema as { type?: string; enum?: readonly unknown[] };
  const orNull = values === undefined ? {} : { enum: [...values, null] };
  const documented = { ...schema, ...orNull, ...options, type: [type, "null"] };
  return checked(
    documented,
    (value) => value === null || Value.Check(schema, value),
    (value) => detailOf(schema, value),
  );
}

export function oneOf<const Value extends string>(
  values: readonly Value[],
  options: object = {},
): TUnsafe<Value> {
  return checked(
    { type: "string", enum: [...values], ...options },
    (value) => values.some((known) => known === value),
    `Must be one of ${values.join(", ")}`,
  );
}

export function union<Models extends TSchema[]>(name: string, models: [...Models]) {
  return Type.Union(models, { $id: name });
}

/** `{items, next_cursor}`. D-5.5. */
export function listOf<Item extends TSchema>(item: Item) {
  const next_cursor = nullable(Text, { description: "Null after the last part" });
  return model(`${item.$id}List`, { items: Type.Array(item), next_cursor });
}

// The frame of every reply of the reputation interface, and its errors. D-5.1, D-5.2.

const Meta = model("Meta", { timestamp: Time, version: Type.Literal("v1") });

/** `{success, data, meta}`., D-5.1. */
export function envelopeOf(data: TSchema): TSchema {
  return model(`${data.$id}Reply`, { success: Type.Literal(true), data, meta: Meta });
}

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

/** Codes in the order of their statuses. */
export const PROBLEM_CODES: readonly ProblemCode[] = Object.keys(PROBLEMS) as ProblemCode[];

/** D-5.2, RFC 9457. */
export const ProblemSchema = model("Problem", {
  success: Type.Literal(false),
  type: Type.String({ description: "urn:repsync:problem:<code>" }),
  title: Text,
  status: Type.Integer(),
  detail: Text,
  hint: Type.Optional(Type.String({ description: "What to do, where there is something" })),
  code: oneOf(PROBLEM_CODES),
  request_id: Text,
  errors: Type.Optional(Type.Array(model("FieldProblem", { pointer: Text, detail: Text }))),
  meta: Meta,
});

// Parameters of paths, queries and headers. They come as texts: one of `oneOf` is checked, any other is for the use case to read,
// sometimes leniently.

/** A text that the document describes by another schema, which refuses nothing. */
export function given(description: string, schema: object = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: "string", ...schema, description });
}

export function givenTime(description: string): TUnsafe<string> {
  return given(description, { format: "date-time" });
}

/** A text that a query may give several times. */
export function givenAll(description: string): TUnsafe<readonly string[]> {
  const schema = { type: "array", items: { type: "string" } };
  return Type.Unsafe<readonly string[]>({ ...schema, description });
}

export function givenId(description: string): TUnsafe<string> {
  return given(description, { minLength: 1 });
}

export const USERNAME = { username: givenId("Slug of a profile") };

/** Parameters of every list. D-5.5. */
export const LIST_QUERY = {
  limit: given("Items of the part", { type: "integer", minimum: 1, maximum: 1000, default: 100 }),
  cursor: given("next_cursor of the part before"),
};

/** The table in the path; with sync disabled the document names no tables, as the status does. */
export function tableName(deps: {
  readonly isSyncEnabled: boolean;
  readonly registry: Registry;
}): TUnsafe<string> {
  const parameter = given("Name of a table of the registry");
  if (!deps.isSyncEnabled) return parameter;
  return Object.defineProperty(parameter, "enum", {
    enumerable: true,
    get: () => [...deps.registry.keys()],
  });
}
