import { EmptyState } from "../components/empty-state.tsx";

/** The page `Usage`. */
export function UsagePage() {
  return <EmptyState title="Nothing here yet" />;
}
