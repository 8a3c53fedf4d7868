// Pushes, batch by batch: what is sent, what is acknowledged, and what becomes of records that are refused.
import { expect, test } from "bun:test";
import { LearnedSizes } from "../../../../src/domain/sync/run/pacing.ts";
import { RemotePeerError } from "../../../../src/ports/tables/remote-peer.ts";
import {
  makeTwoEnds,
  manyRows,
  put,
  rowsOf,
  runOf,
  type SeenRequest,
  statusError,
  type TestRow,
  type TwoEnds,
} from "../two-ends.ts";

const PUSH_MARKER = "sync_last_push_items";

/** Rows of every push. */
function pushed(requests: readonly SeenRequest[]): number[] {
  return requests.filter(({ kind }) => kind === "push").map(({ records }) => records?.length ?? 0);
}

async function endsWithRows(count: number, maxPageRows = 100): Promise<TwoEnds> {
  const ends = await makeTwoEnds({ maxPageRows });
  put(ends.here, ends.table, manyRows(count));
  return ends;
}

test("D-4.6 a push goes by keyset batches and the marker moves after each acknowledged one", async () => {
  const ends = await endsWithRows(5, 2);
  const markers: string[] = [];
  ends.intercept = ({ kind }, send) => {
    if (kind === "push") markers.push(ends.kept.marker(PUSH_MARKER));
    return send();
  };
  const { run, events } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "success", totalPushed: 5, totalPulled: 0 });
  expect(pushed(ends.requests)).toEqual([2, 2, 1]);
  expect(markers).toEqual(["", "2026-03-01T10:00:01Z", "2026-03-01T10:00:03Z"]);
  expect(ends.kept.marker(PUSH_MARKER)).toBe("2026-03-01T10:00:04Z");
  expect(rowsOf(ends.there, ends.table)).toEqual(manyRows(5));
  expect(events.map(({ type }) => type)).toEqual(["start", "batch", "done", "finished"]);
});

test("D-4.6 the marker stays the allowance behind this deployment's own time", async () => {
  const ends = await makeTwoEnds({ lagSeconds: 90 });
  put(ends.here, ends.table, [["k", "v", "2026-03-01T11:59:59.5Z"]]);
  await runOf(ends, { direction: "push" });
  expect(ends.kept.marker(PUSH_MARKER)).toBe("2026-03-01T11:58:30Z");
});

test("D-4.6 a push that has nothing to send reads few rows, however many the table has", async () => {
  const ends = await endsWithRows(500);
  await runOf(ends, { direction: "push" });
  const sizes: number[] = [];
  const readPage = ends.here.page.bind(ends.here);
  Object.assign(ends.here, {
    async page(...query: Parameters<typeof readPage>) {
      const page = await readPage(...query);
      sizes.push(page.rows.length);
      return page;
    },
  });
  await runOf(ends, { direction: "push" });
  // The first row twice, for rows without a timestamp, and the row at the marker.
  expect(sizes).toEqual([1, 1, 1]);
});

test("D-4.6, D-7.1 rows without a timestamp are looked at in every push, and sent when they have changed", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["a", "1", null], ...manyRows(3)]);
  await runOf(ends, { direction: "push" });
  put(ends.here, ends.table, [["a", "2", null]]);
  const { run } = await runOf(ends, { direction: "push" });
  expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
  expect(run.totalPushed).toBe(1);
  expect((await runOf(ends, { direction: "push" })).run.totalPushed).toBe(0);
});

test("D-4.6 a 413 halves the batch, for good", async () => {
  const ends = await endsWithRows(40);
  ends.intercept = ({ kind, records = [] }, send) => {
    if (kind === "push" && records.length > 12) throw statusError(413);
    return send();
  };
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "success", totalPushed: 40 });
  expect(pushed(ends.requests)).toEqual([40, 20, 10, 10, 20, 10, 10]);
});

test("D-11.2.3 the next run begins with as many rows as the remote was seen to take", async () => {
  const ends = await endsWithRows(40);
  const deps = { ...ends.deps, learned: new LearnedSizes() };
  ends.intercept = ({ kind, records = [] }, send) => {
    if (kind === "push" && records.length > 12) throw statusError(413);
    return send();
  };
  for (const sizes of [
    [40, 20, 10, 10, 20, 10, 10],
    [10, 20, 10, 10, 10],
  ]) {
    ends.requests.length = 0;
    await runOf({ ...ends, deps }, { direction: "push", isFull: true });
    expect(pushed(ends.requests)).toEqual(sizes);
  }
});

