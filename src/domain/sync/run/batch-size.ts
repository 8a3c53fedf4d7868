// How many rows go into one push batch, or are asked for in one pull page. D-4.6.
import type { JsonValue } from "../../shared/json.ts";
import { FIRST_PUSH_BATCH_ROWS, MAX_PUSH_BATCH_BYTES } from "../../shared/limits.ts";
import type { Row } from "../table/table.ts";

/** Once a batch was too much, each good one adds one part of so many. */
const SLOW_GROWTH = 8;

/** A size that follows what the remote can take. */
export interface BatchSize {
  /** Rows of the next batch, 1 or more. */
  rows(): number;
  /** A batch went well: the next one may be larger. */
  grow(): void;
  /** A batch of so many rows took too long. */
  shrink(tooManyRows: number): void;
  /** A batch of so many rows is more than the remote ever takes. */
  limit(tooManyRows: number): void;
}

/** Starts at `firstRows`, or `maxRows` when that is less. Doubles until something was too much, then grows slowly. */
export function startBatchSize(maxRows: number, firstRows = FIRST_PUSH_BATCH_ROWS): BatchSize {
  let ceilingRows = Math.max(1, maxRows);
  let rows = Math.max(1, Math.min(firstRows, ceilingRows));
  let isSearching = true;

  function shrink(tooManyRows: number): void {
    isSearching = false;
    rows = Math.max(1, Math.min(rows, Math.floor(tooManyRows / 2)));
  }

  return {
    rows: () => rows,
    grow() {
      const stepRows = isSearching ? rows : Math.ceil(rows / SLOW_GROWTH);
      rows = Math.min(ceilingRows, rows + stepRows);
    },
    shrink,
    limit(tooManyRows) {
      ceilingRows = Math.max(1, Math.min(ceilingRows, Math.floor(tooManyRows / 2)));
      shrink(tooManyRows);
    },
  };
}

/** How many rows from the first on fit into one batch by their bytes: 1 at least. */
export function rowsThatFit(rows: readonly Row[], maxBytes = MAX_PUSH_BATCH_BYTES): number {
  let bytes = 0;
  for (const [i, row] of rows.entries()) {
    bytes += jsonBytes(row);
    if (bytes > maxBytes) return Math.max(1, i);
  }
  return rows.length;
}

/** About the bytes of a value's JSON: exact but for escaped and non-ASCII characters. */
function jsonBytes(value: JsonValue): number {
  if (typeof value === "string") return value.length + 3;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 2;
  for (const [name, member] of Object.entries(value)) bytes += name.length + 4 + jsonBytes(member);
  return bytes;
}

/** Two halves of a batch, the first one not shorter. */
export function halves<Item>(batch: readonly Item[]): [readonly Item[], readonly Item[]] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}
