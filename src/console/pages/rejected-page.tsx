import { EmptyState } from "../components/empty-state.tsx";

/** The page `Rejected`. */
export function RejectedPage() {
  return <EmptyState title="Nothing here yet" />;
}
