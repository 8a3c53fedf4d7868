// Pulls, request by request: what is asked, what is committed with it, and what a remote may not send.

import { expect, test } from "bun:test";
import { AppError } from "../../../../src/domain/shared/errors.ts";
import type { JsonObject } from "../../../../src/domain/shared/json.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { RemotePeerError } from "../../../../src/ports/tables/remote-peer.ts";
import { withWrites } from "../../../support/rows/changed-writes.ts";
import {
  asked,
  BY_TIME,
  foreign,
  type Intercept,
  makeTwoEnds,
  manyRows,
  put,
  rowsOf,
  runOf,
  type SeenRequest,
  type TestRow,
} from "../two-ends.ts";

const PULL_MARKER = "sync_last_pull_items";

test("D-4.5 a pull asks again from the last timestamp seen, at offset 0, after it has looked for rows without one", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 3 });
  put(ends.there, ends.table, manyRows(6));
  const { run } = await runOf(ends);
  expect(run.status).toBe("success");
  expect(run.totalPulled).toBe(6);
  expect(asked(ends.requests)).toEqual([
    "null 0 1",
    "2026-03-01T10:00:00Z 0 3",
    "2026-03-01T10:00:02Z 0 3",
    "2026-03-01T10:00:04Z 0 3",
  ]);
  expect(ends.kept.marker(PULL_MARKER)).toBe("2026-03-01T10:00:05Z");
});

test("D-4.5 the next run begins at the marker", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 3 });
  put(ends.there, ends.table, manyRows(6));
  await runOf(ends);
  put(ends.there, ends.table, [["new", "v", "2026-03-01T10:00:05Z"]]);
  ends.requests.length = 0;
  const { run } = await runOf(ends);
  expect(asked(ends.requests).at(-1)).toBe("2026-03-01T10:00:05Z 0 3");
  expect(rowsOf(ends.here, ends.table)).toEqual(rowsOf(ends.there, ends.table));
  // The row at the marker comes again.
  expect(run.totalPulled).toBe(2);
});

test("D-4.5 the marker stays the allowance behind the remote's time, written as the rows have theirs", async () => {
  const ends = await makeTwoEnds({ lagSeconds: 90 });
  put(ends.there, ends.table, [["k", "v", "2026-03-01T11:59:59.123456Z"]]);
  await runOf(ends);
  expect(ends.kept.marker(PULL_MARKER)).toBe("2026-03-01T11:58:30Z");
});

test("D-4.5 the marker goes by the remote's time, whatever the clock here says", async () => {
  const ends = await makeTwoEnds({ lagSeconds: 90 });
  put(ends.there, ends.table, [["k", "v", "2026-03-01T12:59:59Z"]]);
  ends.intercept = async ({ kind }, send) =>
    kind === "status"
      ? { ...((await send()) as object), serverTime: "2026-03-01T13:00:00Z" }
      : send();
  await runOf(ends);
  expect(ends.kept.marker(PULL_MARKER)).toBe("2026-03-01T12:58:30Z");
});

test("D-4.5 the marker of a server whose rows have no zone has none, whatever its own time looks like", async () => {
  const ends = await makeTwoEnds(foreign());
  put(ends.there, ends.table, [["k", "v", "2026-03-01T11:59:59.123456Z"]]);
  await runOf(ends);
  expect(ends.kept.marker(PULL_MARKER)).toBe("2026-03-01T11:59:00");
  put(ends.there, ends.table, [["k", "w", "2026-03-01T11:59:59.5Z"]]);
  expect((await runOf(ends)).run.status).toBe("success");
  expect(rowsOf(ends.here, ends.table)).toEqual([["k", "w", "2026-03-01T11:59:59.500Z"]]);
});

test("D-4.5 rows beyond one page on one timestamp come by offset, and the rows after them by time", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 20 });
  const ties = manyRows(50, "tie").map(([k, v]): TestRow => [k, v, "2026-03-01T10:00:00Z"]);
  put(ends.there, ends.table, [...ties, ["z", "v", "2026-03-01T10:00:01Z"]]);
  const { run } = await runOf(ends);
  expect(rowsOf(ends.here, ends.table)).toEqual(rowsOf(ends.there, ends.table));
  expect(run.totalPulled).toBe(51);
  const offsets = asked(ends.requests).map((text) => text.split(" ")[1]);
  expect(offsets).toEqual(["0", "0", "19", "38", "0"]);
});

