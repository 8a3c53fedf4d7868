// Whole runs: how they end, what is kept of them, and when their markers are no longer to be trusted.
import { expect, test } from "bun:test";
import { makeTwoEnds, manyRows, put, rowsOf, runOf, start, statusError } from "../two-ends.ts";

const MARKERS = [
  "sync_last_push_items",
  "sync_last_pull_items",
  "sync_clock_push_items",
  "sync_clock_pull_items",
  "sync_own_clock_push_items",
];

test("D-4.3 a run's result has every field, and is kept", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  const { run } = await runOf(ends, { trigger: "cli" });
  expect(run).toEqual({
    runId: "run-1",
    kind: "sync",
    trigger: "cli",
    status: "success",
    direction: "pull",
    tables: {
      items: {
        ...{ pushed: 0, pulled: 3, errorCount: 0, durationMs: 0 },
        ...{ bytesCompressed: 20, bytesUncompressed: 200 },
        ...{ kept: 0, erased: 0, changed: 3, deletedHere: 0, deletedThere: 0 },
        ...{ countHere: 3, countThere: 3, warnings: [] },
      },
    },
    totalPushed: 0,
    totalPulled: 3,
    errorCount: 0,
    ...{ kept: 0, erased: 0, changed: 3, deletedHere: 0, deletedThere: 0 },
    startedAt: "2026-03-01T12:00:00Z",
    finishedAt: "2026-03-01T12:00:00Z",
    durationMs: 0,
    fullSync: false,
  });
  expect(await ends.runs.find("run-1")).toEqual(run);
  expect(ends.logger.lines.at(-1)).toMatchObject({
    message: "Sync run finished",
    fields: { run_id: "run-1", status: "success", total_pulled: 3 },
  });
});

test("D-4.6 a record that no table row can be made of is refused alone", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(2));
  ends.intercept = async ({ kind }, send) => {
    const reply = (await send()) as { records: readonly object[] };
    if (kind !== "pull") return reply;
    return {
      ...reply,
      records: reply.records.map((row, i) => (i === 1 ? { ...row, v: {} } : row)),
    };
  };
  const { run } = await runOf(ends);
  expect(run).toMatchObject({ status: "partial", totalPulled: 1, errorCount: 1 });
  expect(ends.kept.rejected()).toMatchObject([
    { key: { k: "k-0001" }, message: "v must not be an object or an array" },
  ]);
});

test("D-4.6 a column that the remote does not have keeps what it holds here", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["k-0000", "mine", "2026-03-01T09:00:00Z"]]);
  put(ends.there, ends.table, manyRows(2));
  ends.intercept = async ({ kind }, send) => {
    const reply = (await send()) as { records: readonly { k: string; at: string }[] };
    if (kind !== "pull") return reply;
    return { ...reply, records: reply.records.map(({ k, at }) => ({ k, at })) };
  };
  await runOf(ends);
  expect(rowsOf(ends.here, ends.table)).toEqual([
    ["k-0000", "mine", "2026-03-01T10:00:00Z"],
    ["k-0001", "null", "2026-03-01T10:00:01Z"],
  ]);
});

test("D-2.2 a column that is not serialized is never changed, whatever the remote sends", async () => {
  const ends = await makeTwoEnds({
    entry: {
      ...{ timestamp_column: "at", upsert_key: ["k"] },
      columns: {
        ...{ k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
        secret: { type: "text", serialize: false },
      },
    },
  });
  const mine = { k: "k-0000", v: "old", at: "2026-03-01T09:00:00Z", secret: "mine" };
  ends.here.writeOwn(ends.table, mine);
  put(ends.there, ends.table, manyRows(1));
  ends.intercept = async ({ kind }, send) => {
    const reply = (await send()) as { records: readonly object[] };
    if (kind !== "pull") return reply;
    return { ...reply, records: reply.records.map((row) => ({ ...row, secret: "theirs" })) };
  };
  await runOf(ends);
  expect(ends.here.sortedRows(ends.table)).toEqual([
    { k: "k-0000", v: "v", at: "2026-03-01T10:00:00Z", secret: "mine" },
  ]);
});

test("S-4.4.2 full clears the markers of both directions first, and moves every row", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  await runOf(ends, { direction: "both" });
  await runOf(ends, { direction: "both" });
  expect(MARKERS.map((name) => ends.kept.marker(name) !== "")).not.toContain(false);
  const seen: string[][] = [];
  ends.intercept = (_, send) => {
    seen.push(MARKERS.map((name) => ends.kept.marker(name)));
    return send();
  };
  const { run } = await runOf(ends, { isFull: true });
  expect(seen[0]).toEqual(["", "", "", "", ""]);
  expect(run).toMatchObject({ fullSync: true, totalPulled: 3 });
  expect(ends.kept.marker("sync_last_push_items")).toBe("");
  expect(ends.kept.marker("sync_last_pull_items")).toBe("2026-03-01T10:00:02Z");
});

