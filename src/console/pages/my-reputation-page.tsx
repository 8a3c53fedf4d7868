import { EmptyState } from "../components/empty-state.tsx";

/** The page `My reputation`. */
export function MyReputationPage() {
  return <EmptyState title="Nothing here yet" />;
}
