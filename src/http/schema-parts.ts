// What the schemas of both interfaces are made of.
import { type TSchema, Type } from "@sinclair/typebox";

/** Any text. */
export const Text = Type.String();

/** A whole number from 0. */
export const Count = Type.Integer({ minimum: 0 });

/** A canonical time. */
export const Time = Type.String({ format: "date-time", description: "ISO 8601, UTC" });

/** Options of an object that has no other fields. */
export const exact = { additionalProperties: false };

/** One of some texts. */
export function oneOf(values: readonly string[], options: object = {}): TSchema {
  return Type.Unsafe<string>({ type: "string", enum: [...values], ...options });
}

/** `{items, next_cursor}`. D-5.5. */
export function listOf(item: TSchema): TSchema {
  const next_cursor = Type.Union([Text, Type.Null()], { description: "Null after the last part" });
  return Type.Object({ items: Type.Array(item), next_cursor }, exact);
}
