// Stores of MongoDB for the tests of the reputation half.

import { SystemClock } from "../../../src/adapters/system/system.ts";
import type { ValueCache } from "../../../src/ports/runtime/runtime.ts";
import {
  type AuditVerdict,
  verifyAudit,
} from "../../../src/usecases/reputation/audit/verify-audit.ts";
import type { OpenedStore } from "../../contract/harness.ts";
import {
  AUDIT_KEY,
  MAC,
  openParts,
  type ReputationParts,
  realScene,
  type Scene,
} from "../../contract/lookups/reputation-harness.ts";
import { FakeClock } from "../../support/time/fake-clock.ts";
import { remembering } from "../../support/value-caches.ts";
import { makeDatabase, type TestDatabase } from "./support.ts";

/** A store whose time the tests decide. */
export async function openReputationStore(
  makeCache: <Value extends object>() => ValueCache<Value>,
): Promise<OpenedStore<ReputationParts>> {
  const database = await makeDatabase();
  // The server would remove sessions that are over by its own clock.
  await database.db.admin().command({ setParameter: 1, ttlMonitorEnabled: false });
  const clock = new FakeClock();
  const open = async () => await openParts(await database.open("", undefined, clock), makeCache);
  return {
    storage: await open(),
    openSecond: open,
    nowMs: () => clock.nowMs(),
    advance: async (durationMs) => clock.advance(durationMs),
    dispose: () => database.dispose(),
  };
}

/** Durations as they pass, and jumps. */
export class LaterClock {
  readonly #system = new SystemClock();
  #laterMs = 0;

  monotonicMs(): number {
    return this.#system.monotonicMs() + this.#laterMs;
  }

  /** Jumps ahead. */
  advance(durationMs: number): void {
    this.#laterMs += durationMs;
  }
}

/** The collection that lookups write. */
export const LEDGER = "repsync_lookup_log";
/** Its documents by kind: blocks of audit records, and counts of accounts. */
export const BLOCKS = { kind: "block" };
export const USAGES = { kind: "usage" };

/** A plan that stops nobody. */
export const UNLIMITED = { plan: "enterprise", rateLimitPerMinute: 1_000_000_000 } as const;

/** Opens an instance that goes by the server's time, closed after the test. */
export async function openScene(database: TestDatabase, options = ""): Promise<Scene> {
  return realScene(await openParts(await database.open(options), remembering));
}

/** What verifying the audit log finds. */
export async function verify({ audit }: ReputationParts): Promise<AuditVerdict> {
  return await verifyAudit({ audit, mac: MAC, auditKey: AUDIT_KEY });
}

/** The error that a promise is rejected with; undefined when it resolves. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
