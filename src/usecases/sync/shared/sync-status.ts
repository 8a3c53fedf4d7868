// The status of this deployment and of its remote, with the rows of their tables.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { countOf } from "../../../domain/shared/text.ts";
import { dateTimeMs, formatMs, parseDateTime } from "../../../domain/shared/time.ts";
import { markerName } from "../../../domain/sync/run/remote-memory.ts";
import { rowsIn, SYNC_DIRECTIONS, type SyncStatus } from "../../../domain/sync/run/run.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { COUNT_CALLS } from "../../../ports/documents.ts";
import { within } from "../../../ports/runtime/runtime.ts";
import type { StatusReply } from "../../../ports/tables/remote-peer.ts";
import { storeNowMs } from "../../../repositories/repository.ts";
import { openRemote, type SyncDeps } from "./sync-deps.ts";

/** Time that the remote has to answer where somebody waits. */
const MAX_WAIT_MS = 3_000;
/** The age up to which an answer of the remote serves other readers, too. */
const REUSE_MS = 15_000;

export type SyncStatusDeps = Pick<
  SyncDeps,
  "isSyncEnabled" | "registry" | "tables" | "memory" | "documents" | "clock" | "logger"
>;

/**
 * The status. A table that cannot be counted has -1. S-4.3, D-3.10. The time is the store's, by which late rows are noted, so
 * that no marker passes one. D-7.4.
 */
export async function readSyncStatus(deps: SyncStatusDeps): Promise<SyncStatus> {
  const tables = deps.isSyncEnabled ? [...deps.registry.values()] : [];
  const names = tables.map(({ name }) => name);
  const [nowMs, counts, lastSync] = await Promise.all([
    deps.isSyncEnabled ? storeNowMs(deps.documents) : deps.clock.nowMs(),
    Promise.all(tables.map((table) => countRows(deps, table))),
    readMarkers(deps, names),
  ]);
  return {
    syncEnabled: deps.isSyncEnabled,
    tables: names,
    tableCounts: Object.fromEntries(names.map((name, i) => [name, counts[i] ?? -1])),
    lastSync,
    serverTime: formatMs(nowMs),
    features: { gzip: true, sha256: true, incremental: true },
  };
}

/** The rows of a table here; null when they cannot be counted, or not soon. D-3.10. */
export async function countRows(
  { tables, logger }: Pick<SyncDeps, "tables" | "logger">,
  table: Table,
): Promise<number | null> {
  try {
    return await tables.count(table, { limit: COUNT_CALLS });
  } catch (error) {
    logger.error("Table cannot be counted", error, { table: table.name });
    return null;
  }
}

async function readMarkers(deps: SyncStatusDeps, names: readonly string[]) {
  if (names.length === 0) return {};
  const all = await deps.memory.readAll();
  const lastSync: Record<string, string> = {};
  for (const direction of SYNC_DIRECTIONS) {
    for (const name of names) {
      const { marker = "" } = all.get(name)?.[direction] ?? {};
      if (marker !== "") lastSync[markerName(direction, name)] = marker;
    }
  }
  return lastSync;
}

/** The remote deployment with its status, or why the status could not be read. */
export type RemoteStatus = {
  readonly url: string;
  /** Milliseconds that its clock is ahead of ours, off by at most half the time of the request; null: unknown. */
  readonly clockAheadMs: number | null;
} & (
  | { readonly status: StatusReply; readonly error: null; readonly hint: null }
  | { readonly status: null; readonly error: string; readonly hint: string | null }
);

/** Null where no remote is configured; a failure of it is a result. `maxWaitMs`: null for the limit of a request. */
export async function readRemoteStatus(
  deps: SyncDeps,
  maxWaitMs: number | null = null,
): Promise<RemoteStatus | null> {
  if (deps.remoteUrl === null) return null;
  const url = deps.remoteUrl;
  try {
    // Reading the status there needs no sync here.
    const { peer } = openRemote({ ...deps, isSyncEnabled: true });
    const askedAtMs = deps.clock.nowMs();
    const ending = new AbortController();
    const asking = peer.readStatus({ signal: ending.signal });
    const status = maxWaitMs === null ? await asking : await within(deps.timer, maxWaitMs, asking);
    if (status === null) {
      ending.abort();
      const late = `The remote did not answer within ${(maxWaitMs ?? 0) / 1000} s`;
      throw new AppError("timeout", late);
    }
    const answeredAtMs = deps.clock.nowMs();
    const serverTime = parseDateTime(status.serverTime);
    const clockAheadMs =
      serverTime === null ? null : dateTimeMs(serverTime) - (askedAtMs + answeredAtMs) / 2;
    return { url, status, clockAheadMs, error: null, hint: null };
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { message, hint } = error;
    return { url, status: null, clockAheadMs: null, error: message, hint };
  }
}

/** Warns before an import into an empty stamped table with rows at the remote: a pull keeps their times. Else null. D-14.7. */
export async function rowsElsewhere(deps: SyncDeps, table: Table): Promise<string | null> {
  if (!table.stamped || deps.remoteUrl === null || (await deps.tables.count(table)) > 0)
    return null;
  const remote = await readRemoteStatus(deps, MAX_WAIT_MS);
  const there = rowsIn(remote?.status?.tableCounts ?? {}, table.name) ?? 0;
  if (there === 0) return null;
  return `The remote has ${countOf(there, "row")} of "${table.name}", and this end none`;
}

/** The remote's status for many readers: asked for at most every 15 s, one request at a time, each for at most 3 s. D-9.5. */
export class RememberedRemote {
  readonly #deps: SyncDeps;
  #deploymentId: string | null = null;
  #asked: { readonly atMs: number; readonly status: Promise<RemoteStatus | null> } | null = null;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /** As `readRemoteStatus`, at most 15 s old. */
  status(): Promise<RemoteStatus | null> {
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#asked === null || nowMs - this.#asked.atMs >= REUSE_MS) {
      this.#asked = { atMs: nowMs, status: this.#ask() };
    }
    return this.#asked.status;
  }

  /** The id that the remote told last; asks where it has told none yet. Null where it tells none. D-11.9. */
  async deploymentId(): Promise<string | null> {
    if (this.#deploymentId === null) await this.status();
    return this.#deploymentId;
  }

  async #ask(): Promise<RemoteStatus | null> {
    const answer = await readRemoteStatus(this.#deps, MAX_WAIT_MS);
    this.#deploymentId = answer?.status?.deploymentId ?? this.#deploymentId;
    return answer;
  }
}
