// The stores that keep the reputation half, and the shortest way to a service on one.
import type { Environment } from "../../../src/app/config.ts";
import { type Backend, MONGODB, onBackends, POSTGRESQL, SQLITE_FILE } from "../support/backends.ts";
import { type SyncApp, startApp } from "../support/sync-app.ts";
import { ADMIN_ENV } from "./people.ts";

/** SQLite in memory, for what has nothing to do with the disk. */
const SQLITE_MEMORY: Backend = {
  name: "SQLite in memory",
  isAvailable: true,
  makeUrl: async () => "sqlite::memory:",
};

interface ReputationBackends {
  /** True where several services share the store, or it outlives them. */
  readonly isFile?: boolean;
  /** True plays the tests on the servers too; without it they are of what is decided above the store. */
  readonly isEverywhere?: boolean;
}

export function onReputationBackends(
  name: string,
  tests: (backend: Backend) => void,
  { isFile = false, isEverywhere = false }: ReputationBackends = {},
): void {
  const sqlite = isFile ? SQLITE_FILE : SQLITE_MEMORY;
  const backends = isEverywhere ? [sqlite, MONGODB, POSTGRESQL] : [sqlite];
  onBackends(backends, name, tests);
}

/** What tests ask of one account, many times as much as people do. */
const PLENTY = { ACCOUNT_WRITES_PER_MINUTE: "10000" };

/** A service with the administrator `root`, behind one proxy. */
export async function startReputation(backend: Backend, env: Environment = {}): Promise<SyncApp> {
  return await startApp({
    backend,
    env: { ...ADMIN_ENV, ...PLENTY, TRUSTED_PROXY_HOPS: "1", ...env },
  });
}
