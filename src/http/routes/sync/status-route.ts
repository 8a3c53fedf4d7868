import { DEPLOYMENT_HEADER, SYNC_EXTENSIONS } from "../../../domain/sync/table/table-schema.ts";
import { readSyncStatus } from "../../../usecases/sync/pages/read-sync-status.ts";
import { Answer, EVERYBODY } from "../../description.ts";
import { headerDoc } from "../../document-parts.ts";
import { type Operation, operation } from "../../operation.ts";
import { json } from "../../replies.ts";
import { SyncStatusSchema } from "../../schemas/sync.ts";
import type { ServedSync } from "./page-routes.ts";

/** What this service can do beside the document. D-7.2. */
const EXTENSIONS = SYNC_EXTENSIONS.join(", ");

/** `GET /api/v1/sync/status`. S-4.3. */
export function statusRoute(deps: ServedSync): Operation {
  const headers = { "X-Sync-Extensions": EXTENSIONS, [DEPLOYMENT_HEADER]: deps.deploymentId };
  return operation({
    at: "GET /api/v1/sync/status",
    id: "readSyncStatus",
    summary: "Read what is synchronized, row counts and last-sync markers",
    description:
      "Needs no key. Works when sync is disabled; tables, counts and markers are then empty.",
    guard: EVERYBODY,
    replies: { 200: json("The status", SyncStatusSchema, HEADER_DOCS) },
    isSlow: true,
    run: async () => new Answer(200, await readSyncStatus(deps), headers),
  });
}

const HEADER_DOCS = {
  "X-Sync-Extensions": headerDoc(
    "What this service can do beside the document, separated by commas",
    { type: "string", example: EXTENSIONS },
  ),
  [DEPLOYMENT_HEADER]: headerDoc(
    "The id of this deployment, by which another one knows that it is not itself",
  ),
};
