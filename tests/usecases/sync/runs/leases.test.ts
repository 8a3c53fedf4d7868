// One run per table and direction at a time, over all instances. D-4.8.

import { expect, test } from "bun:test";
import { RemotePeerError } from "../../../../src/ports/tables/remote-peer.ts";
import { withWrites } from "../../../support/rows/changed-writes.ts";
import { never } from "../../../support/time/sim-time.ts";
import {
  makeTwoEnds,
  manyRows,
  pausable,
  put,
  rowsOf,
  runOf,
  start,
  statusError,
} from "../two-ends.ts";

test("D-4.8 a second run waits up to 10 s and then names the run in the way", async () => {
  const ends = await makeTwoEnds();
  await ends.leases.acquire({ name: "sync pull items", holder: "other", ttlMs: 60_000 });
  const startedAtMs = ends.time.nowMs;
  const { run, error } = await runOf(ends);
  expect(run.status).toBe("failed");
  expect(error?.text).toBe('Run other holds "sync pull items"; try again later');
  expect(ends.time.nowMs - startedAtMs).toBe(10_000);
});

test("D-4.8 a second run goes on as soon as the first one is through", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  const held = await ends.leases.acquire({
    name: "sync pull items",
    holder: "other",
    ttlMs: 60_000,
  });
  ends.time.after(3_100, () => {
    if ("release" in held) void held.release();
  });
  const { run } = await runOf(ends);
  expect(run).toMatchObject({ status: "success", durationMs: 3_500 });
});

test("D-4.8 the lease of a process that is gone ends by itself", async () => {
  const ends = await makeTwoEnds();
  await ends.leases.acquire({ name: "sync pull items", holder: "gone", ttlMs: 9_000 });
  expect((await runOf(ends)).run.status).toBe("success");
});

test("D-4.8 a run that is stopped while it asks for its lease writes nothing", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  const { leases } = ends.deps;
  const stopping: typeof leases = {
    async acquire(request) {
      const lease = await leases.acquire(request);
      if (request.name === "sync pull items") run.stop();
      return lease;
    },
  };
  const run = start({ ...ends, deps: { ...ends.deps, leases: stopping } });
  const { error } = await ends.time.run(run.outcome);
  expect(error?.text).toBe("The run was stopped; run it again to continue");
  expect(rowsOf(ends.here, ends.table)).toEqual([]);
  expect(ends.kept.holderOf("sync pull items")).toBe(null);
});

test("D-4.8 a lease is renewed while its run goes on, and freed at its end", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 2 });
  put(ends.there, ends.table, manyRows(8));
  const holders: (string | null)[] = [];
  ends.intercept = async ({ kind }, send) => {
    await ends.time.sleep(6_000);
    if (kind === "pull") holders.push(ends.kept.holderOf("sync pull items"));
    return send();
  };
  const { run } = await runOf(ends);
  expect(run.status).toBe("success");
  expect(new Set(holders)).toEqual(new Set(["run-1"]));
  expect(holders.length).toBeGreaterThan(4);
  expect(ends.kept.holderOf("sync pull items")).toBe(null);
});

test("D-4.8 a run that has lost its lease writes nothing more", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 2 });
  put(ends.there, ends.table, manyRows(8));
  const { leases } = ends.deps;
  const deaf: typeof leases = {
    async acquire(request) {
      const lease = await leases.acquire(request);
      const isRun = request.name === "sync pull items";
      return isRun && "renew" in lease ? { ...lease, renew: async () => false } : lease;
    },
  };
  let pages = 0;
  let rowsAtLoss = -1;
  ends.intercept = async ({ kind }, send) => {
    if (kind === "pull" && ++pages === 5) {
      rowsAtLoss = rowsOf(ends.here, ends.table).length;
      await ends.time.sleep(3_000);
    }
    return send();
  };
  const { run, error } = await runOf({ ...ends, deps: { ...ends.deps, leases: deaf } });
  expect(run.status).toBe("failed");
  expect(error?.text).toBe('The lease "sync pull items" was lost, so the run stopped; run again');
  // One page may have been under way.
  expect(rowsOf(ends.here, ends.table).length - rowsAtLoss).toBeLessThanOrEqual(2);
});

test("D-4.8 a process that stood still for longer than its lease does not write when it goes on", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 2 });
  put(ends.here, ends.table, manyRows(4));
  const { paused, standStill } = pausable(ends);
  ends.intercept = async ({ kind }, send) => {
    const reply = await send();
    if (kind === "push") standStill(9_000);
    return reply;
  };
  const { error } = await runOf(paused, { direction: "push" });
  expect(error?.text).toContain("was lost");
  expect(ends.kept.marker("sync_last_push_items")).toBe("");
  expect(ends.requests.filter(({ kind }) => kind === "push")).toHaveLength(1);
});

test("D-4.8 a batch is not sent again once the lease has run out while the run waited to", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(2));
  const { leases } = ends.deps;
  const unanswered: typeof leases = {
    async acquire(request) {
      const lease = await leases.acquire(request);
      const renew = () => new Promise<boolean>(() => {});
      return "renew" in lease && request.name.startsWith("sync") ? { ...lease, renew } : lease;
    },
  };
  ends.intercept = async ({ kind }, send) => {
    if (kind !== "push") return send();
    throw new RemotePeerError("status", "Busy", { reason: "passing", retryAfterSeconds: 13 });
  };
  const startedAtMs = ends.time.nowMs;
  const { error } = await runOf(
    { ...ends, deps: { ...ends.deps, leases: unanswered } },
    { direction: "push" },
  );
  expect(error?.text).toBe('The lease "sync push items" was lost, so the run stopped; run again');
  expect(ends.requests.filter(({ kind }) => kind === "push")).toHaveLength(1);
  expect(ends.time.nowMs - startedAtMs).toBe(10_000);
});

