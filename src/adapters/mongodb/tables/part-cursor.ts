// Cursors of parts: the place of a document in the order index, and documents to be skipped behind it. D-9.5.
import { Buffer } from "node:buffer";
import { BSON, type Document } from "mongodb";
import { MAX_CURSOR_CHARS } from "../../../domain/shared/limits.ts";
import { refuseCursor } from "../../../domain/shared/list-query.ts";

export interface PartPlace {
  /** The values of the order index of the document before; null: the first one. */
  readonly position: Document | null;
  readonly skip: number;
}

/** The place of the first document. */
export const START: PartPlace = { position: null, skip: 0 };

/** BSON types of values that have one place in an index, beside texts, booleans, dates and null. */
const PLAIN: readonly unknown[] = ["Int32", "Double", "Long", "Decimal128", "ObjectId", "Binary"];

/**
 * The cursor behind a document. Where that has no place that can be told in a URL, it is counted off from where the part
 * began.
 */
export function cursorText(position: Document | null, counted: PartPlace): string {
  const isPlain = position !== null && Object.values(position).every(isPlainValue);
  const text = isPlain ? written({ position, skip: 0 }) : "";
  return isPlain && text.length <= MAX_CURSOR_CHARS ? text : written(counted);
}

/** The place of a cursor; `names` are the fields of the order index. Throws `invalid_request` for one that was never given. */
export function readCursor(text: string, names: readonly string[]): PartPlace {
  const { position, skip } = parsed(text);
  const count = Number(skip);
  if (!Number.isSafeInteger(count) || count < 0) return refuseCursor();
  if (position === null) return { position, skip: count };
  const values = Object(position) as Document;
  const isPlace =
    Object.keys(values).join() === names.join() && Object.values(values).every(isPlainValue);
  return isPlace ? { position: values, skip: count } : refuseCursor();
}

function written(place: PartPlace): string {
  const text = BSON.EJSON.stringify(place, { relaxed: false });
  return Buffer.from(text).toString("base64url");
}

function parsed(text: string): { readonly position?: unknown; readonly skip?: unknown } {
  try {
    const json = Buffer.from(text, "base64url").toString();
    return Object(BSON.EJSON.parse(json, { relaxed: false }));
  } catch {
    return refuseCursor();
  }
}

function isPlainValue(value: unknown): boolean {
  if (value === null || value instanceof Date) return true;
  if (typeof value === "string" || typeof value === "boolean") return true;
  return PLAIN.includes((Object(value) as { _bsontype?: unknown })._bsontype);
}
