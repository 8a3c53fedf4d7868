// Comparing both ends and repairing what differs, by digests and by pages. D-4.10.
import { describe, expect, test } from "bun:test";
import type { SyncDirection } from "../../../../src/domain/sync/run/run.ts";
import { repsyncServer } from "../../../simulation/sim-servers.ts";
import { compareTables } from "../../../support/rows/compare-tables.ts";
import {
  foreign,
  makeTwoEnds,
  manyRows,
  put,
  rowsOf,
  runOf,
  statusError,
  type TwoEnds,
  type TwoEndsOptions,
} from "../two-ends.ts";

const PATHS: readonly [string, TwoEndsOptions][] = [
  ["by digests", { server: repsyncServer }],
  ["by pages", foreign({ isTimelessLast: true })],
];

function compare(ends: TwoEnds, repair: SyncDirection | null = null) {
  return ends.time.run(compareTables(ends.deps, { tableName: "items", repair }));
}

/** One row of each kind beside 30 equal ones. */
async function differentEnds(options: TwoEndsOptions): Promise<TwoEnds> {
  const ends = await makeTwoEnds({ ...options, maxPageRows: 12 });
  for (const storage of [ends.here, ends.there]) put(storage, ends.table, manyRows(30));
  put(ends.here, ends.table, [
    ["k-0003", "here", "2026-03-01T10:00:03Z"],
    ["only-here", "v", "2026-03-01T10:10:00Z"],
  ]);
  put(ends.there, ends.table, [["only-there", "v", null]]);
  return ends;
}

describe.each(PATHS)("%s", (_, options) => {
  test("D-4.10 empty tables are equal", async () => {
    expect(await compare(await makeTwoEnds(options))).toMatchObject({ matched: 0, different: 0 });
  });

  test("D-4.10 what differs is counted by kind, with its keys", async () => {
    const ends = await differentEnds(options);
    expect(await compare(ends)).toEqual({
      ...{ matched: 29, different: 1, missingHere: 1, missingThere: 1 },
      examples: {
        different: [{ k: "k-0003" }],
        missingHere: [{ k: "only-there" }],
        missingThere: [{ k: "only-here" }],
      },
    });
    expect(ends.requests.some(({ kind }) => kind === "push")).toBe(false);
  });

  test("D-4.10 a repair by push sends exactly the rows that differ or are missing there", async () => {
    const ends = await differentEnds(options);
    expect(await compare(ends, "push")).toMatchObject({ different: 1, repaired: 2 });
    const sent = ends.requests.flatMap(({ records = [] }) => records.map(({ k }) => k));
    expect(sent.toSorted()).toEqual(["k-0003", "only-here"]);
    expect(await compare(ends)).toMatchObject({
      ...{ matched: 31, different: 0, missingHere: 1, missingThere: 0 },
    });
  });

  test("D-4.10 a repair by pull writes exactly the rows that differ or are missing here", async () => {
    const ends = await differentEnds(options);
    const written: unknown[] = [];
    ends.here.onCommit = (rows) => written.push(...rows.map(({ k }) => k));
    expect(await compare(ends, "pull")).toMatchObject({ different: 1, repaired: 2 });
    expect(written.toSorted()).toEqual(["k-0003", "only-there"]);
    expect(await compare(ends)).toMatchObject({
      ...{ matched: 31, different: 0, missingHere: 0, missingThere: 1 },
    });
    expect(ends.kept.marker("sync_last_pull_items")).toBe("");
  });

  test("D-4.10 young rows that are on their way are looked at twice", async () => {
    const ends = await makeTwoEnds(options);
    put(ends.here, ends.table, [
      ["arrives", "v", "2026-03-01T11:59:30Z"],
      ["stays", "v", "2026-03-01T11:59:30Z"],
      ["changes", "2", "2026-03-01T11:59:40Z"],
    ]);
    put(ends.there, ends.table, [["changes", "1", "2026-03-01T11:59:20Z"]]);
    ends.time.after(500, () => {
      put(ends.there, ends.table, [
        ["arrives", "v", "2026-03-01T11:59:30Z"],
        ["changes", "2", "2026-03-01T11:59:40Z"],
      ]);
    });
    expect(await compare(ends)).toEqual({
      ...{ matched: 2, different: 0, missingHere: 0, missingThere: 1 },
      examples: { different: [], missingHere: [], missingThere: [{ k: "stays" }] },
    });
    expect(ends.time.nowMs - Date.parse("2026-03-01T12:00:00Z")).toBe(1_000);
  });

  test("D-4.10 old rows are reported at once", async () => {
    const ends = await differentEnds(options);
    await compare(ends);
    expect(ends.time.nowMs).toBe(Date.parse("2026-03-01T12:00:00Z"));
  });

  test("D-4.10 records that the repair cannot write are kept as refused", async () => {
    const ends = await differentEnds(options);
    ends.there.refuse = (_table, { k }) => (k === "only-here" ? "Not there" : null);
    expect(await compare(ends, "push")).toMatchObject({ repaired: 1 });
    expect(ends.kept.rejected()).toMatchObject([
      { direction: "push", key: { k: "only-here" }, message: expect.stringContaining("Not there") },
    ]);
  });

  test("D-4.8 a repair waits for the run in its way, a comparison does not", async () => {
    const ends = await differentEnds(options);
    await ends.leases.acquire({ name: "sync push items", holder: "run-9", ttlMs: 60_000 });
    expect(await compare(ends)).toMatchObject({ different: 1 });
    await expect(compare(ends, "push")).rejects.toMatchObject({
      kind: "sync_failed",
      text: 'Run run-9 holds "sync push items"; try again later',
    });
  });
});

