// What owners may change of their profile. D-5.5.
import type { JsonObject } from "../../shared/json.ts";
import { formatMs } from "../../shared/time.ts";

/** The fields to change; absent ones stay. A null text is cleared. */
export interface ProfileChanges {
  readonly displayName?: string | null;
  readonly bio?: string | null;
  readonly profession?: string | null;
  readonly location?: string | null;
  readonly public?: boolean;
}

/** The columns of the profile's row that change; none when nothing is to change. */
export function changedColumns(changes: ProfileChanges, nowMs: number): JsonObject {
  const { displayName, ...others } = changes;
  const columns = displayName === undefined ? others : { ...others, display_name: displayName };
  return Object.keys(columns).length === 0 ? {} : { ...columns, updated_at: formatMs(nowMs) };
}
