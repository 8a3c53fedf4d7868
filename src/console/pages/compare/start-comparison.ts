import { readEventStream } from "../../api/event-stream.ts";
import type { CompareRequest } from "../../api/interface.ts";
import { RequestError } from "../../api/request-error.ts";
import { setQuery } from "../../state/router.ts";

/** Starts a comparison, and lets the address name it. It goes on by itself. Throws `RequestError`. */
export async function startComparison(body: CompareRequest): Promise<void> {
  const controller = new AbortController();
  let runId = "";
  const events = readEventStream("post /api/v1/sync/compare-sse", {
    body,
    signal: controller.signal,
    onHeaders: (headers) => {
      runId = headers.get("x-run-id") ?? "";
    },
  });
  // It can be read by its id from its first event on; from there it is watched as any other.
  const { value: first } = await events.next();
  controller.abort();
  // What keeps it from beginning, such as a setting that is missing, is kept nowhere.
  if (first?.type === "error") throw new RequestError(400, first);
  setQuery({ run: runId });
}
