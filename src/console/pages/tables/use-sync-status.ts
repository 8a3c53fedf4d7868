import type { SyncStatus } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { type Resource, useResource } from "../../api/use-resource.ts";

/** What is synchronized, loaded once. */
export function useSyncStatus(pollMs: number | null = null): Resource<SyncStatus> {
  return useResource((signal) => request("get /api/v1/sync/status", { signal }), { pollMs });
}

/** The tables of the registry; none before they are loaded, and while sync is disabled. */
export function useTableNames(): readonly string[] {
  return useSyncStatus().data?.tables ?? [];
}
