import { EmptyState } from "../components/empty-state.tsx";

/** The page `Accesses`. */
export function AccessesPage() {
  return <EmptyState title="Nothing here yet" />;
}
