// What the documents of several sync operations share.
import type { Registry } from "../../../domain/sync/table/table.ts";
import { ALLOW, headerDoc, jsonReply, parameterDoc } from "../../openapi.ts";
import { SyncError } from "../../schemas.ts";

/** The table named in the path: one of those this deployment has. A disabled one names none, as in its status. */
export function tableNameDoc(deps: {
  readonly isSyncEnabled: boolean;
  readonly registry: Registry;
}) {
  const names = deps.isSyncEnabled ? { enum: [...deps.registry.keys()] } : {};
  return parameterDoc("path", "table_name", {
    description: "Name of a table of the registry",
    schema: { type: "string", ...names },
  });
}

/** Headers of a page and of a digest. S-4.1.4, S-4.1.5. */
export const PAGE_HEADERS = {
  "X-Content-SHA256": headerDoc("Lowercase hexadecimal SHA-256 of the uncompressed body"),
  "X-Original-Size": headerDoc("Uncompressed bytes, only with gzip"),
  "Content-Encoding": headerDoc("gzip, for bodies of 1024 bytes or more"),
};

/** S-4.1.1, S-4.2.1. */
export const UNKNOWN_TABLE = jsonReply("Unknown table", SyncError);

/** S-5, in its order. */
export const SYNC_KEY_FAILURES = {
  401: jsonReply("X-Sync-Key missing or wrong", SyncError),
  403: jsonReply("Sync is disabled", SyncError),
  500: jsonReply("No sync key is configured, or an internal error", SyncError),
};

/** D-3.11. */
export const WRONG_METHOD = jsonReply("Another method than this path takes", SyncError, ALLOW);

/** The store does not answer. */
export const UNAVAILABLE = jsonReply("The store cannot be reached", SyncError, {
  "Retry-After": headerDoc("Seconds to wait before trying again"),
});
