import { EmptyState } from "../components/empty-state.tsx";

/** The page `Consents`. */
export function ConsentsPage() {
  return <EmptyState title="Nothing here yet" />;
}
