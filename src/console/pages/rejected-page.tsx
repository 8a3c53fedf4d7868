import { RejectedDetail } from "./rejected/rejected-detail.tsx";
import { RejectedList } from "./rejected/rejected-list.tsx";

/** Records that one end rejected: why, and what to do about it. `id`: one of them. D-9.4. */
export function RejectedPage({ id }: Readonly<Record<string, string>>) {
  return id === undefined ? <RejectedList /> : <RejectedDetail id={id} />;
}
