// `limit` and `cursor` of lists. D-5.5.
import { AppError, type InputProblem, refuse } from "./errors.ts";
import { DEFAULT_LIST_ITEMS, MAX_LIST_ITEMS } from "./limits.ts";

interface ListQuery {
  /** 1 to `MAX_LIST_ITEMS`. */
  readonly limit: number;
  /** Null for the first part. */
  readonly cursor: string | null;
}

export interface ListPart<Item> {
  readonly items: readonly Item[];
  /** Null after the last part. */
  readonly nextCursor: string | null;
}

/** `limit` and `cursor` as texts; absent, null or empty is the default. */
export interface ListParameters {
  readonly limit?: string | null;
  readonly cursor?: string | null;
}

/**
 * Reads both parameters; what is wrong with them is added to `problems`, to be refused with all others. `cursorShape` is
 * what this list gives out.
 */
export function readListQuery(
  query: ListParameters,
  cursorShape: RegExp,
  problems: InputProblem[],
): ListQuery {
  const limitText = query.limit || String(DEFAULT_LIST_ITEMS);
  const cursor = query.cursor || null;
  const limit = /^\d{1,4}$/.test(limitText) ? Number(limitText) : 0;
  if (limit < 1 || limit > MAX_LIST_ITEMS) {
    const detail = `Must be a whole number from 1 to ${MAX_LIST_ITEMS}`;
    problems.push({ pointer: "/limit", detail });
  }
  if (cursor !== null && !cursorShape.test(cursor)) problems.push(BAD_CURSOR);
  return { limit, cursor };
}

/** As `readListQuery`, for lists without other parameters. Throws `invalid_request`. */
export function requireListQuery(query: ListParameters, cursorShape: RegExp): ListQuery {
  const problems: InputProblem[] = [];
  const read = readListQuery(query, cursorShape, problems);
  refuse(problems);
  return read;
}

/** The problem of a cursor that this list never gave out. */
export const BAD_CURSOR: InputProblem = {
  pointer: "/cursor",
  detail: "Must be a next_cursor of this list",
};

/** Throws `invalid_request` for a cursor that this list never gave out. */
export function refuseCursor(): never {
  throw new AppError("invalid_request", "Invalid fields: /cursor", { problems: [BAD_CURSOR] });
}

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
