import { EmptyState } from "../components/empty-state.tsx";

/** The page `Settings`. */
export function SettingsPage() {
  return <EmptyState title="Nothing here yet" />;
}
