// Turns of short bodies while a push takes its time.
import { describe, expect, test } from "bun:test";
import { SYNC_CALLS } from "../../../../src/ports/documents.ts";
import { PROFILES } from "../../../contract/documents/document-table-conflicts.ts";
import { records, TablesOfSuite } from "../../../contract/documents/tables-harness.ts";
import { openPostgresTables } from "../../../support/stores/document-table-stores.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";

describe.skipIf(!postgresAvailable)("PostgreSQL: turns of bodies", () => {
  const store = new TablesOfSuite({
    name: "PostgreSQL",
    holds: "own types",
    open: openPostgresTables,
  });

  test("D-7.9 a push under way holds up nobody who has met another", async () => {
    const people = await store.tableWith(PROFILES);
    const from = await store.items();
    const written = Promise.withResolvers<void>();
    const ending = Promise.withResolvers<void>();
    const push = store.documents.transact({ name: "test.push", limit: SYNC_CALLS }, async (tx) => {
      const row = { username: "ana", updated_at: "2024-05-01T10:00:00Z", n: 1 };
      await tx.tables.write(people, records([row]));
      written.resolve();
      await ending.promise;
    });
    await written.promise;
    const change = () =>
      store.documents.transact({ name: "test.change" }, async (tx) => {
        tx.put(from, { key: ["n"], value: 1 });
      });
    let runs = 0;
    await store.documents.transact({ name: "test.meet" }, async (tx) => {
      runs++;
      await tx.read({ from, keys: [["n"]] });
      if (runs === 1) await change();
      tx.put(from, { key: ["n"], value: 2 });
    });
    expect(runs).toBe(2);
    ending.resolve();
    await push;
  });
});
