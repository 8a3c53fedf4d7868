// The package's `repsync/client`: pulls and pushes tables of any service that speaks the table synchronization document.
import type { SyncClientOptions } from "./adapters/fetch/client-options.ts";
import { SyncClient } from "./adapters/fetch/sync-client.ts";
import { SystemClock, SystemTimer } from "./adapters/system/system.ts";
import { WebCryptoDigest } from "./adapters/webcrypto/web-crypto-digest.ts";

export type { SyncClientOptions } from "./adapters/fetch/client-options.ts";
export type { SyncClient } from "./adapters/fetch/sync-client.ts";
export type { RemotePeerErrorKind } from "./domain/shared/error-kinds.ts";
export {
  isRawNumber,
  type JsonObject,
  type JsonValue,
  type RawNumber,
} from "./domain/shared/json.ts";
export type { PullPage } from "./domain/sync/rows/page.ts";
export type { PushResult } from "./domain/sync/rows/push-result.ts";
export type { SyncStatus } from "./domain/sync/run/run.ts";
export type { TableSchema } from "./domain/sync/table/table-schema.ts";
export {
  type DeletedReply,
  type DeletedRequest,
  type PulledPage,
  type PullRequest,
  type PushedBatch,
  type PushRequest,
  type RemotePeer,
  RemotePeerError,
  type SentTombstone,
  type StatusReply,
  type TransferredBytes,
} from "./ports/tables/remote-peer.ts";

/** Makes a client; nothing is sent yet. Throws `TypeError` or `RangeError` for unusable options. */
export function createSyncClient(options: SyncClientOptions): SyncClient {
  return new SyncClient(options, {
    digest: new WebCryptoDigest(),
    clock: new SystemClock(),
    timer: new SystemTimer(),
  });
}
