import { EmptyState } from "../components/empty-state.tsx";

/** The page `Compare`. */
export function ComparePage() {
  return <EmptyState title="Nothing here yet" />;
}
