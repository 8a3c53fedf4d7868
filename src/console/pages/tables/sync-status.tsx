import { useReply } from "../../api/use-resource.ts";
import { EmptyState } from "../../components/notes.tsx";

/** What is synchronized, loaded once. */
export function useSyncStatus() {
  return useReply("get /api/v1/sync/status", {});
}

/** The tables of the registry; none before they are loaded, and while sync is disabled. */
export function useTableNames(): readonly string[] {
  return useSyncStatus().data?.tables ?? [];
}

/** Says which settings enable synchronization. */
export function SyncDisabled() {
  return (
    <EmptyState title="Synchronization is disabled">
      <p>
        Set <code>SYNC_ENABLED=true</code> and <code>SYNC_API_KEY</code>, and start the service
        again.
      </p>
    </EmptyState>
  );
}