test("D-4.5 rows of one timestamp are read on though all rows of their first page have moved on", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 20 });
  const ties = manyRows(50, "tie").map(([k, v]): TestRow => [k, v, "2026-03-01T10:00:00Z"]);
  put(ends.there, ends.table, ties);
  ends.intercept = async ({ offset }, send) => {
    const moved = ties.slice(0, 20).map(([k]): TestRow => [k, "w", "2026-03-01T10:00:01Z"]);
    if (offset === 19) put(ends.there, ends.table, moved);
    return await send();
  };
  const { run } = await runOf(ends);
  expect(run.status).toBe("success");
  expect(rowsOf(ends.here, ends.table)).toEqual(rowsOf(ends.there, ends.table));
});

test("D-4.5 rows without a timestamp come first and in every run", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 3 });
  put(ends.there, ends.table, [["a", "v", null], ["b", "v", null], ...manyRows(4)]);
  await runOf(ends);
  expect(rowsOf(ends.here, ends.table)).toHaveLength(6);
  put(ends.there, ends.table, [["a", "w", null]]);
  const { events } = await runOf(ends);
  expect(rowsOf(ends.here, ends.table)).toEqual(rowsOf(ends.there, ends.table));
  // The row at the marker, and the two.
  expect(events[0]).toMatchObject({ type: "start", totalRecords: 3 });
  expect(events.at(-2)).toMatchObject({ type: "done", totalPulled: 3 });
});

test("D-4.5 rows without a timestamp at the end are found, also where many others have come before them", async () => {
  const ends = await makeTwoEnds({ ...foreign({ isTimelessLast: true }), maxPageRows: 5 });
  const timeless = ["x", "y", "z"].map((k) => [k, "v", null] as const);
  put(ends.there, ends.table, [...manyRows(10), ...timeless]);
  ends.intercept = (request, send) => {
    if (request.kind === "pull" && request.offset === 9) {
      ends.intercept = (_, more) => more();
      put(ends.there, ends.table, manyRows(20, "late"));
    }
    return send();
  };
  expect((await runOf(ends)).run.status).toBe("success");
  expect(rowsOf(ends.here, ends.table).slice(-3)).toEqual([...timeless]);
});

test("D-4.5 a page and the marker behind it are one commit", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 2 });
  put(ends.there, ends.table, manyRows(4));
  const commits: string[] = [];
  ends.here.onCommit = (rows) => {
    const marker = ends.kept.marker(PULL_MARKER);
    if (rows.length > 0) commits.push(`${rows.map(({ k }) => k).join()} ${marker}`);
  };
  await runOf(ends);
  expect(commits).toEqual([
    "k-0000,k-0001 2026-03-01T10:00:01Z",
    "k-0002 2026-03-01T10:00:02Z",
    "k-0003 2026-03-01T10:00:03Z",
  ]);
});

test("D-11.10.6 a page that its store commits in parts only moves the marker with the last one", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 5 });
  put(ends.there, ends.table, manyRows(5));
  ends.here.refuse = (_, { k }) => (k === "k-0001" ? "Not this" : null);
  const commits: string[] = [];
  ends.here.onCommit = (rows) => {
    if (rows.length === 0) return;
    const refused = ends.kept.rejected().map(({ key }) => key["k"]);
    commits.push(`${rows.map(({ k }) => k)} ${refused} ${ends.kept.marker(PULL_MARKER)}`);
  };
  const documents = withWrites(ends.deps.documents, (write) => async (table, writes, rule) => {
    if (writes.length < 3) return await write(table, writes, rule);
    throw new AppError("batch_too_large", "Fewer at a time may go");
  });
  const { run } = await runOf({ ...ends, deps: { ...ends.deps, documents } });
  expect(run).toMatchObject({ status: "partial", totalPulled: 4, changed: 4, errorCount: 1 });
  expect(commits).toEqual([
    "k-0000 k-0001 ",
    "k-0002 k-0001 ",
    "k-0003,k-0004 k-0001 2026-03-01T10:00:04Z",
  ]);
});

test("D-11.10.6 a row that its store cannot commit alone ends the run", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  const documents = withWrites(ends.deps.documents, () => () => {
    throw new AppError("batch_too_large", "Fewer at a time may go");
  });
  const { error } = await runOf({ ...ends, deps: { ...ends.deps, documents } });
  expect(error?.text).toBe("Fewer at a time may go; send fewer records at a time");
});

