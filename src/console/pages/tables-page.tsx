import { EmptyState } from "../components/empty-state.tsx";

/** The page `Tables`. */
export function TablesPage() {
  return <EmptyState title="Nothing here yet" />;
}
