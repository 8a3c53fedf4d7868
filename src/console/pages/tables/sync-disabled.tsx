import { EmptyState } from "../../components/empty-state.tsx";

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
