// Runs in both directions: what goes back and forth must not replace what is newer.
import { expect, test } from "bun:test";
import { makeTwoEnds, manyRows, put, rowsOf, runOf } from "./two-ends.ts";

test("D-4.3, D-7.1 with both a table is pushed, then pulled, and the newest version of a row wins in the first run too", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["k", "here", "2026-03-01T10:00:00Z"]]);
  put(ends.there, ends.table, [
    ["k", "there", "2026-03-01T10:30:00Z"],
    ["other", "there", "2026-03-01T10:30:00Z"],
  ]);
  const { run, events } = await runOf(ends, { direction: "both" });
  expect(run).toMatchObject({ status: "success", direction: "both", totalPushed: 1 });
  expect(run).toMatchObject({ totalPulled: 2, kept: 1, changed: 2 });
  expect(rowsOf(ends.here, ends.table)).toEqual([
    ["k", "there", "2026-03-01T10:30:00Z"],
    ["other", "there", "2026-03-01T10:30:00Z"],
  ]);
  expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
  const kinds = events.map((event) => ("direction" in event ? event.direction : event.type));
  expect(kinds).toEqual(["push", "push", "push", "pull", "pull", "pull", "finished"]);
});

test("D-7.1 what was pulled does not go back with the next push, whose marker passes it", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(50));
  put(ends.here, ends.table, [["own", "v", "2026-03-01T09:00:00Z"]]);
  const first = await runOf(ends, { direction: "both" });
  expect(first.run).toMatchObject({ totalPushed: 1, totalPulled: 51, changed: 51 });
  put(ends.here, ends.table, [["new", "v", "2026-03-01T11:30:00Z"]]);
  ends.requests.length = 0;
  const second = await runOf(ends, { direction: "both" });
  expect(second.run).toMatchObject({ totalPushed: 1, totalPulled: 2, changed: 1 });
  const sent = ends.requests.flatMap(({ records = [] }) => records.map(({ k }) => k));
  expect(sent).toEqual(["new"]);
  expect(ends.kept.marker("sync_last_push_items")).toBe("2026-03-01T11:30:00Z");
  expect(second.events.slice(0, 2)).toMatchObject([
    { type: "start", direction: "push", totalRecords: 52 },
    { type: "batch", direction: "push", totalSent: 1, totalRecords: 1, totalBatches: 1 },
  ]);
  expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
});

test("D-4.5 a row without a timestamp is before any other version of it", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, [["theirs", "1", null], ...manyRows(1)]);
  put(ends.here, ends.table, [["ours", "1", null]]);
  await runOf(ends, { direction: "both" });
  put(ends.there, ends.table, [["theirs", "2", "2026-03-01T11:30:00Z"]]);
  await runOf(ends, { direction: "both" });
  expect(rowsOf(ends.there, ends.table)[2]).toEqual(["theirs", "2", "2026-03-01T11:30:00Z"]);
  ends.intercept = async ({ kind, limit }, send) => {
    const reply = await send();
    if (kind === "pull" && limit === 1) {
      put(ends.here, ends.table, [["ours", "2", "2026-03-01T11:59:59Z"]]);
    }
    return reply;
  };
  await runOf(ends, { direction: "both" });
  expect(rowsOf(ends.here, ends.table)[1]).toEqual(["ours", "2", "2026-03-01T11:59:59Z"]);
});

test("D-4.5 a row that was pulled does not go back over its next version", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, [["k", "1", "2026-03-01T11:00:00Z"]]);
  await runOf(ends, { direction: "both" });
  put(ends.there, ends.table, [["k", "2", "2026-03-01T11:30:00Z"]]);
  await runOf(ends, { direction: "both" });
  put(ends.there, ends.table, [["k", "3", "2026-03-01T11:59:30Z"]]);
  await runOf(ends, { direction: "both" });
  expect(rowsOf(ends.there, ends.table)).toEqual([["k", "3", "2026-03-01T11:59:30Z"]]);
  expect(rowsOf(ends.here, ends.table)).toEqual([["k", "3", "2026-03-01T11:59:30Z"]]);
});