test("D-4.6 a timeout halves the batch", async () => {
  const ends = await endsWithRows(8);
  ends.intercept = async ({ kind, records = [] }, send) => {
    if (kind !== "push" || records.length <= 4) return send();
    await ends.time.sleep(15_000);
    throw new RemotePeerError("timeout", "No reply");
  };
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "success", totalPushed: 8 });
  expect(pushed(ends.requests)).toEqual([8, 4, 4]);
});

test("D-4.6, D-11.2.3 a record too large for the remote is refused alone, and only its key is kept", async () => {
  const ends = await endsWithRows(4);
  ends.intercept = ({ kind, records = [] }, send) => {
    if (kind === "push" && records.some(({ k }) => k === "k-0002")) throw statusError(413);
    return send();
  };
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "partial", totalPushed: 3, errorCount: 1 });
  expect(ends.kept.rejected()).toMatchObject([
    {
      key: { k: "k-0002" },
      message: "POST there was answered 413",
      direction: "push",
      record: null,
    },
  ]);
});

test("D-4.6 refused records are found one by one and kept, and the marker moves on", async () => {
  const ends = await endsWithRows(64);
  const bad = ["k-0003", "k-0040", "k-0041"];
  ends.there.refuse = (_, { k }) => (bad.includes(String(k)) ? `Not this ${k}` : null);
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "partial", totalPushed: 61, errorCount: 3 });
  expect(
    ends.kept.rejected().map(({ key, message, attempts }) => [key, message, attempts]),
  ).toEqual([
    [{ k: "k-0003" }, "Not this k-0003", 1],
    [{ k: "k-0040" }, "Not this k-0040", 1],
    [{ k: "k-0041" }, "Not this k-0041", 1],
  ]);
  expect(rowsOf(ends.there, ends.table)).toHaveLength(61);
  expect(ends.kept.marker(PUSH_MARKER)).toBe("2026-03-01T10:01:03Z");
  // The reply to the one batch names each of them.
  expect(pushed(ends.requests)).toEqual([64]);
});

test("D-4.6 of more refused records than a reply names, only the others are sent again, by halves", async () => {
  const ends = await endsWithRows(100);
  ends.there.refuse = (_, { k }) => (/5$|99/.test(String(k)) ? `Not this ${k}` : null);
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "partial", totalPushed: 89, errorCount: 11, changed: 89 });
  expect(pushed(ends.requests)).toEqual([100, 45, 45]);
  expect(ends.kept.rejected().map(({ key, message }) => [key["k"], message])).toEqual([
    ["k-0005", "Not this k-0005"],
    ["k-0015", "Not this k-0015"],
    ["k-0025", "Not this k-0025"],
    ["k-0035", "Not this k-0035"],
    ["k-0045", "Not this k-0045"],
    ["k-0055", "Not this k-0055"],
    ["k-0065", "Not this k-0065"],
    ["k-0075", "Not this k-0075"],
    ["k-0085", "Not this k-0085"],
    ["k-0095", "Not this k-0095"],
    ["k-0099", "Not this k-0099"],
  ]);
});

test.each([
  ["names none of the batch", (errors: string[]) => errors.map((entry) => entry.slice(1))],
  ["names one of two twice", ([first = ""]: string[]) => [first, first]],
] as const)(
  "D-4.6 where a reply %s, the others are sent again until each refused one is alone",
  async (_, change) => {
    const ends = await endsWithRows(8);
    ends.there.refuse = (_table, { k }) => (/1|6/.test(String(k)) ? "No" : null);
    ends.intercept = async ({ kind }, send) => {
      const reply = (await send()) as { errors?: string[] };
      return kind === "push" && reply.errors ? { ...reply, errors: change(reply.errors) } : reply;
    };
    const { run } = await runOf(ends, { direction: "push" });
    expect(run).toMatchObject({ status: "partial", totalPushed: 6, errorCount: 2, changed: 6 });
    expect(ends.kept.rejected().map(({ key }) => key)).toEqual([{ k: "k-0001" }, { k: "k-0006" }]);
  },
);

