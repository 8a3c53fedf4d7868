import type { JsonObject } from "../../shared/json.ts";
import type { SyncDirection } from "./marker.ts";

/** A rejected record, as lists show it. D-4.9. */
export interface RejectedItem {
  readonly id: string;
  readonly table: string;
  readonly direction: SyncDirection;
  /** The key columns. */
  readonly key: JsonObject;
  readonly message: string;
  /** Times it was refused, 1 or more. */
  readonly attempts: number;
  /** ISO 8601. */
  readonly firstAt: string;
  readonly lastAt: string;
}
