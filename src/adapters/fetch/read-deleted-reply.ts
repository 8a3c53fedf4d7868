// Checks the reply of `/deleted/{table}`. D-7.6.
import type { DeletedReply, SentTombstone } from "../../ports/tables/remote-peer.ts";
import type { Reply } from "./exchange.ts";
import { OBJECT, orNull, ReplyFields, SOME_TEXT, TEXT, TIME } from "./reply-fields.ts";

/** `askedCursor` is null when the request had none. */
export async function readDeletedReply(
  reply: Reply,
  tableName: string,
  askedCursor: string | null,
): Promise<Omit<DeletedReply, "bytesCompressed" | "bytesUncompressed">> {
  const fields = await ReplyFields.of(reply);
  const items = await fields.readEach("items", reply.turns, readItem);
  const page = {
    items,
    nextCursor: fields.read("next_cursor", orNull(SOME_TEXT)),
    cursor: fields.read("cursor", TEXT),
    earliestAvailable: fields.read("earliest_available", TIME),
    serverTime: fields.read("server_time", TIME),
  };
  fields.expect("table", tableName);
  // Following such pages would never end.
  const isEndless = items.length === 0 || page.nextCursor === askedCursor;
  if (page.nextCursor !== null && isEndless) fields.expect("next_cursor", null);
  return page;
}

function readItem(fields: ReplyFields): SentTombstone {
  return { key: fields.read("key", OBJECT), deletedAt: fields.read("deleted_at", TIME) };
}
