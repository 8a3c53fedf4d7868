// Pages of a pull that take long: how many rows are asked for next. D-4.6, D-7.9.3.
import { expect, test } from "bun:test";
import { LearnedSizes } from "../../../../src/domain/sync/run/pacing.ts";
import { RemotePeerError } from "../../../../src/ports/tables/remote-peer.ts";
import {
  asked,
  foreign,
  makeTwoEnds,
  manyRows,
  put,
  rowsOf,
  runOf,
  type TwoEnds,
} from "../two-ends.ts";

/** A page of more rows than these takes too long. */
function timeOutBeyond(ends: TwoEnds, rows: number): void {
  ends.intercept = async ({ kind, limit = 0 }, send) => {
    if (kind !== "pull" || limit <= rows) return send();
    await ends.time.sleep(15_000);
    throw new RemotePeerError("timeout", "No reply");
  };
}

test("D-7.9.3 the looks at one row with which a pull begins make its first page no larger", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 5000, ...foreign({ isTimelessLast: true }) });
  put(ends.there, ends.table, manyRows(20));
  await runOf(ends);
  expect(asked(ends.requests).map((request) => request.split(" ").at(-1))).toEqual([
    "1",
    "1",
    "500",
  ]);
});

test("D-4.6 a page that takes too long is asked for with half the rows that it can have", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 5000 });
  put(ends.there, ends.table, manyRows(200));
  timeOutBeyond(ends, 60);
  // After three such pages a run has waited for as long as it may.
  expect((await runOf(ends)).run.status).toBe("success");
  expect(rowsOf(ends.here, ends.table)).toHaveLength(200);
  expect(asked(ends.requests).slice(0, 4)).toEqual([
    "null 0 1",
    "2026-03-01T10:00:00Z 0 500",
    "2026-03-01T10:00:00Z 0 100",
    "2026-03-01T10:00:00Z 0 50",
  ]);
});

test("D-4.6 the next run begins with pages as small as the last one has tried in vain", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 5000 });
  put(ends.there, ends.table, manyRows(1200));
  timeOutBeyond(ends, 80);
  const deps = { ...ends.deps, learned: new LearnedSizes() };
  const first = await runOf({ ...ends, deps });
  expect(first.run.status).toBe("failed");
  expect(asked(ends.requests).slice(1)).toEqual([
    "2026-03-01T10:00:00Z 0 500",
    "2026-03-01T10:00:00Z 0 250",
    "2026-03-01T10:00:00Z 0 125",
  ]);
  ends.requests.length = 0;
  const second = await runOf({ ...ends, deps });
  expect(asked(ends.requests).slice(1, 3)).toEqual([
    "2026-03-01T10:00:00Z 0 125",
    "2026-03-01T10:00:00Z 0 62",
  ]);
  expect(second.run.status).toBe("success");
  expect(rowsOf(ends.here, ends.table)).toHaveLength(1200);
});