test("D-4.7 rows that arrive unchanged are not written", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(4));
  await runOf(ends);
  const written: unknown[] = [];
  ends.here.onCommit = (rows) => written.push(...rows);
  const { run } = await runOf(ends, { isFull: true });
  expect(run.totalPulled).toBe(4);
  expect(written).toEqual([]);
});

test("D-4.7 a page that does not match its checksum is asked for again", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(4));
  ends.intercept = failTimes(2, "pull", new RemotePeerError("checksum_mismatch", "Not as sent"));
  expect((await runOf(ends)).run.status).toBe("success");
  expect(rowsOf(ends.here, ends.table)).toHaveLength(4);
});

test("D-4.7 a checksum that never matches fails the run after 8 attempts, with markers where they were", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(4));
  ends.intercept = failTimes(99, "pull", new RemotePeerError("checksum_mismatch", "Not as sent"));
  const { run, error } = await runOf(ends);
  expect(run.status).toBe("failed");
  expect(error?.kind).toBe("sync_failed");
  expect(error?.text).toBe("Not as sent (8 attempts); check the proxies between both deployments");
  expect(asked(ends.requests)).toHaveLength(8);
  expect(ends.kept.marker(PULL_MARKER)).toBe("");
});

test("D-4.6 a page that takes too long is asked for with half the rows", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 8 });
  put(ends.there, ends.table, manyRows(8));
  ends.intercept = async ({ kind, limit = 0 }, send) => {
    if (kind !== "pull" || limit <= 2) return send();
    await ends.time.sleep(15_000);
    throw new RemotePeerError("timeout", "No reply");
  };

  expect((await runOf(ends)).run.status).toBe("success");
  expect(rowsOf(ends.here, ends.table)).toHaveLength(8);
  expect(asked(ends.requests).slice(1, 4)).toEqual([
    "2026-03-01T10:00:00Z 0 8",
    "2026-03-01T10:00:00Z 0 4",
    "2026-03-01T10:00:00Z 0 2",
  ]);
});

test("D-4.6 a reply that is longer than this end reads is asked for with half the rows", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 8 });
  put(ends.there, ends.table, manyRows(8));
  ends.intercept = ({ kind, limit = 0 }, send) => {
    if (kind !== "pull" || limit <= 4) return send();
    throw new RemotePeerError("invalid_reply", "Too long", { isTooLong: true });
  };
  expect((await runOf(ends)).run.status).toBe("success");
  expect(rowsOf(ends.here, ends.table)).toHaveLength(8);
});

test.each<[string, (page: Page, request: SeenRequest) => Partial<Page>, string]>([
  [
    "ignores since",
    ({ records }, { since }) =>
      since === null
        ? {}
        : { records: [{ k: "old", v: "v", at: "2020-01-01T00:00:00Z" }, ...records] },
    'The remote sent rows older than the since "2026-03-01T10:00:00Z" it was asked for; check that both ends have the same table, then run with full',
  ],
  [
    "does not sort",
    ({ records }) => ({ records: records.toReversed() }),
    "The remote sent rows that are not in the order of their timestamps; check that both ends have the same table, then run with full",
  ],
  [
    "has more without rows",
    (_, { limit }) => (limit === 1 ? {} : { records: [], hasMore: true }),
    "The remote says has_more but sent no rows; check the remote's log, version and registry",
  ],
])("a remote that %s stops the run with what to do", async (_, lie, message) => {
  const ends = await makeTwoEnds({ maxPageRows: 3 });
  put(ends.there, ends.table, manyRows(6));
  ends.intercept = lyingPages(lie);
  const { run, error, events } = await runOf(ends);
  expect(run.status).toBe("failed");
  expect(error?.text).toBe(message);
  expect(ends.kept.marker(PULL_MARKER)).toBe("");
  expect(events.at(-2)).toEqual({
    ...{ type: "error", table: "items", direction: "pull", error: message },
  });
});

