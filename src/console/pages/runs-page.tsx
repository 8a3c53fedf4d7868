import { EmptyState } from "../components/empty-state.tsx";

/** The page `Runs`. */
export function RunsPage() {
  return <EmptyState title="Nothing here yet" />;
}
