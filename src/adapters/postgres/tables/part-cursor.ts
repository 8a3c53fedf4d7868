// Cursors of parts: the place of a row in an order, and rows to be skipped behind it. D-9.5.
import { MAX_CURSOR_CHARS } from "../../../domain/shared/limits.ts";
import { refuseCursor } from "../../../domain/shared/list-query.ts";
import type { OrderColumn } from "./layout.ts";
import { isOf, type Position } from "./positions.ts";

export interface PartPlace {
  /** The position before; null: the first row. */
  readonly after: Position | null;
  readonly skip: number;
}

/** The cursor behind a row. Where its place is too long for a URL, it is counted off from where the part began. */
export function cursorText(last: Position, counted: PartPlace): string {
  const text = written({ after: last, skip: 0 });
  return text.length <= MAX_CURSOR_CHARS ? text : written(counted);
}

/** The place of a cursor. Throws `invalid_request` for one that no page gave. */
export function readCursor(order: readonly OrderColumn[], cursor: string): PartPlace {
  const values = valuesIn(cursor);
  const skip = Number.isSafeInteger(values[0]) ? Number(values[0]) : 0;
  const texts = values.filter((value) => typeof value === "string");
  const isWhole = texts.length === order.length || (texts.length === 0 && skip > 0);
  const isPlace = isWhole && texts.every((text, i) => isOf(order[i] as OrderColumn, text));
  const place = { after: texts.length === 0 ? null : texts, skip };
  return isPlace && skip >= 0 && written(place) === cursor ? place : refuseCursor();
}

function written({ after, skip }: PartPlace): string {
  const values = [...(skip === 0 ? [] : [skip]), ...(after ?? [])];
  return Buffer.from(JSON.stringify(values)).toString("base64url");
}

function valuesIn(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return refuseCursor();
  }
}
