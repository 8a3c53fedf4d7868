// Positions in the order of rows, as JSON for cursors of parts.
import { orElse } from "../../../domain/shared/errors.ts";
import type { SqliteValue } from "../driver/driver.ts";

/** Null for a position with NULL, as no row compares as after it. */
export function positionJson(position: readonly SqliteValue[]): unknown {
  if (position.includes(null)) return null;
  return position.map((value) =>
    value instanceof Uint8Array ? { blob: value.toBase64() } : value,
  );
}

/** Null unless the JSON is a position of so many columns. */
export function readPosition(json: unknown, columns: number): readonly SqliteValue[] | null {
  if (!Array.isArray(json) || json.length !== columns) return null;
  const values = json.map(read);
  return values.every((value) => value !== undefined) ? values : null;
}

function read(json: unknown): SqliteValue | undefined {
  if (typeof json === "string" || typeof json === "number") return json;
  const { blob } = Object(json) as { readonly blob?: unknown };
  return typeof blob === "string"
    ? orElse(undefined, () => Uint8Array.fromBase64(blob))
    : undefined;
}