test("D-4.5 a row that was pushed does not go again over what the remote made of it", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(3));
  await runOf(ends, { direction: "both" });
  put(ends.there, ends.table, [["k-0002", "theirs", "2026-03-01T11:30:00Z"]]);
  await runOf(ends, { direction: "both" });
  expect(rowsOf(ends.here, ends.table)[2]).toEqual(["k-0002", "theirs", "2026-03-01T11:30:00Z"]);
  expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
});

test("D-4.5 of a row that both ends have changed the later one wins at both", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [...manyRows(2), ["z", "0", "2026-03-01T11:00:00Z"]]);
  await runOf(ends, { direction: "both" });
  put(ends.here, ends.table, [
    ["k-0000", "here", "2026-03-01T11:10:00Z"],
    ["k-0001", "here", "2026-03-01T11:20:00Z"],
  ]);
  put(ends.there, ends.table, [
    ["k-0000", "there", "2026-03-01T11:20:00Z"],
    ["k-0001", "there", "2026-03-01T11:10:00Z"],
  ]);
  await runOf(ends, { direction: "both" });
  expect(rowsOf(ends.here, ends.table)).toEqual([
    ["k-0000", "there", "2026-03-01T11:20:00Z"],
    ["k-0001", "here", "2026-03-01T11:20:00Z"],
    ["z", "0", "2026-03-01T11:00:00Z"],
  ]);
  expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
});

test("D-4.5 what is written here during the run is not replaced by what was pushed before", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["k", "1", "2026-03-01T11:59:50Z"]]);
  ends.intercept = async ({ kind }, send) => {
    const reply = await send();
    if (kind === "push") put(ends.here, ends.table, [["k", "2", "2026-03-01T11:59:55Z"]]);
    return reply;
  };
  await runOf(ends, { direction: "both" });
  expect(rowsOf(ends.here, ends.table)).toEqual([["k", "2", "2026-03-01T11:59:55Z"]]);
  ends.intercept = (_, send) => send();
  await runOf(ends, { direction: "both" });
  expect(rowsOf(ends.there, ends.table)).toEqual([["k", "2", "2026-03-01T11:59:55Z"]]);
});

test("D-4.6 a pulled record that was refused here is not pushed over by the row that is here", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, [["k", "1", "2026-03-01T11:00:00Z"]]);
  await runOf(ends, { direction: "both" });
  put(ends.there, ends.table, [["k", "2", "2026-03-01T11:30:00Z"]]);
  ends.here.refuse = () => "Not now";
  expect((await runOf(ends, { direction: "both" })).run.status).toBe("partial");
  put(ends.there, ends.table, [["other", "1", "2026-03-01T11:40:00Z"]]);
  await runOf(ends, { direction: "both" });
  ends.here.refuse = () => null;
  expect((await runOf(ends, { direction: "both" })).run.status).toBe("success");
  expect(rowsOf(ends.there, ends.table)[0]).toEqual(["k", "2", "2026-03-01T11:30:00Z"]);
  expect(rowsOf(ends.here, ends.table)).toEqual(rowsOf(ends.there, ends.table));
});

test("D-4.6, D-7.7 a row that the remote refused is forgotten once it came from there, as it was or later", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(1));
  await runOf(ends, { direction: "both" });
  put(ends.here, ends.table, [
    ["a", "1", "2026-03-01T11:00:00Z"],
    ["b", "1", "2026-03-01T11:00:00Z"],
  ]);
  ends.there.refuse = () => "Not now";
  expect((await runOf(ends, { direction: "both" })).run.status).toBe("partial");
  put(ends.there, ends.table, [
    ["a", "1", "2026-03-01T11:00:00Z"],
    ["b", "2", "2026-03-01T11:30:00Z"],
  ]);
  expect((await runOf(ends, { direction: "pull" })).run.status).toBe("success");
  ends.requests.length = 0;
  expect((await runOf(ends, { direction: "both" })).run.status).toBe("success");
  expect(ends.requests.filter(({ kind }) => kind === "push")).toEqual([]);
  expect(ends.kept.rejected()).toEqual([]);
});

