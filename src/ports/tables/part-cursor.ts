// Cursors of parts: the position of a row in an order, and rows to skip behind it, as text for a URL. D-9.5.
import { MAX_CURSOR_CHARS } from "../../domain/shared/limits.ts";
import { refuseCursor } from "../../domain/shared/list-query.ts";

export interface PartPlace<Position> {
  /** Of the row before the part; null for the first row. */
  readonly position: Position | null;
  readonly skip: number;
}

export const START = { position: null, skip: 0 } as const;

/** The cursor behind a position, of JSON; where that is null or too long for a URL, it counts rows from the part's begin. */
export function partCursor(last: unknown, counted: PartPlace<unknown>): string {
  const text = last === null ? null : written({ position: last, skip: 0 });
  return text !== null && text.length <= MAX_CURSOR_CHARS ? text : written(counted);
}

/** The place of a cursor; `read` gives null for JSON without a position. Throws `invalid_request` for text that is no cursor. */
export function readPartCursor<Position>(
  text: string,
  read: (json: unknown) => Position | null,
): PartPlace<Position> {
  const { position: json, skip } = parsed(text);
  const position = json === null ? null : read(json);
  const isCount = Number.isSafeInteger(skip) && Number(skip) >= 0;
  if (!isCount || (position === null && json !== null)) return refuseCursor();
  return { position, skip: Number(skip) };
}

function written({ position, skip }: PartPlace<unknown>): string {
  const bytes = new TextEncoder().encode(JSON.stringify([position, skip]));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function parsed(text: string): { readonly position?: unknown; readonly skip?: unknown } {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const [position, skip] = Array.isArray(value) ? value : [];
    return { position, skip };
  } catch {
    return refuseCursor();
  }
}
