// Options for a part of a list, and ids by their beginning. D-14.9.
import type { Command } from "commander";
import { AppError } from "../domain/shared/errors.ts";
import { DEFAULT_LIST_ITEMS, MAX_LIST_ITEMS } from "../domain/shared/limits.ts";
import type { ListParameters, ListPart } from "../domain/shared/list-query.ts";

export interface ListOptions {
  readonly limit: string;
  readonly cursor?: string;
}

export function addListOptions(command: Command): Command {
  return command
    .option("--limit <n>", "how many", String(DEFAULT_LIST_ITEMS))
    .option("--cursor <cursor>", "continue where the previous list ended");
}

/** The items of all parts of a list. */
export async function* itemsOf<Item>(
  read: (query: ListParameters) => Promise<ListPart<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null = null;
  do {
    const part: ListPart<Item> = await read({ limit: String(MAX_LIST_ITEMS), cursor });
    yield* part.items;
    cursor = part.nextCursor;
  } while (cursor !== null);
}

const MIN_BEGINNING_CHARS = 4;
/** Shorter ids are given whole. */
const MIN_ID_CHARS = 8;
/** The most ids named when several begin alike. */
const MAX_NAMED = 10;

type Identified = { readonly id: string } | { readonly runId: string };

/**
 * The id of a list that equals this text or begins with it. A text that begins none is returned, to be refused as an unknown id.
 * Throws `conflict` where several ids begin so, and `invalid_request` for too few characters.
 */
export async function wholeId(
  text: string,
  read: (query: ListParameters) => Promise<ListPart<Identified>>,
): Promise<string> {
  const found: string[] = [];
  for await (const item of itemsOf(read)) {
    const id = "runId" in item ? item.runId : item.id;
    if (id === text) return text;
    if (id.length >= MIN_ID_CHARS && id.startsWith(text)) found.push(id);
  }
  if (text.length < MIN_BEGINNING_CHARS) {
    throw new AppError("invalid_request", `"${text}" is too short for the beginning of an id`, {
      hint: `Give ${MIN_BEGINNING_CHARS} characters at least`,
    });
  }
  const [id = text, ...others] = found;
  if (others.length === 0) return id;
  const named = found.slice(0, MAX_NAMED);
  const more = found.length - named.length;
  throw new AppError(
    "conflict",
    `Several ids begin with "${text}": ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`,
  );
}
