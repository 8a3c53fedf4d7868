import { EmptyState } from "../components/empty-state.tsx";

/** The page `Accounts`. */
export function AccountsPage() {
  return <EmptyState title="Nothing here yet" />;
}
