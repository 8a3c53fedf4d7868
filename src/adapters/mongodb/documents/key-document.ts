// Keys as documents that MongoDB orders as keys are ordered: part by part, numbers before texts, texts by their bytes.
import { type Document, MaxKey } from "mongodb";
import { checkKey, distinctBeginnings, type Key } from "../../../domain/shared/document-key.ts";
import type { Stretch } from "../../../ports/documents.ts";

/** `{0: …, 1: …}`. */
export function keyDocument(key: Key): Document {
  return Object.fromEntries(key.map((part, i) => [i, part]));
}

/** The key of `keyDocument`. Throws for anything else. */
export function keyOfDocument(stored: unknown): Key {
  if (typeof stored !== "object" || stored === null) throw new Error("A key is a document");
  const entries = Object.entries(stored);
  return entries.map(([name, part], i) => {
    if (name === String(i) && (typeof part === "string" || typeof part === "number")) return part;
    throw new Error("A key has an unknown part");
  });
}

/** The conditions of a stretch on the field of its order, one for each of the beginnings; `null`: nothing is in it. */
export function conditionOf(
  field: string,
  { within, after, upTo, isReverse = false }: Stretch,
): Document | null {
  for (const key of [...(within ?? []), after ?? [0], upTo ?? [0]]) checkKey(key);
  // Who has no place in an index is in none of its stretches.
  const bounds: Document[] = [{ $gte: {} }];
  if (after !== undefined) bounds.push({ [isReverse ? "$lt" : "$gt"]: keyDocument(after) });
  if (upTo !== undefined) bounds.push({ [isReverse ? "$gte" : "$lte"]: keyDocument(upTo) });
  const all = bounds.map((bound) => ({ [field]: bound }));
  if (within === undefined) return { $and: all };
  const ranges = distinctBeginnings(within).map((parts) => {
    const last = { ...keyDocument(parts), [parts.length]: new MaxKey() };
    return { [field]: { $gte: keyDocument(parts), $lt: last } };
  });
  return ranges.length === 0 ? null : { $and: [...all, { $or: ranges }] };
}
