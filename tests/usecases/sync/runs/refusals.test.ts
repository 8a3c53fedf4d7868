// Records that one end refused: each is tried again once in the next run, and none replaces a later one.

import { expect, test } from "bun:test";
import { AppError } from "../../../../src/domain/shared/errors.ts";
import { keepRejections } from "../../../../src/repositories/rejected-records.ts";
import { noLease } from "../../../../src/usecases/sync/shared/hold-lease.ts";
import type { SyncDeps } from "../../../../src/usecases/sync/shared/sync-deps.ts";
import { TableRejections } from "../../../../src/usecases/sync/transfer/table-rejections.ts";
import { withWrites } from "../../../support/rows/changed-writes.ts";
import { makeRegistry } from "../../../support/rows/make-table.ts";
import {
  BY_TIME,
  makeTwoEnds,
  manyRows,
  put,
  register,
  rowsOf,
  runOf,
  type TwoEnds,
} from "../two-ends.ts";

/** The same ends with some of the stores replaced. */
function withDeps(ends: TwoEnds, changes: Partial<SyncDeps>): TwoEnds {
  return { ...ends, deps: { ...ends.deps, ...changes } };
}

/** A store of which only these methods may be called. */
function only<Store extends object>(store: Store, ...names: readonly (keyof Store)[]): Store {
  return new Proxy(store, {
    get(target, name) {
      if (!names.includes(name as keyof Store)) throw new Error(`Called ${String(name)}`);
      const member = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

test("D-4.6 all that was refused is tried again, however much it is", async () => {
  const ends = await makeTwoEnds();
  const refused = manyRows(1_001).map(([k, v, at]) => ({
    ...({ table: "items", direction: "pull", key: { k }, record: { k, v, at } } as const),
    ...{ message: "Not now", fingerprint: "f", lastAtMs: 0 },
  }));
  await ends.parts.here.documents.transact({ name: "test.reject" }, (tx) =>
    keepRejections(tx, undefined, refused),
  );
  const { run } = await runOf(ends);
  expect(run).toMatchObject({ status: "success", totalPulled: 1_001 });
  expect(ends.kept.rejected()).toEqual([]);
  expect(rowsOf(ends.here, ends.table)).toEqual(manyRows(1_001));
});

test.each([
  [10_000, "partial", undefined],
  [10_001, "failed", 'This deployment refuses too many records of "items"; the last one: Not this'],
] as const)("D-4.6 with %d refused records a run is %s", async (rows, status, message) => {
  const ends = await makeTwoEnds({ maxPageRows: 20_000 });
  put(ends.there, ends.table, manyRows(rows));
  ends.here.refuse = () => "Not this";
  const { run, error } = await runOf(ends);
  expect(run.status).toBe(status);
  expect(error?.text).toBe(message);
  expect(ends.kept.rejected()).toHaveLength(rows);
});

test("D-4.6 a push of which the remote refuses too much ends, and says so of the remote", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 20_000 });
  put(ends.here, ends.table, manyRows(10_001));
  ends.there.refuse = () => "Not that";
  const { run, error } = await runOf(ends, { direction: "push" });
  expect(run.status).toBe("failed");
  expect(error?.text).toStartWith('The remote refuses too many records of "items"; the last one: ');
});

test("D-8.2 a run that ends over refused records of people tells nothing of what is in them", async () => {
  const { deps } = await makeTwoEnds();
  const table = makeRegistry({}).get("profiles")!;
  const lease = noLease(new AbortController().signal);
  const rejections = await TableRejections.open({
    ...{ deps, table, direction: "pull", lease, memory: null },
    ...{ conflict: "newer", columns: { moved: [], leftOut: [] }, added: [], silent: [] },
  });
  const rejected = manyRows(10_001).map(([username]) => ({
    record: { username, created_at: "a secret" },
    message: 'column "created_at" (datetime) cannot hold the text "a secret"',
  }));
  expect(() => rejections.settle(rejected, [])).toThrow(
    /^This deployment refuses too many records of "profiles"$/,
  );
});

test("D-4.6 a run goes on where as many records are accepted as refused, and tries all of those again", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 10_000 });
  const bad = manyRows(10_001, "bad");
  put(ends.there, ends.table, [...bad, ...manyRows(10_001, "good")]);
  ends.here.refuse = (_, { k }) => (String(k).startsWith("bad") ? "Not this" : null);
  const isBad = new Set(bad.map(([k]) => k));
  for (const attempts of [1, 2]) {
    const { run } = await runOf(ends);
    expect(run).toMatchObject({ status: "partial", errorCount: 10_001 });
    const kept = ends.kept.rejected();
    expect(kept.filter(({ key }) => isBad.has(String(key["k"])))).toHaveLength(10_001);
    expect(kept.filter((entry) => entry.attempts !== attempts)).toEqual([]);
  }
  const rows = rowsOf(ends.here, ends.table);
  expect(rows.filter(([k]) => isBad.has(String(k)))).toEqual([]);
  expect(rows).toHaveLength(10_001);
});

