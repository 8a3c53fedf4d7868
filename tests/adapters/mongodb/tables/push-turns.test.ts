// Large pushes are prepared with turns for others in between. D-7.9. No server is asked.
import { expect, test } from "bun:test";
import { planUpserts } from "../../../../src/adapters/mongodb/tables/upserts.ts";
import { Turns } from "../../../../src/ports/runtime/turns.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { atOnce } from "../../../support/at-once.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { HurriedClock } from "../../../support/time/fake-clock.ts";

const table = makeTable({
  upsert_key: ["n"],
  columns: { n: { type: "integer" }, batch: { type: "integer" } },
});

test("D-7.9.2 the upserts of a push are made with turns for others, and are what they would be at once", async () => {
  const writes = asWrites(Array.from({ length: 1_000 }, (_, i) => ({ n: i % 900, batch: i })));
  let pauses = 0;
  const turns = new Turns(new HurriedClock(), async () => {
    pauses++;
  });
  const plan = await turns.run(planUpserts(table, writes));
  expect(plan).toEqual(atOnce(planUpserts(table, writes)));
  expect(pauses).toBeGreaterThan(1_000);
  expect([plan.ordered, plan.upserts.length]).toEqual([true, 1_000]);
  const ofKey = plan.upserts.filter(({ row }) => row["n"] === 7).map(({ index }) => index);
  expect(ofKey).toEqual([7, 907]);
});
