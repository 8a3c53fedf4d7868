import type { SyncDeps } from "../../src/usecases/sync/shared/sync-deps.ts";

/** Nothing is known of anybody whom rows name. */
export const NO_NAMES: SyncDeps["names"] = { readFacts: async () => new Map() };
