// The values that rows are ordered by, as JSON for cursors of parts.
import { orElse } from "../../../domain/shared/errors.ts";
import type { SqliteValue } from "../driver/driver.ts";

/** Null where no row compares as after the position, which has NULL in it. */
export function positionJson(position: readonly SqliteValue[]): unknown {
  if (position.includes(null)) return null;
  return position.map((value) =>
    value instanceof Uint8Array ? { blob: value.toBase64() } : value,
  );
}

/** The position of so many columns; null for what is none. */
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
