// Large pushes are written with turns for others in between. D-7.9.
import { afterEach, expect, test } from "bun:test";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import type { FullStorage } from "../../../../src/ports/storage.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { withRunParts } from "../../../support/run-parts.ts";
import { HurriedClock } from "../../../support/time/fake-clock.ts";
import { makeDatabase, type TestDatabase } from "../support.ts";

const ROWS = 100;
const table = makeTable({
  upsert_key: ["n"],
  timestamp_column: "at",
  deletes: true,
  columns: { n: { type: "integer" }, batch: { type: "integer" }, at: { type: "datetime" } },
});

/** Is asked after each step whether the turn is over: twice, as it always is. */
class CountingClock extends HurriedClock {
  asked = 0;

  override monotonicMs(): number {
    this.asked++;
    return super.monotonicMs();
  }
}

let database: TestDatabase | null = null;
let storage: FullStorage | null = null;
afterEach(async () => {
  await storage?.close();
  await database?.dispose();
});

test("D-7.9.2 each record of a push is converted, found, locked, decided and sent with turns for others in between", async () => {
  database = await makeDatabase();
  const clock = new CountingClock();
  storage = await openPostgresStorage({ url: database.url, clock });
  const opened = withRunParts(storage);
  await opened.documents.prepare(COLLECTIONS);
  await opened.tables.prepare([table]);
  for (const batch of [1, 2]) {
    const at = `2026-01-01T00:00:0${batch}Z`;
    const rows = Array.from({ length: ROWS }, (_, n) => ({ n, batch, at }));
    clock.asked = 0;
    const { failures, changed } = await writeTo(opened, table, asWrites(rows));
    expect([failures, changed]).toEqual([[], ROWS]);
    expect(clock.asked).toBeGreaterThanOrEqual(2 * 5 * ROWS);
  }
});