test("D-4.8 a page is not committed once the lease has run out while it was written", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(2));
  const { paused, standStill } = pausable(ends);
  const documents = withWrites(ends.deps.documents, (write) => (table, writes, rule) => {
    standStill(9_000);
    return write(table, writes, rule);
  });
  const { error } = await runOf({ ...paused, deps: { ...paused.deps, documents } });
  expect(error?.text).toContain("was lost");
  expect(rowsOf(ends.here, ends.table)).toEqual([]);
});

test("D-4.8 of two runs at once each moves its rows, one after the other", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 2 });
  put(ends.there, ends.table, manyRows(6));
  ends.intercept = async (_, send) => {
    await ends.time.sleep(100);
    return send();
  };
  const runs = [start(ends), start(ends)];
  const outcomes = await ends.time.run(Promise.all(runs.map(({ outcome }) => outcome)));
  expect(outcomes.map(({ run }) => run.status)).toEqual(["success", "success"]);
  expect(rowsOf(ends.here, ends.table)).toEqual(manyRows(6));
  // The second one found only the row at the marker.
  expect(outcomes.map(({ run }) => run.totalPulled).sort()).toEqual([1, 6]);
});

test.each([
  ["first request", [3_000], 10_000],
  ["renewal", [0, 3_000], 12_500],
])(
  "D-4.8 a lease whose %s is answered late lasts from when it was asked for",
  async (_, answersMs, lostAtMs) => {
    const ends = await makeTwoEnds();
    put(ends.here, ends.table, manyRows(2));
    const { leases } = ends.deps;
    const waits = [...answersMs];
    const answer = async <Answer>(value: Answer): Promise<Answer> => {
      const waitMs = waits.shift();
      await (waitMs === undefined ? never() : ends.time.sleep(waitMs));
      return value;
    };
    const late: typeof leases = {
      async acquire(request) {
        const lease = await leases.acquire(request);
        if (request.name !== "sync push items" || "heldBy" in lease) return lease;
        return await answer({ ...lease, renew: async () => answer(await lease.renew()) });
      },
    };
    ends.intercept = async ({ kind }, send) => {
      if (kind === "push") throw statusError(503, 20);
      return send();
    };
    const startedAtMs = ends.time.nowMs;
    const { error } = await runOf(
      { ...ends, deps: { ...ends.deps, leases: late } },
      { direction: "push" },
    );
    expect(error?.text).toContain("was lost");
    expect(ends.time.nowMs - startedAtMs).toBe(lostAtMs);
  },
);

test("D-4.8 a lease that was long in coming is renewed before it is in doubt", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(2));
  const { leases } = ends.deps;
  const late: typeof leases = {
    async acquire(request) {
      const lease = await leases.acquire(request);
      await ends.time.sleep(6_000);
      return lease;
    },
  };
  ends.intercept = async ({ kind }, send) => {
    if (kind === "push") await ends.time.sleep(2_200);
    return send();
  };
  const { run } = await runOf(
    { ...ends, deps: { ...ends.deps, leases: late } },
    { direction: "push" },
  );
  expect(run.status).toBe("success");
});

test("D-4.9 a run that ends while the next one looks for abandoned runs keeps its result", async () => {
  const ends = await makeTwoEnds();
  const { run } = await runOf(ends);
  const other = { ...run, runId: "other" };
  await ends.runs.save({ ...other, status: "running", finishedAt: null });
  const { leases } = ends.deps;
  const ending: typeof leases = {
    async acquire(request) {
      if (request.name === "sync run other") await ends.runs.save(other);
      return leases.acquire(request);
    },
  };
  await runOf({ ...ends, deps: { ...ends.deps, leases: ending } });
  expect((await ends.runs.find("other"))?.status).toBe("success");
});

test.each(["push", "pull"] as const)(
  "D-7.8 a %s whose lease was taken over commits nothing, though it believes to hold it",
  async (direction) => {
    const ends = await makeTwoEnds();
    put(direction === "push" ? ends.here : ends.there, ends.table, manyRows(5));
    // A process that is suspended: its own clock stands still, and nothing is renewed.
    const clock = { nowMs: ends.deps.clock.nowMs, monotonicMs: () => 0 };
    const leases: typeof ends.deps.leases = {
      async acquire(request) {
        const lease = await ends.deps.leases.acquire(request);
        return "renew" in lease ? { ...lease, renew: async () => true } : lease;
      },
    };
    const suspended = { ...ends, deps: { ...ends.deps, clock, leases } };
    ends.intercept = async ({ kind, limit }, send) => {
      const reply = await send();
      if (kind !== direction || limit === 1) return reply;
      await ends.time.sleep(11_000);
      await ends.leases.acquire({
        name: `sync ${direction} items`,
        holder: "other",
        ttlMs: 60_000,
      });
      return reply;
    };
    const { run, error } = await runOf(suspended, { direction });
    expect(run.status).toBe("failed");
    expect(error?.text).toBe(
      `The lease "sync ${direction} items" was lost, so the run stopped; run again`,
    );
    expect(ends.kept.marker(`sync_last_${direction}_items`)).toBe("");
    if (direction === "pull") expect(rowsOf(ends.here, ends.table)).toEqual([]);
  },
);