test("a remote that has more for ever is left after a bounded number of rows", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 1000 });
  put(ends.there, ends.table, manyRows(5));
  let second = 0;
  ends.intercept = lyingPages(({ records }, { limit = 0 }) => {
    if (limit === 1) return {};
    const first = records.at(-1) ?? { k: "x", v: "v" };
    const more = Array.from({ length: limit - records.length }, () => ({
      ...first,
      k: `endless-${second}`,
      at: new Date(Date.parse("2026-03-01T11:00:00Z") + second++ * 100).toISOString(),
    }));
    return { records: [...(second > limit ? [] : records), ...more], hasMore: true, total: 5 };
  });
  const { error } = await runOf(ends);
  expect(error?.text).toContain("far more than the 5 it reported");
  expect(rowsOf(ends.here, ends.table).length).toBeLessThan(12_000);
});

test("a remote that sends the same page of one timestamp for ever is left", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 20 });
  const ties = manyRows(20, "tie").map(([k, v]): TestRow => [k, v, "2026-03-01T10:00:00Z"]);
  put(ends.there, ends.table, ties);
  let page: Page | undefined;
  ends.intercept = async ({ limit, offset = 0 }, send) => {
    const reply = (await send()) as Page;
    if (limit === 1 || limit === undefined) return reply;
    page ??= reply;
    return { ...page, offset, hasMore: true, nextOffset: offset + 20 };
  };
  const { error } = await runOf(ends);
  expect(error?.text).toStartWith("The remote sends the same rows again and again; ");
});

test("D-4.2 a remote that has sync disabled is named", async () => {
  const ends = await makeTwoEnds();
  ends.intercept = async (_, send) => ({ ...((await send()) as object), syncEnabled: false });
  const { error } = await runOf(ends);
  expect(error?.text).toBe(
    "The remote has sync disabled: https://there.example; set SYNC_ENABLED=true there",
  );
});

interface Page {
  readonly records: readonly JsonObject[];
  readonly hasMore: boolean;
  readonly total: number;
}

function lyingPages(lie: (page: Page, request: SeenRequest) => Partial<Page>): Intercept {
  return async (request, send) => {
    const reply = await send();
    if (request.kind !== "pull") return reply;
    const page = reply as Page;
    const changed = { ...page, ...lie(page, request) };
    return { ...changed, count: changed.records.length };
  };
}

function failTimes(times: number, kind: SeenRequest["kind"], error: Error): Intercept {
  let left = times;
  return (request, send) => {
    if (request.kind !== kind || left-- <= 0) return send();
    throw error;
  };
}

test("D-4.6 a column that may not be null and that the remote does not have keeps what it holds here", async () => {
  const columns = {
    ...BY_TIME.columns,
    own: { type: "text", nullable: false },
  } as const satisfies TableEntry["columns"];
  const ends = await makeTwoEnds({ entry: { ...BY_TIME, columns } });
  const row = { k: "k", v: "there", at: "2026-03-01T10:00:00Z", own: "theirs" };
  ends.here.writeOwn(ends.table, { ...row, v: "here", at: null, own: "mine" });
  ends.there.writeOwn(ends.table, row);
  ends.intercept = async ({ kind }, send) => {
    const reply = (await send()) as { records: readonly { own: string }[] };
    if (kind !== "pull") return reply;
    return { ...reply, records: reply.records.map(({ own: _own, ...sent }) => sent) };
  };
  const { run } = await runOf(ends);
  expect(run).toMatchObject({ status: "success", totalPulled: 1, errorCount: 0 });
  expect(ends.here.sortedRows(ends.table)).toEqual([{ ...row, own: "mine" }]);
});

test("D-4.6 a refused record that comes again as it was is tried once in a run, and its next version is taken", async () => {
  const ends = await makeTwoEnds();
  ends.here.refuse = (_, { v }) => (v === "bad" ? "Not this" : null);
  put(ends.there, ends.table, [
    ["a", "bad", "2026-03-01T10:00:00Z"],
    ["b", "v", "2026-03-01T10:00:01Z"],
  ]);
  await runOf(ends);
  const again = await runOf(ends, { isFull: true });
  expect(again.run).toMatchObject({ status: "partial", errorCount: 1 });
  expect(ends.kept.rejected()).toMatchObject([{ key: { k: "a" }, attempts: 2 }]);
  put(ends.there, ends.table, [["a", "good", "2026-03-01T10:00:02Z"]]);
  await runOf(ends);
  expect(rowsOf(ends.here, ends.table)).toEqual([
    ["a", "good", "2026-03-01T10:00:02Z"],
    ["b", "v", "2026-03-01T10:00:01Z"],
  ]);
  expect(ends.kept.rejected()).toEqual([]);
});