test("D-4.11 a dry run counts from the markers on, and with full as if they were cleared", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, [["a", "v", null], ...manyRows(3)]);
  await runOf(ends, { direction: "both" });
  await runOf(ends, { direction: "both" });
  put(ends.there, ends.table, [["new", "v", "2026-03-01T10:30:00Z"]]);
  put(ends.here, ends.table, [["own", "v", "2026-03-01T10:40:00Z"]]);
  const markers = ends.kept.memory();
  // Only the new one need go, as the others came; from there come the one without a timestamp, the one at the marker and
  // the new one.
  const { run } = await runOf(ends, { direction: "both", isDryRun: true });
  expect(run).toMatchObject({ totalPushed: 1, totalPulled: 3 });
  const full = await runOf(ends, { direction: "both", isDryRun: true, isFull: true });
  expect(full.run).toMatchObject({ totalPushed: 5, totalPulled: 5, fullSync: true });
  expect(ends.kept.memory()).toEqual(markers);
  expect((await runOf(ends, { direction: "both" })).run).toMatchObject({ totalPushed: 1 });
});

test("D-4.9 a slash at the end of the address is no other remote", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(2));
  await runOf(ends);
  const same = { ...ends, deps: { ...ends.deps, remoteUrl: "https://there.example/" } };
  expect((await runOf(same)).run.status).toBe("success");
});

/** Has the remote tell another time. */
function tellTime(ends: Parameters<typeof runOf>[0], serverTime: string): void {
  ends.intercept = async ({ kind }, send) =>
    kind === "status" ? { ...((await send()) as object), serverTime } : send();
}

test.each([
  [
    "pull",
    -3600,
    /the remote's clock said 2026-03-01T12:00:00Z, and now that says 2026-03-01T11:00:00Z; run/,
  ],
  [
    "push",
    -3600,
    /the remote's clock said 2026-03-01T12:00:00Z, and now that says 2026-03-01T11:00:00Z; run/,
  ],
] as const)("a remote whose time went back stops the %s", async (direction, seconds, message) => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(2));
  put(ends.here, ends.table, manyRows(2));
  await runOf(ends, { direction });
  tellTime(ends, new Date(ends.time.nowMs + seconds * 1000).toISOString());
  const { run, error } = await runOf(ends, { direction });
  expect(run.status).toBe("failed");
  expect(error?.text).toMatch(message);
  expect(error?.text).toContain("run with full to start again");
});

test("this deployment's own time gone back stops a push", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(2));
  await runOf(ends, { direction: "push" });
  tellTime(ends, "2026-03-01T12:00:00Z");
  ends.time.nowMs -= 3_600_000;
  const { error } = await runOf(ends, { direction: "push" });
  expect(error?.text).toContain("this store's clock said 2026-03-01T12:00:00Z");
});

test("a clock that went back by less than the allowance does no harm", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(2));
  await runOf(ends);
  for (const [i, told, kept] of [
    [2, "2026-03-01T11:59:10Z", "2026-03-01T12:00:00Z"],
    [3, "2026-03-01T12:00:10Z", "2026-03-01T12:00:10Z"],
  ] as const) {
    put(ends.there, ends.table, manyRows(i + 1));
    tellTime(ends, told);
    expect((await runOf(ends)).run.status).toBe("success");
    expect(ends.kept.of("pull").remoteClock).toBe(kept);
  }
});

