// What the schemas of both interfaces are made of.
import {
  type ObjectOptions,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from "@sinclair/typebox";

/** Any text. */
export const Text = Type.String();

/** A whole number from 0. */
export const Count = Type.Integer({ minimum: 0 });

/** A canonical time. */
export const Time = Type.String({ format: "date-time", description: "ISO 8601, UTC" });

/** Options of an object that has no other fields. */
export const exact = { additionalProperties: false };

/** An object with these fields and no other, by the name that clients made from the document give its type. */
export function model<Fields extends TProperties>(
  name: string,
  fields: Fields,
  options: ObjectOptions = {},
): TObject<Fields> {
  return Type.Object(fields, { $id: name, ...exact, ...options });
}

/** A value or null, as one type: many generators make a class of its own of a choice between the two. */
export function nullable(schema: TSchema, options: object = {}): TSchema {
  const { type, enum: values } = schema as { type?: string; enum?: readonly unknown[] };
  const orNull = values === undefined ? {} : { enum: [...values, null] };
  return Type.Unsafe({ ...schema, ...orNull, ...options, type: [type, "null"] });
}

/** One of some texts. */
export function oneOf(values: readonly string[], options: object = {}): TSchema {
  return Type.Unsafe<string>({ type: "string", enum: [...values], ...options });
}

/** `{items, next_cursor}`. D-5.5. */
export function listOf(item: TSchema): TSchema {
  const next_cursor = nullable(Text, { description: "Null after the last part" });
  return model(`${item.$id}List`, { items: Type.Array(item), next_cursor });
}
