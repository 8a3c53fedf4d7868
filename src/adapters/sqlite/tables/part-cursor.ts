// Cursors of parts: the place of a row in the order of its table, and rows to be skipped behind it. D-9.5.
import { Buffer } from "node:buffer";
import { refuseCursor } from "../../../domain/shared/list-query.ts";
import type { SqliteValue } from "../driver/driver.ts";

export interface PartPlace {
  /** The values of the row before that the rows are ordered by; null: the first row. */
  readonly position: readonly SqliteValue[] | null;
  readonly skipRows: number;
}

/** A place as text for a URL. */
export function cursorText({ position, skipRows }: PartPlace): string {
  const values = position?.map(written) ?? null;
  return Buffer.from(JSON.stringify([values, skipRows])).toString("base64url");
}

/** The place of a text in an order of so many columns. Throws `invalid_request` for one that was never given. */
export function readCursor(text: string, columns: number): PartPlace {
  const [values, skipRows] = parsed(text);
  if (!Number.isSafeInteger(skipRows) || Number(skipRows) < 0) return refuseCursor();
  if (values === null) return { position: null, skipRows: Number(skipRows) };
  if (!Array.isArray(values) || values.length !== columns) return refuseCursor();
  return { position: values.map(read), skipRows: Number(skipRows) };
}

function parsed(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return Array.isArray(value) ? value : refuseCursor();
  } catch {
    return refuseCursor();
  }
}

function written(value: SqliteValue): unknown {
  return value instanceof Uint8Array ? { blob: Buffer.from(value).toString("base64url") } : value;
}

function read(value: unknown): SqliteValue {
  if (typeof value === "string" || typeof value === "number" || value === null) {
    return value;
  }
  const { blob } = Object(value) as { readonly blob?: unknown };
  return typeof blob === "string" ? new Uint8Array(Buffer.from(blob, "base64url")) : refuseCursor();
}
