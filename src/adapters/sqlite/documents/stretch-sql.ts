// A stretch of documents as ranges of key bytes.
import { checkKey, distinctBeginnings } from "../../../domain/shared/document-key.ts";
import { AFTER_PARTS, keyBytes } from "../../../domain/shared/key-bytes.ts";
import type { Stretch } from "../../../ports/documents.ts";

/** A condition on the column of an order, and its values. */
export interface RangeSql {
  readonly condition: string;
  readonly values: readonly Uint8Array[];
}

/** The ranges of a stretch, none of which overlap, in the direction of reading. */
export function rangesOf(column: string, stretch: Stretch): readonly RangeSql[] {
  const { within, after, upTo, isReverse = false } = stretch;
  for (const key of [...(within ?? []), after ?? [0], upTo ?? [0]]) checkKey(key);
  const bounds: { readonly condition: string; readonly value: Uint8Array }[] = [];
  if (after !== undefined) {
    bounds.push({ condition: `${column} ${isReverse ? "<" : ">"} ?`, value: keyBytes(after) });
  }
  if (upTo !== undefined) {
    bounds.push({ condition: `${column} ${isReverse ? ">=" : "<="} ?`, value: keyBytes(upTo) });
  }
  const rest = bounds.map(({ condition }) => condition);
  const restValues = bounds.map(({ value }) => value);
  // Who has no place in an index is in none of its stretches.
  if (within === undefined) {
    return [{ condition: [`${column} IS NOT NULL`, ...rest].join(" AND "), values: restValues }];
  }
  const ranges = distinctBeginnings(within).map((parts) => {
    const first = keyBytes(parts);
    return {
      condition: [`${column} >= ?`, `${column} < ?`, ...rest].join(" AND "),
      values: [first, Uint8Array.from([...first, AFTER_PARTS]), ...restValues],
    };
  });
  return isReverse ? ranges.toReversed() : ranges;
}
