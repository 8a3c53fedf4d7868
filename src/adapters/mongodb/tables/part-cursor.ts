// Positions in an index, as JSON for cursors of parts.
import { BSON, type Document } from "mongodb";
import { orElse } from "../../../domain/shared/errors.ts";

/** BSON types with one place in an index, beside texts, booleans, dates and null. */
const PLAIN: readonly unknown[] = ["Int32", "Double", "Long", "Decimal128", "ObjectId", "Binary"];

/** Null for values without a single place. */
export function positionJson(position: Document): Document | null {
  if (!Object.values(position).every(isPlainValue)) return null;
  return BSON.EJSON.serialize(position, { relaxed: false });
}

export function readIndexValues(json: unknown, names: readonly string[]): Document | null {
  const values: Document = orElse({}, () =>
    Object(BSON.EJSON.deserialize(Object(json), { relaxed: false })),
  );
  const isPlace =
    Object.keys(values).join() === names.join() && Object.values(values).every(isPlainValue);
  return isPlace ? values : null;
}

function isPlainValue(value: unknown): boolean {
  if (value === null || value instanceof Date) return true;
  if (typeof value === "string" || typeof value === "boolean") return true;
  return PLAIN.includes((Object(value) as { _bsontype?: unknown })._bsontype);
}
