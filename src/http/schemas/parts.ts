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

/** The TypeBox kind of values that JSON Schema cannot describe as exactly as the domain checks them. */
const CHECKED = "Checked";
const CHECK = Symbol("check");

interface Check {
  fits(value: unknown): boolean;
  detail(value: unknown): string;
}

interface CheckedSchema extends TSchema {
  readonly [CHECK]: Check;
}

TypeRegistry.Set<CheckedSchema>(CHECKED, (schema, value) => schema[CHECK].fits(value));

/** A schema whose values are checked by a function; the document shows the schema. */
export function checked<Value>(
  schema: object,
  fits: (value: unknown) => boolean,
  detail: string | ((value: unknown) => string),
): TUnsafe<Value> {
  const check: Check = { fits, detail: typeof detail === "string" ? () => detail : detail };
  return Type.Unsafe<Value>({ ...schema, [Kind]: CHECKED, [CHECK]: check });
}

/** The message for a value that a field's schema refused, in our own words. D-5.2. */
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

export const Time = Type.String({ format: "date-time", description: "ISO 8601, UTC" });

/** Options of an object that has no other fields. */
export const exact = { additionalProperties: false };

export function someText(): TUnsafe<string> {
  const fits = (value: unknown) => isTextOf(value, 1, Number.POSITIVE_INFINITY);
  return checked({ type: "string", minLength: 1 }, fits, "Must be a text that is not empty");
}

/** A text whose number of characters (code points) is within both bounds. */
export function textOf(minLength: number, maxLength: number): TUnsafe<string> {
  const fits = (value: unknown) => isTextOf(value, minLength, maxLength);
  const detail = `Must be a text of ${minLength} to ${maxLength} characters`;
  return checked({ type: "string", minLength, maxLength }, fits, detail);
}

/** An object with exactly these fields. Clients generated from the document name its type so. */
export function model<Fields extends TProperties>(
  name: string,
  fields: Fields,
  options: ObjectOptions = {},
): TObject<Fields> {
  return Type.Object(fields, { $id: name, ...exact, ...options });
}

/** A value or null as one type, because many client generators make a separate class of a union. */
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

/** `{items, next_cursor}`. D-5.5. */
export function listOf<Item extends TSchema>(item: Item) {
  const next_cursor = nullable(Text, { description: "Null after the last part" });
  return model(`${item.$id}List`, { items: Type.Array(item), next_cursor });
}
