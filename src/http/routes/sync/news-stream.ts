// Streams of what runs and comparisons tell. S-4.5.3, S-6, D-4.4, D-7.11, D-9.5.
import { type TSchema, Type } from "@sinclair/typebox";
import type { News } from "../../../domain/sync/run/news.ts";
import { retryText } from "../../../domain/sync/run/run.ts";
import type { Timer } from "../../../ports/runtime/runtime.ts";
import { eventsReply, headerDoc, jsonReply } from "../../openapi.ts";
import { eventStream, StreamComment } from "../../replies.ts";
import { SyncRunErrorSchema } from "../../schemas/runs.ts";
import { SyncErrorSchema } from "../../schemas/sync.ts";

/** The reply that tells news of a run as they come. */
export function newsStream(
  news: AsyncGenerator<News, void, undefined>,
  runId: string,
  timer: Timer,
): Response {
  return eventStream(withComments(news), timer, { "X-Run-Id": runId });
}

/** Retries become comments: the events of S-6 stay as they are. D-7.11. */
async function* withComments(news: AsyncGenerator<News, void, undefined>) {
  for await (const item of news) {
    yield item.type === "retry" ? new StreamComment(retryText(item)) : item;
  }
}

export const STREAM_TEXT =
  "Server-sent events, each one `data:` line of JSON; `finished` is always the last. " +
  "A comment comes when nothing else was sent for 5 seconds, and before a request to the remote is repeated, " +
  "such as `: retry 3 of 8 in 4 s: <reason>`.";

/** What keeps a run or comparison from beginning, beside what is wrong with the request. */
export const STREAM_FAILED = jsonReply(
  "The service is stopping, or an internal error",
  Type.Union([SyncRunErrorSchema, SyncErrorSchema]),
);

/** The reply with status 200; `event` is what each event looks like. */
export function streamReplyDoc(description: string, event: TSchema) {
  return eventsReply(description, event, { "X-Run-Id": headerDoc("Id of the run or comparison") });
}
