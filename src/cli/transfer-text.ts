import { countOf, formatCount } from "./output.ts";

/** What a transfer moved. */
export interface MovedRows {
  readonly rows: number;
  readonly elapsedMs: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
}

/** Rows, rate and bytes saved, such as `10 rows, 500 rows/s, 80 of 320 bytes sent (75% saved)`. */
export function movedText(moved: MovedRows): string {
  const { rows, elapsedMs, bytesCompressed, bytesUncompressed } = moved;
  if (rows === 0) return "0 rows";
  const rate = rows / Math.max(0.001, elapsedMs / 1000);
  const savedPercent = 100 * (1 - bytesCompressed / Math.max(1, bytesUncompressed));
  return (
    `${countOf(rows, "row")}, ${formatCount(rate)} rows/s, ` +
    `${formatCount(bytesCompressed)} of ${formatCount(bytesUncompressed)} bytes sent ` +
    `(${Math.max(0, savedPercent).toFixed(0)}% saved)`
  );
}
