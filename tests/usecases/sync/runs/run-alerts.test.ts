// What operators are told of runs and comparisons.
import { expect, test } from "bun:test";
import { toWire } from "../../../../src/domain/shared/wire-names.ts";
import { AlertOutbox, Alerts } from "../../../../src/repositories/alert-outbox.ts";
import { Runs } from "../../../../src/repositories/runs.ts";
import { StartedComparison } from "../../../../src/usecases/sync/runs/start-comparison.ts";
import {
  findRun,
  listRuns,
  watchAbandonedRuns,
} from "../../../../src/usecases/sync/runs/stored-runs.ts";
import { ownDocuments } from "../../../support/memory/documents.ts";
import { makeTwoEnds, manyRows, put, runOf, start, type TwoEnds } from "../two-ends.ts";

/** Both ends, and what is told at the one here since it was last asked. */
async function makeTellingEnds() {
  const ends = await makeTwoEnds();
  const documents = ownDocuments(ends.time.clock());
  const outbox = new AlertOutbox(documents);
  const runs = new Runs(documents);
  let ids = 0;
  const alerts = new Alerts({
    outbox,
    clock: ends.time.clock(),
    ids: { next: () => `alert-${++ids}` },
  });
  const telling: TwoEnds = { ...ends, runs, deps: { ...ends.deps, runs, alerts } };
  const told = async () => {
    const found = await outbox.due(ends.time.nowMs, 100);
    for (const { id } of found) await outbox.remove(id);
    return found.map(({ account, body }) => {
      const { id: _, at, ...fields } = JSON.parse(body);
      expect([account, at]).toEqual([null, expect.stringMatching(/^2026-03-01T12:/)]);
      return fields;
    });
  };
  // `makeTwoEnds` looks for the ends that it made.
  const intercept = (through: TwoEnds["intercept"]) => {
    ends.intercept = through;
  };
  return { ends: telling, told, intercept };
}

/** Refuses the first of the pushed records. */
function refuseFirst(ends: TwoEnds): void {
  ends.there.refuse = (_table, { k }) => (k === "k-0000" ? "Not there" : null);
}

test("D-10.12 a run that went well, and a dry run, tell nothing", async () => {
  const { ends, told, intercept } = await makeTellingEnds();
  put(ends.there, ends.table, manyRows(3));
  expect((await runOf(ends)).run.status).toBe("success");
  put(ends.here, ends.table, manyRows(3, "own"));
  ends.there.refuse = () => "Not there";
  await runOf(ends, { direction: "push", isDryRun: true });
  intercept(() => {
    throw new Error("broken");
  });
  expect((await runOf(ends, { isDryRun: true })).run.status).toBe("failed");
  expect(await told()).toEqual([]);
});

test("D-10.12 run.failed has the run as it is listed", async () => {
  const { ends, told, intercept } = await makeTellingEnds();
  intercept(() => {
    throw new Error("broken");
  });
  const { run } = await runOf(ends);
  const item = toWire(await findRun(ends.deps, run.runId)) as object;
  expect(await told()).toEqual([{ type: "run.failed", ...item }]);
  expect(item).toMatchObject({ run_id: run.runId, status: "failed", tables: { items: {} } });
  expect(item).toHaveProperty("error");
});

test("D-10.12 run.partial has the run, and records.rejected the count of each table", async () => {
  const { ends, told } = await makeTellingEnds();
  put(ends.here, ends.table, manyRows(3));
  refuseFirst(ends);
  const { run } = await runOf(ends, { direction: "push" });
  const item = toWire(await findRun(ends.deps, run.runId)) as object;
  expect(await told()).toEqual([
    { type: "drift.found", table: "items", count_here: 3, count_there: 2 },
    { type: "run.partial", ...item },
    { type: "records.rejected", run_id: run.runId, tables: { items: 1 } },
  ]);
});

test("D-10.12 a run that was stopped, or whose process has ended, is told once", async () => {
  const { ends, told } = await makeTellingEnds();
  put(ends.there, ends.table, manyRows(3));
  const started = start(ends);
  started.stop("Cancelled by root");
  await ends.time.run(started.outcome);
  const stopped = { type: "run.failed", run_id: started.runId, error: "Cancelled by root" };
  expect(await told()).toMatchObject([stopped]);
  const { run } = await runOf(ends);
  await ends.runs.save({ ...run, runId: "gone", status: "running", finishedAt: null });
  await listRuns(ends.deps, {});
  await listRuns(ends.deps, {});
  expect(await told()).toMatchObject([{ type: "run.failed", run_id: "gone", status: "failed" }]);
});

test("D-10.12 a killed run is told though nobody lists runs, once its lease is over", async () => {
  const { ends, told } = await makeTellingEnds();
  const { run } = await runOf(ends);
  await ends.runs.save({ ...run, runId: "gone", status: "running", finishedAt: null });
  await ends.leases.acquire({ name: "sync run gone", holder: "gone", ttlMs: 20_000 });
  const watch = watchAbandonedRuns(ends.deps);
  ends.time.advance(16_000);
  expect(await told()).toEqual([]);
  ends.time.advance(15_000);
  expect(await told()).toMatchObject([{ type: "run.failed", run_id: "gone" }]);
  ends.time.advance(60_000);
  watch.stop();
  expect(await told()).toEqual([]);
});

test("D-10.12 drift is told when it is new", async () => {
  const { ends, told } = await makeTellingEnds();
  put(ends.here, ends.table, manyRows(2));
  await runOf(ends);
  const drift = { type: "drift.found", table: "items" };
  expect(await told()).toEqual([{ ...drift, count_here: 2, count_there: 0 }]);
  await runOf(ends);
  expect(await told()).toEqual([]);
  put(ends.here, ends.table, manyRows(1, "more"));
  await runOf(ends);
  expect(await told()).toEqual([{ ...drift, count_here: 3, count_there: 0 }]);
});

test("D-10.12 what a scheduled comparison finds is told, repaired or not, and one that fails", async () => {
  const { ends, told, intercept } = await makeTellingEnds();
  put(ends.there, ends.table, manyRows(3));
  put(ends.here, ends.table, [...manyRows(1), ["own", "v", "2026-03-01T10:00:00Z"]]);
  const compare = (trigger: "api" | "schedule", repair: "pull" | null = null) =>
    new StartedComparison(ends.deps, { tableName: "items", repair, trigger });
  await ends.time.run(compare("api").outcome);
  expect(await told()).toEqual([]);
  const found = { type: "drift.found", table: "items", count_here: 2, count_there: 3 };
  await ends.time.run(compare("schedule").outcome);
  expect(await told()).toEqual([found]);
  await ends.time.run(compare("schedule", "pull").outcome);
  expect(await told()).toEqual([found]);
  intercept(() => {
    throw new Error("broken");
  });
  const failed = compare("api");
  await ends.time.run(failed.outcome);
  expect(await told()).toMatchObject([
    { type: "run.failed", run_id: failed.runId, kind: "compare", table: "items" },
  ]);
});

test("D-10.12 without a receiver nothing is kept", async () => {
  const { ends, told, intercept } = await makeTellingEnds();
  intercept(() => {
    throw new Error("broken");
  });
  await runOf({ ...ends, deps: { ...ends.deps, alerts: null } });
  expect(await told()).toEqual([]);
});