test("D-4.6, D-7.7 an entry that may name either of two records names none", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [
    ["a", "good", "2026-03-01T10:00:00Z"],
    ["a: b", "bad", "2026-03-01T10:00:01Z"],
  ]);
  ends.there.refuse = (_, { v }) => (v === "bad" ? "No" : null);
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "partial", totalPushed: 1, errorCount: 1 });
  expect(ends.kept.rejected()).toMatchObject([{ key: { k: "a: b" }, message: "No" }]);
});

test("D-4.6, D-4.11 refused records are tried first in the next run, as they are by then, and dropped once accepted", async () => {
  const ends = await endsWithRows(8);
  ends.there.refuse = (_, { k }) => (k === "k-0001" || k === "k-0002" ? "No" : null);
  await runOf(ends, { direction: "push" });
  put(ends.here, ends.table, [["k-0001", "better", "2026-03-01T10:00:01Z"]]);
  ends.there.refuse = (_, { k }) => (k === "k-0002" ? "Still no" : null);
  ends.requests.length = 0;
  const { run } = await runOf(ends, { direction: "push" });
  expect(ends.requests.find(({ kind }) => kind === "push")?.records?.map(({ k }) => k)).toEqual([
    "k-0001",
    "k-0002",
  ]);
  expect(run).toMatchObject({ status: "partial", errorCount: 1 });
  expect(ends.kept.rejected()).toMatchObject([
    { key: { k: "k-0002" }, message: "Still no", attempts: 2 },
  ]);
  expect(rowsOf(ends.there, ends.table)[1]).toEqual(["k-0001", "better", "2026-03-01T10:00:01Z"]);
  ends.there.refuse = () => null;
  const counted = await runOf(ends, { direction: "push", isDryRun: true });
  const last = await runOf(ends, { direction: "push" });
  expect(last.run).toMatchObject({ status: "success", totalPushed: 1 });
  expect(counted.run).toMatchObject({ status: "success", totalPushed: 1 });
  expect(ends.kept.rejected()).toEqual([]);
  expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
});

test("D-4.6 a refused row that is gone here is forgotten", async () => {
  const ends = await endsWithRows(3);
  ends.there.refuse = (_, { k }) => (k === "k-0001" ? "No" : null);
  await runOf(ends, { direction: "push" });
  ends.here.remove(ends.table, { k: "k-0001" });
  expect((await runOf(ends, { direction: "push" })).run.status).toBe("success");
  expect(ends.kept.rejected()).toEqual([]);
});

test.each([429, 500, 503])("D-4.6 a %d is waited out", async (status) => {
  const ends = await endsWithRows(3);
  let left = 7;
  ends.intercept = ({ kind }, send) => {
    if (kind === "push" && left-- > 0) throw statusError(status, 1);
    return send();
  };
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "success", totalPushed: 3 });
  expect(pushed(ends.requests)).toHaveLength(8);
});

test("D-4.6 the eighth failure is the last", async () => {
  const ends = await endsWithRows(3);
  ends.intercept = ({ kind }, send) => {
    if (kind === "push") throw statusError(500, 1);
    return send();
  };
  const { run, error } = await runOf(ends, { direction: "push" });
  expect(run.status).toBe("failed");
  expect(error?.text).toBe("POST there was answered 500 (8 attempts); try again in 1 s");
  expect(pushed(ends.requests)).toHaveLength(8);
  expect(ends.kept.marker(PUSH_MARKER)).toBe("");
});

test.each([
  [1, 3],
  [64, 1],
])("D-4.6 45 s without progress are the end of a push of %d rows", async (rows, attempts) => {
  const ends = await endsWithRows(rows);
  ends.intercept = async ({ kind }, send) => {
    if (kind !== "push") return send();
    await ends.time.sleep(15_000);
    throw new RemotePeerError("timeout", "No reply within 15000 ms");
  };
  const startedAtMs = ends.time.nowMs;
  const { error } = await runOf(ends, { direction: "push" });
  const tried = attempts === 1 ? "" : ` (${attempts} attempts)`;
  expect(error?.text).toBe(
    `No reply within 15000 ms${tried}; check the address (SYNC_REMOTE_URL), and that the service runs there`,
  );
  expect(ends.time.nowMs - startedAtMs).toBeLessThan(47_000);
});

test("D-4.6 a Retry-After beyond the 45 s ends the run at once, and says when to come again", async () => {
  const ends = await endsWithRows(1);
  ends.intercept = ({ kind }, send) => {
    if (kind === "push") throw statusError(503, 60);
    return send();
  };
  const { error } = await runOf(ends, { direction: "push" });
  expect(error?.text).toBe("POST there was answered 503; try again in 60 s");
  expect(pushed(ends.requests)).toHaveLength(1);
});