test("D-4.6 a row that was refused and is accepted now is moved once in a run", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(3));
  ends.there.refuse = (_, { k }) => (k === "k-0001" ? "Not now" : null);
  await runOf(ends, { direction: "push" });
  ends.there.refuse = () => null;
  ends.requests.length = 0;
  const { run } = await runOf(ends, { direction: "push", isFull: true });
  expect(run).toMatchObject({ status: "success", totalPushed: 3 });
  const pushes = ends.requests.filter(({ kind }) => kind === "push");
  expect(pushes.map(({ records }) => records?.map(({ k }) => k))).toEqual([
    ["k-0001"],
    ["k-0000", "k-0002"],
  ]);
});

test("D-4.6 a record that was refused does not replace its next version when a run ends right behind that", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, [["a", "old", "2026-03-01T10:00:00Z"]]);
  ends.here.refuse = (_, { v }) => (v === "old" ? "Not now" : null);
  await runOf(ends);
  // The later row keeps the new version from coming again.
  put(ends.there, ends.table, [
    ["a", "new", "2026-03-01T10:00:01Z"],
    ["b", "v", "2026-03-01T10:00:02Z"],
  ]);
  ends.here.onCommit = (rows) => {
    if (rows.some(({ v }) => v === "new")) throw new AppError("store_unavailable", "Gone");
  };
  expect((await runOf(ends)).run.status).toBe("failed");
  ends.here.onCommit = () => {};
  ends.here.refuse = () => null;
  expect((await runOf(ends)).run.status).toBe("success");
  expect(rowsOf(ends.here, ends.table)).toEqual([
    ["a", "new", "2026-03-01T10:00:01Z"],
    ["b", "v", "2026-03-01T10:00:02Z"],
  ]);
});

test("D-4.6 each record of a batch that failed as a whole has its own message, also from the 11th on", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(11));
  ends.there.refuse = (_, { k }) => `Not this ${k}`;
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "partial", totalPushed: 0, errorCount: 11 });
  expect(ends.kept.rejected().map(({ message }) => message)).toEqual([
    "Not this k-0000",
    "Not this k-0001",
    "Not this k-0002",
    "Not this k-0003",
    "Not this k-0004",
    "Not this k-0005",
    "Not this k-0006",
    "Not this k-0007",
    "Not this k-0008",
    "Not this k-0009",
    "Not this k-0010",
  ]);
});

test.each(["push", "pull"] as const)(
  "D-7.7 what a %s passes and what it refuses are one commit",
  async (direction) => {
    const ends = await makeTwoEnds();
    const [from, to] = direction === "push" ? [ends.here, ends.there] : [ends.there, ends.here];
    put(from, ends.table, manyRows(3));
    to.refuse = (_, { k }) => (k === "k-0001" ? "Not now" : null);
    const strict = withDeps(ends, {
      rejected: only(ends.deps.rejected, "list", "dropped"),
      memory: only(ends.deps.memory, "read"),
    });
    const { run } = await runOf(strict, { direction });
    expect(run.status).toBe("partial");
    expect(ends.kept.rejected()).toMatchObject([{ key: { k: "k-0001" }, message: "Not now" }]);
    expect(ends.kept.marker(`sync_last_${direction}_items`)).toBe("2026-03-01T10:00:02Z");
    to.refuse = () => null;
    await runOf(ends, { direction });
    expect(ends.kept.rejected()).toEqual([]);
    expect(rowsOf(to, ends.table)).toEqual(manyRows(3));
  },
);

test("D-7.7 a waiting record that is older than the row that is here by now is dropped, not written", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, [["k", "waits", "2026-03-01T10:00:00Z"]]);
  ends.here.refuse = () => "Not now";
  await runOf(ends);
  ends.here.refuse = () => null;
  put(ends.here, ends.table, [["k", "newer", "2026-03-01T10:30:00Z"]]);
  ends.there.remove(ends.table, { k: "k" });
  const { run } = await runOf(ends);
  expect(run).toMatchObject({ status: "success", kept: 1, changed: 0 });
  expect(rowsOf(ends.here, ends.table)).toEqual([["k", "newer", "2026-03-01T10:30:00Z"]]);
  expect(ends.kept.rejected()).toEqual([]);
});

