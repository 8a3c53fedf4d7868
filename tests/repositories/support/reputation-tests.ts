// Suites that need rows and lookups beside documents: on whole stores of every kind.
import { describe } from "bun:test";
import { openReputationStore } from "../../adapters/mongodb/reputation-support.ts";
import { makeDatabase } from "../../adapters/postgres/support.ts";
import { asReputation } from "../../adapters/sqlite/reputation-support.ts";
import { openFileStore } from "../../adapters/sqlite/stores-support.ts";
import type { ReputationHarness } from "../../contract/lookups/reputation-harness.ts";
import { openMemoryStore } from "../../support/stores/memory-store.ts";
import { mongoAvailable } from "../../support/stores/shared-mongo.ts";
import { postgresAvailable } from "../../support/stores/shared-postgres.ts";
import { IS_QUICK } from "../../support/test-run.ts";
import { FakeClock } from "../../support/time/fake-clock.ts";
import { forgetful, remembering } from "../../support/value-caches.ts";

const STORES: readonly (ReputationHarness & { readonly isAvailable: boolean })[] = [
  {
    name: "memory",
    options: { isShared: true, randomRuns: 100 },
    isAvailable: true,
    open: () => asReputation(openMemoryStore(), forgetful),
  },
  {
    name: "SQLite",
    options: { isShared: true, randomRuns: 25 },
    isAvailable: true,
    open: async () => await asReputation(await openFileStore(), remembering),
  },
  {
    name: "MongoDB",
    options: { isShared: true, randomRuns: 25, isCrossCheck: true },
    isAvailable: mongoAvailable,
    open: () => openReputationStore(remembering),
  },
  {
    name: "PostgreSQL",
    options: { isShared: true, randomRuns: 25, holds: "own types", isCrossCheck: true },
    isAvailable: postgresAvailable,
    open: async () => await asReputation(await openPostgresStore(), remembering),
  },
];

/** A store whose time the tests decide. */
async function openPostgresStore() {
  const database = await makeDatabase();
  const clock = new FakeClock();
  return {
    storage: await database.open(clock),
    openSecond: () => database.open(clock),
    nowMs: () => clock.nowMs(),
    advance: async (durationMs: number) => clock.advance(durationMs),
    dispose: () => database.dispose(),
  };
}

/** Defines a suite on every store; on servers the cases of `everywhere`. */
export function reputationTests(define: (harness: ReputationHarness) => void): void {
  for (const { isAvailable, ...harness } of STORES) {
    if (IS_QUICK && harness.options.isCrossCheck) continue;
    describe.skipIf(!isAvailable)(harness.name, () => define(harness));
  }
}
