import { ERROR_KINDS } from "../../../domain/shared/error-kinds.ts";
import { AppError, INTERNAL_MESSAGE, isAppError } from "../../../domain/shared/errors.ts";
import { MAX_RUN_ERROR_CHARS } from "../../../domain/shared/limits.ts";
import { LearnedSizes } from "../../../domain/sync/run/pacing.ts";
import type { Registry } from "../../../domain/sync/table/table.ts";
import type { DocumentStore } from "../../../ports/documents.ts";
import type { Metrics } from "../../../ports/runtime/metrics.ts";
import type { Clock, Ids, Logger, Random, Timer } from "../../../ports/runtime/runtime.ts";
import type { Tracing } from "../../../ports/runtime/tracing.ts";
import type { ConnectPeer, RemotePeer, StatusReply } from "../../../ports/tables/remote-peer.ts";
import type { TableStore, Tombstones } from "../../../ports/tables/table-store.ts";
import type { Names } from "../../../repositories/accounts/names.ts";
import type { Alerts } from "../../../repositories/alert-outbox.ts";
import { LateRows } from "../../../repositories/late-rows.ts";
import { type LeaseGiver, Leases } from "../../../repositories/leases.ts";
import { RejectedRecords } from "../../../repositories/rejected-records.ts";
import { ExchangedBlocks, RemoteMemory } from "../../../repositories/remote-memory.ts";
import { Runs } from "../../../repositories/runs.ts";

/** Never waits or throws. */
export interface RowCounter {
  addRows(rows: number): void;
}

export interface SyncDeps extends SyncRepositories {
  readonly isSyncEnabled: boolean;
  /** `SYNC_REMOTE_URL`; null when it is not set. */
  readonly remoteUrl: string | null;
  /** `SYNC_REMOTE_KEY` or else `SYNC_API_KEY`; empty when neither is set. */
  readonly remoteKey: string;
  /** `SYNC_LAG_SECONDS`, which tables without an allowance of their own have. */
  readonly lagSeconds: number;
  /** `SYNC_MAX_BATCH_SIZE`: rows of a page or batch at most. */
  readonly maxPageRows: number;
  readonly registry: Registry;
  /** The id of this deployment; absent: a remote that is this deployment is not recognized. D-10.4. */
  readonly deploymentId?: string;
  readonly tables: TableStore;
  readonly tombstones: Tombstones;
  /** Counts the rows that runs write or remove at both ends; absent: nobody counts. D-9.5. */
  readonly traffic?: RowCounter;
  /** Counts runs, and the rows, rejected records and bytes that they move; absent: nobody counts. */
  readonly metrics?: Pick<Metrics, "countMoved" | "countRun">;
  /** Alerts for operators; absent or null: none is raised. */
  readonly alerts?: Alerts | null;
  readonly connectPeer: ConnectPeer;
  /** Sizes that this process has learned of remotes; absent: each run learns anew. */
  readonly learned?: LearnedSizes;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly tracing: Tracing;
}

export interface Remote {
  readonly peer: RemotePeer;
  /** The address without slashes at its end. */
  readonly address: string;
  readonly learned: LearnedSizes;
}

/** Connects the configured remote. Throws `sync_misconfigured`. S-4.4.5, D-4.2. */
export function openRemote(deps: SyncDeps): Remote {
  const { remoteUrl, remoteKey } = deps;
  if (!deps.isSyncEnabled) throw misconfigured("Sync is disabled", ERROR_KINDS.sync_disabled.hint);
  if (remoteUrl === null) {
    throw misconfigured("The remote's address is missing", "Set SYNC_REMOTE_URL");
  }
  if (remoteKey === "") {
    throw misconfigured("The remote's key is missing", "Set SYNC_REMOTE_KEY or SYNC_API_KEY");
  }
  try {
    const peer = deps.connectPeer({ baseUrl: remoteUrl, key: remoteKey });
    const address = remoteUrl.replace(/\/+$/, "");
    return { peer, address, learned: deps.learned ?? new LearnedSizes() };
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw misconfigured(`SYNC_REMOTE_URL or SYNC_REMOTE_KEY cannot be used: ${error.message}`);
  }
}

/** Throws `sync_misconfigured` when the remote is this deployment itself, by whatever address. D-10.4. */
export function requireOther(
  { deploymentId }: SyncDeps,
  status: Pick<StatusReply, "deploymentId">,
  { address }: Pick<Remote, "address">,
): void {
  if (deploymentId === undefined || status.deploymentId !== deploymentId) return;
  const text = `The remote is this deployment itself: ${address}`;
  throw misconfigured(text, "Set SYNC_REMOTE_URL to the other deployment");
}

function misconfigured(message: string, hint: string | null = null): AppError {
  return new AppError("sync_misconfigured", message, { hint });
}

/** A failure as callers see it: a configuration problem in full, any other cut to its limit. S-4.4.5, S-6.1. */
export function asSyncError(error: unknown): AppError {
  if (isAppError(error, "sync_misconfigured", "unknown_table")) return error;
  if (!isAppError(error)) return new AppError("sync_failed", INTERNAL_MESSAGE, { cause: error });
  const { hint, isRecoverable } = error;
  const message = error.messageWithin(MAX_RUN_ERROR_CHARS);
  return new AppError("sync_failed", message, { cause: error, hint, isRecoverable });
}

// The repositories of synchronization, made once for all that uses them.

export type SyncRepositories = ReturnType<typeof makeSyncRepositories>;

export function makeSyncRepositories(documents: DocumentStore, names: Names, ids: Ids) {
  return {
    /** The store under the repositories, for commits that write rows. */
    documents,
    names,
    lateRows: new LateRows(documents, ids),
    exchanged: new ExchangedBlocks(documents, ids),
    memory: new RemoteMemory(documents),
    leases: new Leases(documents) as LeaseGiver,
    runs: new Runs(documents),
    rejected: new RejectedRecords(documents),
  } as const;
}
