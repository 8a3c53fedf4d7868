// `limit` and `cursor` of lists, and places of lists that only grow. D-5.5, D-7.6.
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

/** Adds what is wrong with the parameters to `problems`. `cursorShape` is that of this list's cursors. */
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

export const BAD_CURSOR: InputProblem = {
  pointer: "/cursor",
  detail: "Must be a next_cursor of this list",
};

/** Throws `invalid_request` for a cursor that this list never gave out. */
export function refuseCursor(): never {
  throw new AppError("invalid_request", "Invalid fields: /cursor", { problems: [BAD_CURSOR] });
}

/** `found` may have one item more than `limit`, which only tells that there is a next part. */
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

// Places of a list that only grows, as text: the list's name, which is random, and a number from 0.

export function placeText(list: string, place: number): string {
  return `${list}-${place}`;
}

/** The number in a `placeText` of this list; null for a text that it never gave. */
export function parsePlace(list: string, lastPlace: number, text: string): number | null {
  const place = Number(text.slice(list.length + 1));
  const isGiven = Number.isInteger(place) && place >= 0 && place <= lastPlace;
  return isGiven && text === placeText(list, place) ? place : null;
}

/** The place of a cursor; null is 0, the place before all. Throws `invalid_request` for a cursor that was never given. */
export function placeOfCursor(list: string, lastPlace: number, cursor: string | null): number {
  const place = cursor === null ? 0 : parsePlace(list, lastPlace, cursor);
  if (place !== null) return place;
  throw new AppError("invalid_request", "The cursor is none that this store gave");
}
