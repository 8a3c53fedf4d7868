import type { Ids } from "../../ports/runtime/ids.ts";

/** Random UUIDs. */
export class SystemIds implements Ids {
  next(): string {
    return crypto.randomUUID();
  }
}
