import { EmptyState } from "../components/empty-state.tsx";

/** The page `API keys`. */
export function ApiKeysPage() {
  return <EmptyState title="Nothing here yet" />;
}
