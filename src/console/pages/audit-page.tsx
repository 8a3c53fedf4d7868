import { EmptyState } from "../components/empty-state.tsx";

/** The page `Audit`. */
export function AuditPage() {
  return <EmptyState title="Nothing here yet" />;
}
