import { expect } from "bun:test";
import { noLateNotes } from "../../../../src/domain/sync/run/late-rows.ts";
import { copiedOf } from "../../../../src/ports/documents.ts";
import { AlertOutbox } from "../../../../src/repositories/alert-outbox.ts";
import { COLLECTIONS, SCHEDULE_TIMES } from "../../../../src/repositories/collections.ts";
import {
  DRIFTS,
  DROPPED,
  EXCHANGED,
  LATE_ROWS,
} from "../../../../src/repositories/run-collections.ts";
import { withStore } from "../../../support/stores/with-store.ts";

type OwnedDocuments = Readonly<Record<string, readonly object[]>>;

/** Collections that the deployment of these tests leaves empty, and why. */
const EMPTY: Readonly<Record<string, string>> = {
  audit_segments: "some hundred lookups make the first",
  audit_slices: "some thousand segments make the first",
  settings: "only backups by the clock are noted",
};

/**
 * Fails for a collection that is empty without a reason, as its documents would be compared with nothing, and for a field that
 * its declaration does not tell.
 */
export function expectFilled(owned: OwnedDocuments): void {
  for (const [name, documents] of Object.entries(owned)) {
    if (!(name in EMPTY)) expect([name, documents]).not.toEqual([name, []]);
    const told = new Set<string>(COLLECTIONS.find((one) => one.name === name)?.fields);
    const stored = new Set(documents.flatMap((document) => Object.keys(document)));
    expect([name, stored.difference(told)]).toEqual([name, new Set()]);
  }
}

/** The documents of every collection that copies take along, by its name. The store is one that no service uses. */
export async function ownedDocuments(url: string): Promise<OwnedDocuments> {
  return await withStore(url, async (storage) => {
    const owned = copiedOf(COLLECTIONS).map(async (from) => {
      const [documents] = await storage.documents.read({ name: "test.owned" }, (at) =>
        at.read({ from, stretch: {} }),
      );
      return [from.name, documents] as const;
    });
    return Object.fromEntries(await Promise.all(owned));
  });
}

/** Keeps what a service would deliver, add up or has not kept yet, such as an alert. */
export async function keepWaiting(url: string): Promise<void> {
  const about = { type: "quota.80", account: "acme", atMs: 1_772_366_400_000 } as const;
  const [table, direction] = ["former", "push"] as const;
  const times = { byOwnRuns: null, byOthers: "2024-01-01T00:00:00Z" };
  await withStore(url, async ({ documents }) => {
    await new AlertOutbox(documents).add([{ ...about, id: "alert-1", body: '{"used":8}' }]);
    await documents.transact({ name: "test.keep" }, async (tx) => {
      await tx.read();
      tx.put(LATE_ROWS, { table, id: "commit-1", ...times });
      tx.put(LATE_ROWS, { table, ...noLateNotes("origin-1") });
      tx.put(DRIFTS, { table, rows: -1 });
      tx.put(EXCHANGED, { table, number: 1, id: "block-1", versions: new Uint8Array([0, 255]) });
      tx.put(DROPPED, { table, direction, entry: ["a"], key: '{"k":"a"}', fingerprint: "f" });
      tx.put(SCHEDULE_TIMES, { name: "last_backup", value: "1772366400000" });
    });
  });
}