test.each([
  [401, "give the SYNC_API_KEY of the remote (SYNC_REMOTE_KEY)"],
  [403, "set SYNC_ENABLED=true there"],
  [404, "check the address (SYNC_REMOTE_URL)"],
  [400, "check both registries"],
])("a %d is final at once and says what to do", async (status, advice) => {
  const ends = await endsWithRows(1);
  ends.intercept = ({ kind }, send) => {
    if (kind === "push") throw statusError(status);
    return send();
  };
  const { error } = await runOf(ends, { direction: "push" });
  expect(error?.text).toBe(`POST there was answered ${status}; ${advice}`);
  expect(pushed(ends.requests)).toHaveLength(1);
});

test("D-4.6 a failure with a long reason still says what to do", async () => {
  const ends = await endsWithRows(1);
  ends.intercept = ({ kind }, send) => {
    if (kind !== "push") return send();
    throw new RemotePeerError("status", "x".repeat(500), { reason: "key_rejected" });
  };
  const { error } = await runOf(ends, { direction: "push" });
  expect(error?.text).toBe(
    `${"x".repeat(145)}; give the SYNC_API_KEY of the remote (SYNC_REMOTE_KEY)`,
  );
});

test.each([
  [
    { upserted: 2 },
    "The remote reports 2 written and 0 failed of 3 records; check the remote's log, version and registry",
  ],
  [
    { upserted: 3, integrity: "no_checksum" },
    `The remote did not verify the checksum of a batch: integrity is "no_checksum"; check the remote's log, version and registry`,
  ],
  [
    { upserted: 0, error: "Disk is full" },
    "The remote reports 0 written and 0 failed of 3 records: Disk is full; check the remote's log, version and registry",
  ],
])("D-4.6 a reply with %j is no acknowledgement", async (fields, message) => {
  const ends = await endsWithRows(3);
  ends.intercept = async ({ kind }, send) =>
    kind === "push" ? { ...((await send()) as object), ...fields } : send();
  const { run, error } = await runOf(ends, { direction: "push" });
  expect(run.status).toBe("failed");
  expect(error?.text).toBe(message);
  expect(ends.kept.marker(PUSH_MARKER)).toBe("");
});

test("S-4.2.9 rows that the remote ignores as known count as pushed", async () => {
  const ends = await makeTwoEnds({
    entry: {
      ...{ timestamp_column: "at", upsert_key: ["k"], update_columns: [] },
      columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
    },
  });
  put(ends.here, ends.table, manyRows(2));
  put(ends.there, ends.table, [["k-0000", "own", "2026-03-01T09:00:00Z"]]);
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "success", totalPushed: 2 });
  expect(rowsOf(ends.there, ends.table)[0]?.[1]).toBe("own");
});

test("D-4.6 a refused row is sent once in a run, also where the run comes to its place again", async () => {
  const ends = await endsWithRows(3);
  ends.there.refuse = (_, { k }) => (k === "k-0001" ? "No" : null);
  await runOf(ends, { direction: "push" });
  const { run } = await runOf(ends, { direction: "push", isFull: true });
  expect(run).toMatchObject({ status: "partial", totalPushed: 2, errorCount: 1 });
  expect(ends.kept.rejected()).toMatchObject([{ key: { k: "k-0001" }, attempts: 2 }]);
});

test("D-4.6 rows that are dated ahead of the clock are pushed to the last", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 10 });
  const ahead = manyRows(35).map(([k, v]): TestRow => [k, v, "2099-01-01T00:00:00Z"]);
  put(ends.here, ends.table, ahead);
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "success", totalPushed: 35 });
  expect(rowsOf(ends.there, ends.table)).toHaveLength(35);
});

test("D-4.6 the marker goes by this deployment's own time, whatever the remote's clock says", async () => {
  const ends = await makeTwoEnds({ lagSeconds: 90 });
  put(ends.here, ends.table, [["k", "v", "2026-03-01T11:59:59.5Z"]]);
  ends.intercept = async ({ kind }, send) =>
    kind === "status"
      ? { ...((await send()) as object), serverTime: "2026-03-01T13:00:00Z" }
      : send();
  await runOf(ends, { direction: "push" });
  expect(ends.kept.marker(PUSH_MARKER)).toBe("2026-03-01T11:58:30Z");
});