test("D-4.10 a run and a comparison agree after a repair of either kind", async () => {
  const ends = await differentEnds({});
  await compare(ends, "push");
  await compare(ends, "pull");
  expect(rowsOf(ends.here, ends.table)).toEqual(rowsOf(ends.there, ends.table));
  expect((await runOf(ends, { direction: "both" })).run.status).toBe("success");
});

test("D-4.10 where a segment differs in many places its rows are fetched, in as many replies as they need", async () => {
  const ends = await makeTwoEnds({});
  const rows = manyRows(2_100);
  put(ends.here, ends.table, rows);
  put(
    ends.there,
    ends.table,
    rows.map(([k, , at]) => [k, "other", at]),
  );
  expect(await compare(ends)).toMatchObject({ matched: 0, different: 2_100, missingHere: 0 });
  // One for the long segment, one for the short ones, three for 1,024 records at most each.
  expect(ends.requests.filter(({ kind }) => kind === "digest")).toHaveLength(5);
});

test.each([400, 404, 405, 501])(
  "D-4.10 a remote that answers a digest with %d is compared by pages",
  async (status) => {
    const ends = await differentEnds({});
    ends.intercept = ({ kind }, send) => {
      if (kind === "digest") throw statusError(status);
      return send();
    };
    expect(await compare(ends)).toMatchObject({ matched: 29, different: 1 });
    expect(ends.requests.filter(({ kind }) => kind === "digest")).toHaveLength(1);
  },
);

test.each([{ format: "rows-0" }, { columns: ["k", "at"] }])(
  "D-4.10 a remote whose digests have %j is compared by pages",
  async (changes) => {
    const ends = await differentEnds({});
    ends.intercept = async ({ kind }, send) =>
      kind === "digest" ? { ...((await send()) as object), ...changes } : send();
    expect(await compare(ends)).toMatchObject({ matched: 29, different: 1 });
  },
);

test("D-4.10 digests that do not reach the end are no proof", async () => {
  const ends = await differentEnds({});
  ends.intercept = async ({ kind }, send) => {
    const reply = (await send()) as { segments: readonly object[] };
    if (kind !== "digest") return reply;
    return { ...reply, segments: [{ ...reply.segments[0], through: ["k-0001"] }] };
  };
  await expect(compare(ends)).rejects.toMatchObject({
    message: "The remote sent digests of another range; its digests cannot be compared",
  });
});

test("D-4.10 digests that lead back are no proof", async () => {
  const ends = await differentEnds({});
  ends.intercept = async ({ kind }, send) => {
    const reply = (await send()) as { segments: readonly object[] };
    if (kind !== "digest") return reply;
    return { ...reply, hasMore: true, segments: [{ ...reply.segments[0], through: ["a"] }] };
  };
  await expect(compare(ends)).rejects.toMatchObject({
    message: "The remote sent keys that are not in their order; its digests cannot be compared",
  });
});
