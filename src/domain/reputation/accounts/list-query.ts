// `limit` and `cursor` of lists. D-5.5.
import { DEFAULT_LIST_ITEMS, MAX_LIST_ITEMS } from "../../shared/limits.ts";
import { type Checked, checked, type FieldProblem } from "./problem.ts";

/** Which part of a list is asked for. */
export interface ListQuery {
  /** 1 to `MAX_LIST_ITEMS`. */
  readonly limit: number;
  /** `next_cursor` of the part before; null for the first part. */
  readonly cursor: string | null;
}

/** One part of a list. */
export interface ListPart<Item> {
  readonly items: readonly Item[];
  /** Null after the last part. */
  readonly nextCursor: string | null;
}

/** Reads both parameters; absent or empty is the default. `cursorShape` is what this list gives out. */
export function checkListQuery(
  query: { readonly limit?: string | null; readonly cursor?: string | null },
  cursorShape: RegExp,
): Checked<ListQuery> {
  const limitText = query.limit || String(DEFAULT_LIST_ITEMS);
  const cursor = query.cursor || null;
  const limit = /^\d{1,4}$/.test(limitText) ? Number(limitText) : 0;
  const problems: FieldProblem[] = [];
  if (limit < 1 || limit > MAX_LIST_ITEMS) {
    const detail = `Must be a whole number from 1 to ${MAX_LIST_ITEMS}`;
    problems.push({ pointer: "/limit", detail });
  }
  if (cursor !== null && !cursorShape.test(cursor)) problems.push(BAD_CURSOR);
  return checked(problems, () => ({ limit, cursor }));
}

/** A cursor that this list never gave out. */
export const BAD_CURSOR: FieldProblem = {
  pointer: "/cursor",
  detail: "Must be a next_cursor of this list",
};

/**
 * Makes a part from one item more than was asked for, which only tells that there is a next part.
 */
export function listPart<Stored, Item>(
  found: readonly Stored[],
  limit: number,
  { toItem, cursorOf }: { toItem: (stored: Stored) => Item; cursorOf: (stored: Stored) => string },
): ListPart<Item> {
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { items: shown.map(toItem), nextCursor: hasMore ? cursorOf(last) : null };
}