test("S-6.1 any other failure is cut to 200 characters", async () => {
  const ends = await makeTwoEnds();
  ends.intercept = () => {
    throw new Error("x".repeat(1000));
  };
  const { error } = await runOf(ends);
  expect(error?.text).toBe("Internal error; the log has the details");
  const long = statusError(400);
  long.message = "y".repeat(1000);
  ends.intercept = () => {
    throw long;
  };
  const { events } = await runOf(ends);
  expect(events[0]).toMatchObject({
    type: "error",
    error: `${"y".repeat(177)}; check both registries`,
  });
});

test("D-4.9 a run whose process is gone is marked as failed by the next one", async () => {
  const ends = await makeTwoEnds();
  const { run } = await runOf(ends);
  await ends.runs.save({ ...run, runId: "gone", status: "running", finishedAt: null });
  await ends.runs.save({ ...run, runId: "alive", status: "running", finishedAt: null });
  await ends.leases.acquire({ name: "sync run alive", holder: "alive", ttlMs: 10_000 });
  await runOf(ends);
  expect(await ends.runs.find("gone")).toMatchObject({
    status: "failed",
    durationMs: Date.parse("2026-03-01T12:00:00Z") - Date.parse(run.startedAt),
    finishedAt: "2026-03-01T12:00:00Z",
    error: "The process that ran it ended; the next run continues where it stopped",
  });
  expect((await ends.runs.find("alive"))?.status).toBe("running");
});

test("D-4.9, D-7.8 what is listed of a run or comparison whose process is gone ends when that last gave a sign", async () => {
  const ends = await makeTwoEnds();
  const { run } = await runOf(ends);
  const { runId: _, trigger, startedAt } = run;
  const base = { trigger, startedAt, status: "running", finishedAt: null, durationMs: 0 } as const;
  const counts = { matched: 0, different: 0, missingHere: 0, missingThere: 0 };
  const compared = { kind: "compare", table: "items", repair: null, ...counts } as const;
  await ends.runs.save({ ...base, ...compared, runId: "compared" });
  const request = { name: "sync run compared", holder: "compared", ttlMs: 10_000 };
  const lease = await ends.leases.acquire(request);
  ends.time.advance(2_000);
  expect("renew" in lease && (await lease.renew())).toBe(true);
  ends.time.advance(60_000);
  await runOf(ends);
  expect(await ends.runs.find("compared")).toMatchObject({
    ...{ status: "failed", durationMs: 2_000, finishedAt: "2026-03-01T12:00:02Z" },
    error: "The process that ran it ended; start it again",
  });
});

test("D-4.9, S-6.1 a run that names a table is kept with it before the table has done anything", async () => {
  const ends = await makeTwoEnds();
  const asked = Promise.withResolvers<void>();
  const answers = Promise.withResolvers<void>();
  ends.intercept = async (_, send) => {
    asked.resolve();
    await answers.promise;
    return await send();
  };
  const started = start(ends);
  await asked.promise;
  expect(await ends.runs.find(started.runId)).toMatchObject({
    ...{ status: "running", tables: { items: { pulled: 0, warnings: [] } } },
  });
  answers.resolve();
  await started.outcome;
});

test("a run that is stopped ends as failed before its next write, and the next one goes on behind it", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 3 });
  put(ends.there, ends.table, manyRows(7));
  const started = start(ends);
  let pages = 0;
  ends.intercept = ({ kind, limit }, send) => {
    if (kind === "pull" && limit === 3 && ++pages === 3) started.stop();
    return send();
  };
  const { run } = await ends.time.run(started.outcome);
  expect(run).toMatchObject({
    status: "failed",
    error: "The run was stopped; run it again to continue",
  });
  expect(rowsOf(ends.here, ends.table).length).toBeLessThan(7);
  ends.intercept = (_, send) => send();
  expect((await runOf(ends)).run.status).toBe("success");
  expect(rowsOf(ends.here, ends.table)).toEqual(manyRows(7));
});
