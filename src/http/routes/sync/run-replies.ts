// Common replies of runs and comparisons: streams of news, and failures of the remote.
import { type TSchema, Type } from "@sinclair/typebox";
import { isAppError } from "../../../domain/shared/errors.ts";
import { KEEP_ALIVE_MS } from "../../../domain/shared/limits.ts";
import type { News } from "../../../domain/sync/run/news.ts";
import { retryText } from "../../../domain/sync/run/run.ts";
import type { FileFormats } from "../../../ports/files.ts";
import type { OverviewDeps } from "../../../usecases/operations/read-overview.ts";
import type { RegistryKeeper } from "../../../usecases/operations/registry-keeper.ts";
import type { SessionDeps } from "../../../usecases/reputation/accounts/deps.ts";
import type { ActiveRuns } from "../../../usecases/sync/runs/active-runs.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import { Answer, type Failure, headerDoc } from "../../description.ts";
import type { AskingAdministrator } from "../../guards/bearer.ts";
import { events } from "../../replies.ts";
import { ConfigErrorSchema, SyncRunErrorSchema } from "../../schemas/runs.ts";
import { SyncErrorSchema } from "../../schemas/sync.ts";
import { StreamComment } from "../../streams.ts";

export interface SyncAdministration {
  readonly identity: SessionDeps;
  readonly sync: SyncDeps;
  readonly activeRuns: ActiveRuns;
  readonly registryKeeper: RegistryKeeper;
  readonly overview: OverviewDeps;
  readonly files: FileFormats;
}

const RunError = Type.Union([SyncRunErrorSchema, SyncErrorSchema]);

/** Failures of operations that ask the remote. S-4.4.5, S-7. */
export const REMOTE_FAILURES = {
  400: {
    text: "The body is not what it should be, an unknown table, or a configuration problem",
    schema: Type.Union([SyncErrorSchema, ConfigErrorSchema]),
  },
  500: { text: "Any other failure", schema: RunError },
} satisfies Record<number, Failure>;

/** Failures that keep a run or comparison from beginning. */
export const STREAM_FAILURES = {
  500: { text: "The service is stopping, or an internal error", schema: RunError },
} satisfies Record<number, Failure>;

export const STREAM_TEXT =
  "Server-sent events, each one `data:` line of JSON; `finished` is always the last. " +
  `A comment comes when nothing else was sent for ${KEEP_ALIVE_MS / 1000} seconds, and before a request to the remote is repeated, ` +
  "such as `: retry 3 of 8 in 4 s: <reason>`.";

/** `event`: the schema of each event. S-4.5.3, S-6. */
export function newsReply<Schema extends TSchema>(description: string, event: Schema) {
  return events(description, event, {
    "Cache-Control": headerDoc("Always no-cache"),
    "X-Run-Id": headerDoc("Id of the run or comparison"),
  });
}

type Reader = Pick<AskingAdministrator, "requireStill">;

/** Streams news as they come, until `reader` loses the right to them; without one to the end. */
export function tell<Item extends News>(
  news: AsyncGenerator<Item, void, undefined>,
  runId: string,
  reader?: Reader,
) {
  const headers = { "Cache-Control": "no-cache", "X-Run-Id": runId };
  return new Answer(200, withComments(news, reader), headers);
}

/** Retries become comments: the events of S-6 stay as they are. D-7.11. */
async function* withComments<Item extends News>(
  news: AsyncGenerator<Item, void, undefined>,
  reader?: Reader,
): AsyncGenerator<Exclude<Item, { type: "retry" }> | StreamComment, void, undefined> {
  for await (const item of news) {
    // A store that does not answer takes no right away: its failure is among the news.
    await reader?.requireStill().catch((error: unknown) => {
      if (!isAppError(error, "store_unavailable")) throw error;
    });
    if (item.type === "retry") yield new StreamComment(retryText(item));
    else yield item as Exclude<Item, { type: "retry" }>;
  }
}
