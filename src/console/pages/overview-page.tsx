import { EmptyState } from "../components/empty-state.tsx";

/** The page `Overview`. */
export function OverviewPage() {
  return <EmptyState title="Nothing here yet" />;
}
