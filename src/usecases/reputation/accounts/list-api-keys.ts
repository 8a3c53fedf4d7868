import { refuse } from "../../../domain/shared/errors.ts";
import {
  BAD_CURSOR,
  type ListParameters,
  type ListPart,
  listPart,
  requireListQuery,
} from "../../../domain/shared/list-query.ts";
import { type ApiKeyItem, apiKeyItem } from "./api-key-item.ts";
import type { AccountDeps } from "./deps.ts";

const CURSOR = /^[\w-]{8,64}$/;

/** Lists an account's keys, newest first. Throws `invalid_request`. D-5.5. */
export async function listApiKeys(
  deps: Pick<AccountDeps, "apiKeys" | "clock">,
  username: string,
  query: ListParameters,
): Promise<ListPart<ApiKeyItem>> {
  const { limit, cursor } = requireListQuery(query, CURSOR);
  const nowMs = deps.clock.nowMs();
  const found = await deps.apiKeys.list(username, { limit: limit + 1, beforeId: cursor });
  // A cursor is given out only where another key follows, and keys stay listed.
  if (cursor !== null && found.length === 0) refuse([BAD_CURSOR]);
  return listPart(found, limit, {
    toItem: (key) => apiKeyItem(key, nowMs),
    cursorOf: ({ id }) => id,
  });
}
