// How often a run asks the remote.
import { expect, test } from "bun:test";
import { BY_TIME, makeTwoEnds, manyRows, put, rowsOf, runOf, type TwoEnds } from "../two-ends.ts";

const kinds = ({ requests }: TwoEnds): string[] => requests.map(({ kind }) => kind);

/** 100 rows of each end, changed just now. */
function change(ends: TwoEnds): void {
  const at = new Date(ends.time.nowMs).toISOString().replace(".000Z", "Z");
  const rows = (prefix: string) =>
    manyRows(100, prefix).map(([k], i) => [k, "new", at.replace("Z", `.${100 + i}Z`)] as const);
  put(ends.here, ends.table, rows("here"));
  put(ends.there, ends.table, rows("there"));
}

test.each([false, true])(
  "D-7.5 100 changed rows of many cost at most 6 requests, deletes: %p",
  async (deletes) => {
    const ends = await makeTwoEnds({ entry: { ...BY_TIME, deletes }, maxPageRows: 5000 });
    put(ends.here, ends.table, manyRows(10_000, "here"));
    put(ends.there, ends.table, manyRows(10_000, "there"));
    await runOf(ends, { direction: "both" });
    ends.time.advance(6 * 3_600_000);
    // The last rows come again, and the marker passes them.
    await runOf(ends, { direction: "both" });
    change(ends);
    ends.requests.length = 0;
    const { run } = await runOf(ends, { direction: "both" });
    expect(run).toMatchObject({ status: "success", changed: 200, kept: 0 });
    expect(rowsOf(ends.here, ends.table)).toEqual(rowsOf(ends.there, ends.table));
    expect(kinds(ends).filter((kind) => kind !== "deleted")).toEqual([
      // The first pull looks for rows without a timestamp; its total says that no row is missing at either end.
      ...["status", "schema", "push", "pull", "pull"],
    ]);
    expect(kinds(ends).length).toBeLessThanOrEqual(6);
    ends.time.advance(600_000);
    ends.requests.length = 0;
    const idle = await runOf(ends, { direction: "both" });
    expect(idle.run).toMatchObject({ status: "success", changed: 0 });
    expect(kinds(ends).length).toBeLessThanOrEqual(6);
    // Drift is asked for once more, at the end.
    ends.there.remove(ends.table, { k: "here-0000" });
    ends.requests.length = 0;
    const drifted = await runOf(ends, { direction: "push" });
    expect(drifted.run.tables["items"]).toMatchObject({ countHere: 20_000, countThere: 19_999 });
    expect(kinds(ends).filter((kind) => kind !== "deleted")).toEqual([
      "status",
      "schema",
      "status",
    ]);
  },
);
