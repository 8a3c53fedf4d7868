// Lists of runs, and what the overview makes of them, where many are kept and each has many tables.
import { expect, test } from "bun:test";
import { NO_TABLE_RESULT, type SyncRun } from "../../../../src/domain/sync/run/run.ts";
import {
  readTableStates,
  TableHistories,
} from "../../../../src/usecases/operations/table-histories.ts";
import { listRuns } from "../../../../src/usecases/sync/runs/stored-runs.ts";
import { makeRun } from "../../../repositories/support/runs.ts";
import { makeTwoEnds, type TwoEnds } from "../two-ends.ts";

/** As many as a part of a list tells of. */
const PART_TABLES = 10_000;

function tablesOf(count: number, countThere = 5): SyncRun["tables"] {
  const result = { ...NO_TABLE_RESULT, countHere: 5, countThere };
  const names = Array.from({ length: count }, (_, n) => (n === 0 ? "items" : `t${n}`));
  return Object.fromEntries(names.map((name) => [name, result]));
}

/** Counts the runs that lists bring from now on. */
function countRuns({ runs }: TwoEnds) {
  const counted = { runs: 0 };
  const list = runs.list.bind(runs);
  runs.list = async (query) => {
    const found = await list(query);
    counted.runs += found.length;
    return found;
  };
  return counted;
}

test("D-4.9 a part of the list ends where its runs have told of many tables", async () => {
  const ends = await makeTwoEnds();
  for (const id of ["run-one-1", "run-two-2", "run-three"]) {
    await ends.runs.save(makeRun(id, { tables: tablesOf(PART_TABLES / 2) }));
  }
  await ends.runs.save(makeRun("run-large", { tables: tablesOf(PART_TABLES + 1) }));
  const parts: string[][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { items, nextCursor } = await listRuns(ends.deps, { limit: "3", cursor });
    parts.push(items.map(({ runId }) => runId));
    cursor = nextCursor;
  }
  expect(parts).toEqual([["run-large"], ["run-three", "run-two-2"], ["run-one-1"]]);
});

test("D-9.5 the overview reads runs that are long over once, and what came since", async () => {
  const ends = await makeTwoEnds();
  const save = (n: number, changes: Partial<SyncRun> = {}) =>
    ends.runs.save(
      makeRun(`run-${n}`, { startedAt: new Date(n * 60_000).toISOString(), ...changes }),
    );
  for (let n = 0; n < 200; n++) {
    const isRunning = n === 150;
    await save(n, {
      ...{ status: isRunning ? "running" : "success", finishedAt: null },
      tables: tablesOf(2, n === 7 ? 5 : 6),
    });
  }
  await ends.leases.acquire({ name: "sync run run-150", holder: "run-150", ttlMs: 1e9 });
  const counted = countRuns(ends);
  const histories = new TableHistories();
  const states = async () => {
    counted.runs = 0;
    const remembered = await readTableStates(ends.deps, {}, null, histories);
    const { runs } = counted;
    expect(remembered).toEqual(await readTableStates(ends.deps, {}, null));
    return { runs, state: remembered[0] };
  };
  const nowSeconds = ends.time.nowMs / 1000;
  const first = await states();
  expect([first.runs, first.state?.behindSeconds]).toEqual([200, nowSeconds - 7 * 60]);
  expect(first.state?.lastRun?.runId).toBe("run-199");
  // Down to the one that goes on.
  expect((await states()).runs).toBe(75);
  await save(150, { tables: tablesOf(2) });
  expect((await states()).state?.behindSeconds).toBe(nowSeconds - 150 * 60);
  expect((await states()).runs).toBe(25);
  await save(200, { tables: { items: { ...tablesOf(1)["items"]!, countHere: 6 } } });
  expect((await states()).state?.lastRun?.runId).toBe("run-200");
});