test("D-4.5 a timestamp from the future does not keep what is written now from the remote", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["k", "future", "2026-03-02T12:00:00Z"]]);
  await runOf(ends, { direction: "both" });
  put(ends.here, ends.table, [["k", "now", "2026-03-01T11:59:59Z"]]);
  await runOf(ends, { direction: "both" });
  expect(rowsOf(ends.there, ends.table)).toEqual([["k", "now", "2026-03-01T11:59:59Z"]]);
  expect(rowsOf(ends.here, ends.table)).toEqual(rowsOf(ends.there, ends.table));
});

test("D-4.3 what was not pushed is not pulled over", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["k", "here", "2026-03-01T11:00:00Z"]]);
  put(ends.there, ends.table, [["k", "there", "2026-03-01T10:00:00Z"]]);
  ends.intercept = async ({ kind }, send) => {
    if (kind !== "push") return send();
    throw new Error("Bug in the client");
  };
  const { run, error } = await runOf(ends, { direction: "both" });
  expect(run.status).toBe("failed");
  expect(error?.text).toBe("Internal error; the log has the details");
  expect(rowsOf(ends.here, ends.table)[0]?.[1]).toBe("here");
});

test("D-4.6 what was refused in a pull is not pushed over by an older change that is made here", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, [["k", "1", "2026-03-01T11:00:00Z"]]);
  await runOf(ends, { direction: "both" });
  put(ends.there, ends.table, [
    ["k", "there", "2026-03-01T11:30:00Z"],
    ["other", "1", "2026-03-01T11:40:00Z"],
  ]);
  ends.here.refuse = (_, { k }) => (k === "k" ? "Not now" : null);
  expect((await runOf(ends, { direction: "pull" })).run.status).toBe("partial");
  put(ends.here, ends.table, [["k", "here", "2026-03-01T11:20:00Z"]]);
  ends.here.refuse = () => null;
  expect((await runOf(ends, { direction: "both" })).run.status).toBe("success");
  expect(rowsOf(ends.there, ends.table)[0]).toEqual(["k", "there", "2026-03-01T11:30:00Z"]);
  expect(rowsOf(ends.here, ends.table)).toEqual(rowsOf(ends.there, ends.table));
});

test("D-4.5 of two versions with the same timestamp the pushed one wins at both", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["k", "1", "2026-03-01T11:00:00Z"]]);
  await runOf(ends, { direction: "both" });
  put(ends.here, ends.table, [["k", "here", "2026-03-01T11:10:00Z"]]);
  put(ends.there, ends.table, [["k", "there", "2026-03-01T11:10:00Z"]]);
  await runOf(ends, { direction: "both" });
  expect(rowsOf(ends.here, ends.table)).toEqual([["k", "here", "2026-03-01T11:10:00Z"]]);
  expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
});

test("D-4.5 a timestamp from the future does not keep what the remote writes during the run from here", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["k", "future", "2026-03-01T12:05:01Z"]]);
  ends.intercept = async ({ kind }, send) => {
    const reply = await send();
    if (kind === "push") put(ends.there, ends.table, [["k", "now", "2026-03-01T11:59:59Z"]]);
    return reply;
  };
  await runOf(ends, { direction: "both" });
  expect(rowsOf(ends.here, ends.table)).toEqual([["k", "now", "2026-03-01T11:59:59Z"]]);
});

test("D-4.5 a pulled record with the timestamp of the row here is taken, so that both ends agree", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["k", "here", "2026-03-01T11:59:50Z"]]);
  ends.intercept = async ({ kind }, send) => {
    const reply = await send();
    if (kind === "push") put(ends.there, ends.table, [["k", "there", "2026-03-01T11:59:50Z"]]);
    return reply;
  };
  const { run } = await runOf(ends, { direction: "both" });
  expect(run).toMatchObject({ totalPushed: 1, totalPulled: 1 });
  expect(rowsOf(ends.here, ends.table)).toEqual([["k", "there", "2026-03-01T11:59:50Z"]]);
});
