// A column that the remote lacked when rows were pushed, and has later.
import { expect, test } from "bun:test";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { Row } from "../../../src/domain/sync/table/table.ts";
import { RemotePeerError } from "../../../src/ports/tables/remote-peer.ts";
import { compareTables } from "../../support/rows/compare-tables.ts";
import { makeRegistry } from "../../support/rows/make-table.ts";
import { BY_TIME, makeTwoEnds, register, runOf, type TwoEnds } from "./two-ends.ts";

const WITH_NOTES: TableEntry = {
  ...BY_TIME,
  columns: { ...BY_TIME.columns, notes: { type: "text" } },
};
const T1 = "2026-03-01T10:00:00Z";
const T2 = "2026-03-01T10:15:00Z";
const T3 = "2026-03-01T10:30:00Z";
const NOTED: Row = { k: "b", v: "1", at: T2, notes: "of b" };

function put(ends: TwoEnds, ...rows: readonly Row[]): void {
  for (const row of rows) ends.here.writeOwn(ends.registries.here.get("items")!, row);
}

function rowOf(ends: TwoEnds, end: "here" | "there"): Row | undefined {
  const rows = ends[end].sortedRows(ends.registries[end].get("items")!);
  return rows.find(({ k }) => k === NOTED["k"]);
}

test("D-7.3.3 after a push that ended early no pull empties a column that the remote lacked then", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 1 });
  put(ends, { k: "a", v: "1", at: T1 });
  expect((await runOf(ends, { direction: "push" })).run.status).toBe("success");
  await register(ends, "here", WITH_NOTES);
  put(ends, NOTED, { k: "c", v: "1", at: T3, notes: null });
  let pushes = 0;
  ends.intercept = ({ kind }, send) => {
    if (kind === "push" && ++pushes === 3) throw new RemotePeerError("status", "400");
    return send();
  };
  expect((await runOf(ends, { direction: "push" })).run.status).toBe("failed");
  ends.intercept = (_, send) => send();
  await register(ends, "there", WITH_NOTES);
  for (const direction of ["pull", "pull", "push"] as const) {
    expect((await runOf(ends, { direction })).run.status).toBe("success");
    expect(rowOf(ends, "here")).toEqual(NOTED);
  }
  expect(rowOf(ends, "there")).toEqual(NOTED);
});

/** Another instance of this end, which has not taken up the registry yet: its run fails behind the first row. */
async function runBehind(ends: TwoEnds, direction: "push" | "pull"): Promise<void> {
  const deps = { ...ends.deps, registry: makeRegistry({ items: BY_TIME }) };
  let asked = 0;
  ends.intercept = ({ kind, limit }, send) => {
    if (kind === direction && limit !== 1 && ++asked === 2)
      throw new RemotePeerError("status", "400");
    return send();
  };
  expect((await runOf({ ...ends, deps }, { direction })).run.status).toBe("failed");
  ends.intercept = (_, send) => send();
}

test("D-7.3.3, D-14.6 no push empties a column of rows that an instance without it has begun to pull", async () => {
  const ends = await makeTwoEnds({ entry: WITH_NOTES, maxPageRows: 2 });
  expect((await runOf(ends, { direction: "pull" })).run.status).toBe("success");
  const others = ["c", "d", "e"].map((k) => ({ ...NOTED, k, at: T3 }));
  for (const row of [NOTED, ...others]) ends.there.writeOwn(ends.table, row);
  await runBehind(ends, "pull");
  expect(rowOf(ends, "here")).toEqual({ k: "b", v: "1", at: T2 });
  const { run, error } = await runOf(ends, { direction: "push" });
  expect(run.status).toBe("failed");
  expect(error?.text).toContain("a push would empty them at the remote");
  expect((await runOf(ends)).run.status).toBe("success");
  for (const end of ["here", "there"] as const) expect(rowOf(ends, end)).toEqual(NOTED);
});

test.each(["https://there.example", "https://elsewhere.example", null])(
  "D-7.3.3, D-14.6 no pull empties a column of rows that an instance without it has begun to push, where one has before to %p",
  async (before) => {
    const ends = await makeTwoEnds({ maxPageRows: 1 });
    await register(ends, "there", WITH_NOTES);
    await register(ends, "here", WITH_NOTES);
    if (before !== null) {
      const deps = { ...ends.deps, remoteUrl: before };
      expect((await runOf({ ...ends, deps }, { direction: "push" })).run.status).toBe("success");
    }
    await register(ends, "there", BY_TIME);
    put(ends, NOTED, { k: "c", v: "1", at: T3, notes: null });
    await runBehind(ends, "push");
    await register(ends, "there", WITH_NOTES);
    for (const direction of ["pull", "push", "pull"] as const) {
      expect((await runOf(ends, { direction })).run.status).toBe("success");
      expect(rowOf(ends, "here")).toEqual(NOTED);
    }
    expect(rowOf(ends, "there")).toEqual(NOTED);
  },
);

test("D-7.3.3, D-11.10.1 no pull empties a column that a first push to another remote left out, though its reply was lost", async () => {
  const ends = await makeTwoEnds();
  await register(ends, "here", WITH_NOTES);
  put(ends, NOTED);
  const deps = { ...ends.deps, remoteUrl: "https://elsewhere.example" };
  expect((await runOf({ ...ends, deps }, { direction: "push" })).run.status).toBe("success");
  ends.intercept = async ({ kind }, send) => {
    const reply = await send();
    if (kind === "push") throw new RemotePeerError("status", "400");
    return reply;
  };
  expect((await runOf(ends, { direction: "push" })).run.status).toBe("failed");
  ends.intercept = (_, send) => send();
  await register(ends, "there", WITH_NOTES);
  for (const direction of ["pull", "push", "pull"] as const) {
    expect((await runOf(ends, { direction })).run.status).toBe("success");
    expect(rowOf(ends, "here")).toEqual(NOTED);
  }
  expect(rowOf(ends, "there")).toEqual(NOTED);
});

test.each(["pull", "newest"] as const)(
  "D-4.10 a repair by %s brings rows here though the last push left a column out",
  async (repair) => {
    const ends = await makeTwoEnds();
    await register(ends, "here", WITH_NOTES);
    put(ends, { ...NOTED, notes: null });
    expect((await runOf(ends, { direction: "push" })).run.status).toBe("success");
    await register(ends, "there", WITH_NOTES);
    const newer = { ...NOTED, v: "2", at: T3 };
    ends.there.writeOwn(ends.registries.there.get("items")!, newer);
    const compared = ends.time.run(compareTables(ends.deps, { tableName: "items", repair }));
    expect(await compared).toMatchObject({ different: 1, repaired: 1 });
    expect(rowOf(ends, "here")).toEqual(newer);
  },
);
