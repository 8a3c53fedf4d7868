import { formatMs } from "../../../domain/shared/time.ts";
import { markerName } from "../../../domain/sync/run/remote-memory.ts";
import { SYNC_DIRECTIONS, type SyncStatus } from "../../../domain/sync/run/run.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { storeNowMs } from "../../../repositories/repository.ts";
import { countRows } from "../shared/count-rows.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";

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
  const [nowMs, tableCounts, lastSync] = await Promise.all([
    deps.isSyncEnabled ? storeNowMs(deps.documents) : deps.clock.nowMs(),
    countTables(deps, tables),
    readMarkers(deps, names),
  ]);
  return {
    syncEnabled: deps.isSyncEnabled,
    tables: names,
    tableCounts,
    lastSync,
    serverTime: formatMs(nowMs),
    features: { gzip: true, sha256: true, incremental: true },
  };
}

async function countTables(deps: SyncStatusDeps, tables: readonly Table[]) {
  const counts = tables.map(
    async (table) => [table.name, (await countRows(deps, table)) ?? -1] as const,
  );
  return Object.fromEntries(await Promise.all(counts));
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