test("D-7.7 of records without a key each is kept, and each is tried again", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  ends.intercept = async ({ kind }, send) => {
    const reply = (await send()) as { records?: object[] };
    if (kind !== "pull") return reply;
    const records = reply.records?.map((record, i) => ({ ...record, k: i === 0 ? "a" : null }));
    return { ...reply, records };
  };
  for (const attempts of [1, 2]) {
    const { run } = await runOf(ends);
    expect(run).toMatchObject({ status: "partial", errorCount: 2 });
    const kept = ends.kept
      .rejected()
      .map((entry) => [entry.key, entry.record?.["at"], entry.attempts]);
    expect(kept).toEqual([
      [{ k: null }, "2026-03-01T10:00:01Z", attempts],
      [{ k: null }, "2026-03-01T10:00:02Z", attempts],
    ]);
  }
});

test.each(["push", "pull"] as const)(
  "D-7.7 a record that somebody dropped is not taken up by a %s until it changes",
  async (direction) => {
    const ends = await makeTwoEnds();
    const [from, to] = direction === "push" ? [ends.here, ends.there] : [ends.there, ends.here];
    put(from, ends.table, manyRows(2));
    to.refuse = (_, { k }) => (k === "k-0001" ? "Not this" : null);
    expect((await runOf(ends, { direction })).run.status).toBe("partial");
    await ends.parts.here.rejected.remove(ends.kept.rejected()[0]?.id ?? "");
    for (const isFull of [false, true]) {
      const { run } = await runOf(ends, { direction, isFull });
      expect(run).toMatchObject({ status: "success", errorCount: 0 });
      expect(ends.kept.rejected()).toEqual([]);
    }
    put(from, ends.table, [["k-0001", "changed", "2026-03-01T10:00:01Z"]]);
    expect((await runOf(ends, { direction })).run).toMatchObject({
      status: "partial",
      errorCount: 1,
    });
    expect(ends.kept.rejected()).toMatchObject([{ key: { k: "k-0001" }, attempts: 1 }]);
    to.refuse = () => null;
    expect((await runOf(ends, { direction })).run.status).toBe("success");
    expect(rowsOf(to, ends.table)).toEqual(rowsOf(from, ends.table));
  },
);

test("D-7.7 a column that the remote does not have keeps what is written here at the last moment", async () => {
  const entry = { ...BY_TIME, columns: { ...BY_TIME.columns, notes: { type: "text" } } } as const;
  const ends = await makeTwoEnds({ entry });
  put(ends.there, ends.table, [["k", "1", "2026-03-01T10:00:00Z"]]);
  await runOf(ends);
  put(ends.there, ends.table, [["k", "2", "2026-03-01T10:30:00Z"]]);
  ends.intercept = async ({ kind }, send) => {
    const reply = (await send()) as { records?: Record<string, unknown>[] };
    if (kind !== "pull") return reply;
    return { ...reply, records: reply.records?.map(({ notes: _, ...record }) => record) };
  };
  let isFirst = true;
  const documents = withWrites(ends.deps.documents, (write) => (table, writes, rule) => {
    if (writes.length > 0 && isFirst) {
      isFirst = false;
      ends.here.writeOwn(ends.table, { k: "k", notes: "mine" });
    }
    return write(table, writes, rule);
  });
  await runOf(withDeps(ends, { documents }));
  expect(ends.here.rowByKey(ends.table, { k: "k" })).toMatchObject({ v: "2", notes: "mine" });
});

test("D-7.7 a refused record leaves a row as it is that becomes an older one at the last moment, and waits", async () => {
  const ends = await makeTwoEnds();
  await register(ends, "here", {
    ...BY_TIME,
    columns: { ...BY_TIME.columns, v: { type: "text", max_length: 3 } },
  });
  put(ends.there, ends.table, [["k", "too long", "2026-03-01T10:30:00Z"]]);
  put(ends.here, ends.table, [["k", "new", "2026-03-01T11:00:00Z"]]);
  let isFirst = true;
  const documents = withWrites(ends.deps.documents, (write) => (table, writes, rule) => {
    if (isFirst) ends.here.writeOwn(ends.table, { k: "k", v: "old", at: "2026-03-01T10:00:00Z" });
    isFirst = false;
    return write(table, writes, rule);
  });
  const { run } = await runOf(withDeps(ends, { documents }), { direction: "pull" });
  expect(run).toMatchObject({ status: "partial", errorCount: 1, kept: 0, changed: 0 });
  expect(rowsOf(ends.here, ends.table)).toEqual([["k", "old", "2026-03-01T10:00:00Z"]]);
  expect(ends.kept.rejected()).toMatchObject([{ key: { k: "k" } }]);
});
