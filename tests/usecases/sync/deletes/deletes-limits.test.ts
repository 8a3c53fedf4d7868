// Deletes that do not travel: too many, with a gap in their record, answered wrongly. D-7.6.
import { describe, expect, test } from "bun:test";
import { compareTables } from "../../../support/rows/compare-tables.ts";
import { manyRows, put, runOf, statusError } from "../two-ends.ts";
import {
  both,
  EDITED,
  keysOf,
  makeEqualEnds,
  OLD,
  remove,
  tombstonesOf,
  WITH_DELETES,
} from "./deletes-ends.ts";

const DIRECTIONS = ["push", "pull", "both"] as const;

describe("a remote that takes few at once", () => {
  const KEYS = manyRows(1_300).map(([k]) => k);

  test("D-11.2.3 tombstones, and the question how many rows they would remove, are halved at 413", async () => {
    const ends = await makeEqualEnds([...KEYS, "stays"]);
    remove(ends.here, ends, ...KEYS);
    ends.intercept = ({ kind, deleted = [] }, send) => {
      if (kind === "push" && deleted.length > 300) throw statusError(413);
      return send();
    };
    expect(await both(ends, { maxDeletes: 1_299 })).toMatchObject({ status: "failed" });
    expect(await both(ends, { maxDeletes: 1_300 })).toMatchObject({
      ...{ status: "success", deletedThere: 1_300 },
    });
    expect(keysOf(ends.there, ends)).toEqual(["stays"]);
  });

  test("D-11.2.3 a tombstone that it takes in no push is a failed one", async () => {
    const ends = await makeEqualEnds(["a", "b", "c"]);
    remove(ends.here, ends, "a", "b");
    ends.intercept = ({ kind, deleted = [] }, send) => {
      const isB = deleted.some(({ key }) => JSON.stringify(key) === '{"k":"b"}');
      if (kind === "push" && isB) throw statusError(413);
      return send();
    };
    expect(await both(ends)).toMatchObject({ status: "partial", deletedThere: 1, errorCount: 1 });
    expect(keysOf(ends.there, ends)).toEqual(["b", "c"]);
  });
});

describe("the limit", () => {
  const MANY = manyRows(1200).map(([k]) => k);

  test("D-7.6.4 holds in the commit too, for a row that comes back after rows were counted", async () => {
    const entry = { ...WITH_DELETES, max_deletes: 1 };
    const ends = await makeEqualEnds(["a", "b", "c"], { entry });
    remove(ends.there, ends, "a", "b");
    remove(ends.here, ends, "b");
    const byKeys = ends.here.byKeys.bind(ends.here);
    ends.here.byKeys = async (...asked) => {
      const found = await byKeys(...asked);
      put(ends.here, ends.table, [["b", "v", OLD]]);
      ends.here.byKeys = byKeys;
      return found;
    };
    const { run, error } = await runOf(ends, { direction: "pull" });
    expect(run).toMatchObject({ status: "failed", deletedHere: 0 });
    expect(error?.text).toStartWith(
      '2 rows of "items" would be deleted here, at most 1 may be; none',
    );
    expect(keysOf(ends.here, ends)).toEqual(["a", "b", "c"]);
  });

  for (const where of ["here", "there"] as const) {
    const other = where === "here" ? "there" : "here";
    test(`D-7.6.4 more than 1,000 rows, and than a tenth of the table, are not deleted ${where}; its rows move all the same`, async () => {
      const ends = await makeEqualEnds([...MANY, "stays"]);
      remove(ends[other], ends, ...MANY);
      put(ends.here, ends.table, [["new here", "v", EDITED]]);
      put(ends.there, ends.table, [["new there", "v", EDITED]]);
      const { run, error } = await runOf(ends, { direction: "both" });
      expect(run).toMatchObject({ status: "failed", deletedHere: 0, deletedThere: 0 });
      expect(error?.text).toBe(
        `1200 rows of "items" would be deleted ${where}, at most 1000 may be; none was; if that is right, allow them with --max-deletes 1200 (max_deletes)`,
      );
      expect(keysOf(ends[where], ends).length).toBe(1203);
      expect(keysOf(ends[other], ends)).toEqual(["new here", "new there", "stays"]);
      const allowed = await both(ends, { maxDeletes: 1200 });
      expect(allowed).toMatchObject({
        ...{ deletedHere: where === "here" ? 1200 : 0, deletedThere: where === "there" ? 1200 : 0 },
      });
      expect(keysOf(ends[where], ends)).toEqual(["new here", "new there", "stays"]);
    });

    test(`D-7.6.4 the registry and the run say how many rows may be deleted ${where}, the run last`, async () => {
      const entry = { ...WITH_DELETES, max_deletes: 2 };
      const ends = await makeEqualEnds(["a", "b", "c"], { entry });
      remove(ends[other], ends, "a", "b");
      expect(await both(ends, { maxDeletes: 0 })).toMatchObject({ status: "failed" });
      remove(ends[other], ends, "c");
      expect(await both(ends)).toMatchObject({ status: "failed", deletedHere: 0, deletedThere: 0 });
      expect(keysOf(ends[where], ends)).toEqual(["a", "b", "c"]);
      expect(await both(ends, { maxDeletes: 3 })).toMatchObject({ status: "success" });
      expect(keysOf(ends[where], ends)).toEqual([]);
    });

    test(`D-7.6.4 tombstones of rows that are not ${where} do not count`, async () => {
      const entry = { ...WITH_DELETES, max_deletes: 2 };
      const ends = await makeEqualEnds(["a", "b"], { entry });
      put(
        ends[other],
        ends.table,
        MANY.map((k) => [k, "v", OLD] as const),
      );
      remove(ends[other], ends, ...MANY, "a", "b");
      const run = await both(ends);
      expect(run).toMatchObject({ status: "success" });
      expect(where === "here" ? run.deletedHere : run.deletedThere).toBe(2);
      expect((await tombstonesOf(ends[where], ends)).length).toBe(1202);
    });
  }

  test("D-7.6.4 a remote that deletes everything removes nothing beyond the limit, even when it adds to its list meanwhile", async () => {
    const ends = await makeEqualEnds(["a", "b", "c", "d"], {
      entry: { ...WITH_DELETES, max_deletes: 2 },
    });
    remove(ends.there, ends, "a", "b");
    let asked = 0;
    ends.intercept = async (request, send) => {
      const reply = await send();
      if (request.kind !== "deleted" || ++asked > 1) return reply;
      // Others are deleted once the first page is read, and it claims to go on.
      const { cursor } = reply as { readonly cursor: string };
      remove(ends.there, ends, "c", "d");
      return { ...(reply as object), nextCursor: cursor };
    };
    const { run } = await runOf(ends, { direction: "pull" });
    expect(run.deletedHere).toBeLessThanOrEqual(2);
    expect(run.status).toBe("failed");
    expect(keysOf(ends.here, ends).length).toBeGreaterThanOrEqual(2);
  });
});

describe("a record with a gap", () => {
  for (const direction of DIRECTIONS) {
    test(`D-7.6.4 ends a ${direction} of the table before its first row, when it is the remote's`, async () => {
      const ends = await makeEqualEnds(["a"]);
      ends.time.advance(1000);
      put(ends.here, ends.table, [["new", "v", EDITED]]);
      await ends.there.prepare([{ ...ends.table, deletes: false }]);
      remove(ends.there, { ...ends, table: { ...ends.table, deletes: false } }, "a");
      await ends.there.prepare([ends.table]);
      for (const request of [{ direction }, { direction, isFull: true }]) {
        const { run, error } = await runOf(ends, request);
        expect(run.status).toBe("failed");
        expect(error?.text).toContain(
          'Deletes of "items" may have been missed: the record of them there has a gap since the last run; compare the table and repair it by push or pull',
        );
        expect([keysOf(ends.here, ends), keysOf(ends.there, ends)]).toEqual([["a", "new"], []]);
      }
    });

    test(`D-7.6.4 ends a ${direction} of the table before its first row, when it is the own one`, async () => {
      const ends = await makeEqualEnds(["a"]);
      ends.time.advance(1000);
      put(ends.there, ends.table, [["new", "v", EDITED]]);
      const off = { ...ends.table, deletes: false };
      await ends.here.prepare([off]);
      ends.here.remove(off, { k: "a" });
      await ends.here.prepare([ends.table]);
      const { run, error } = await runOf(ends, { direction });
      expect(run.status).toBe("failed");
      expect(error?.text).toContain("the record of them here has a gap");
      expect([keysOf(ends.here, ends), keysOf(ends.there, ends)]).toEqual([[], ["a", "new"]]);
    });
  }

  test.each(["push", "pull"] as const)(
    "D-7.6.4 ends a %s from a place that is too old, until a repair has set it anew",
    async (direction) => {
      const ends = await makeEqualEnds(["a", "b"]);
      const [from, to] = direction === "push" ? [ends.here, ends.there] : [ends.there, ends.here];
      ends.time.advance(1000);
      remove(from, ends, "a");
      ends.time.advance(1000);
      await from.tombstones.prune(ends.table, "2026-03-01T12:00:02Z");
      const { run, error } = await runOf(ends, { direction });
      expect(run.status).toBe("failed");
      expect(error?.text).toContain("compare the table and repair it by push or pull");
      expect(keysOf(to, ends)).toEqual(["a", "b"]);
      const compared = { tableName: "items", repair: "newest" } as const;
      const newest = await ends.time.run(compareTables(ends.deps, compared));
      expect(newest).toMatchObject({ repaired: 0, kept: 1 });
      const repair = { ...compared, repair: direction, deletes: true };
      const repaired = await ends.time.run(compareTables(ends.deps, repair));
      expect(repaired).toMatchObject({ repaired: 1 });
      expect(keysOf(to, ends)).toEqual(["b"]);
      expect(await both(ends)).toMatchObject({ status: "success" });
    },
  );

  test.each(["push", "pull"] as const)(
    "D-7.6.4 moves on behind a repair by %s: deletes of the end that rows came from, and none of the other",
    async (direction) => {
      const ends = await makeEqualEnds(["a", "b"]);
      const [from, to] = direction === "push" ? [ends.here, ends.there] : [ends.there, ends.here];
      ends.time.advance(1000);
      await from.tombstones.prune(ends.table, "2026-03-01T12:00:01Z");
      remove(from, ends, "a");
      remove(to, ends, "b");
      const repair = { tableName: "items", repair: direction } as const;
      expect(await ends.time.run(compareTables(ends.deps, repair))).toMatchObject({ repaired: 1 });
      expect(await both(ends)).toMatchObject({ status: "success" });
      for (const end of [from, to]) expect(keysOf(end, ends)).toEqual(["b"]);
    },
  );

  test("D-7.6.4 a run that stayed away for longer than tombstones are kept says so, and one that came often does not", async () => {
    const ends = await makeEqualEnds(["a"]);
    const dayMs = 86_400_000;
    const prune = async () => {
      const before = new Date(ends.time.nowMs - 90 * dayMs).toISOString();
      for (const end of [ends.here, ends.there]) await end.tombstones.prune(ends.table, before);
    };
    for (let day = 0; day < 200; day += 20) {
      ends.time.advance(20 * dayMs);
      await prune();
      expect(await both(ends)).toMatchObject({ status: "success" });
    }
    ends.time.advance(91 * dayMs);
    await prune();
    expect(await both(ends)).toMatchObject({ status: "failed" });
  });

  test("D-7.6.4 a place that the remote never gave ends the table and says to compare", async () => {
    const ends = await makeEqualEnds(["a"]);
    remove(ends.there, ends, "a");
    await both(ends);
    await both(ends);
    ends.intercept = (request, send) => {
      if (request.kind === "deleted") throw statusError(400);
      return send();
    };
    const { run, error } = await runOf(ends, { direction: "pull" });
    expect(run.status).toBe("failed");
    expect(error?.text).toContain("compare the table and repair it");
  });

  test("D-7.6.4 another remote has another list: with full the deletes begin at its start", async () => {
    const ends = await makeEqualEnds(["a", "b"]);
    remove(ends.there, ends, "a");
    await both(ends);
    const moved = { ...ends, deps: { ...ends.deps, remoteUrl: "https://other.example" } };
    remove(ends.there, ends, "b");
    expect(await both(moved, { isFull: true })).toMatchObject({
      status: "success",
      deletedHere: 1,
    });
  });
});

describe("wrong answers", () => {
  test("D-7.6.4 a tombstone more than 5 minutes ahead is refused here: partial, and fetched again until it is right", async () => {
    const ends = await makeEqualEnds(["a", "b", "c"]);
    remove(ends.there, ends, "a", "b");
    ends.intercept = async (request, send) => {
      const reply = (await send()) as { readonly items: readonly object[] };
      if (request.kind !== "deleted") return reply;
      const [first, second] = reply.items;
      return { ...reply, items: [{ ...first, deletedAt: "2026-03-01T12:05:00.000001Z" }, second] };
    };
    const run = await both(ends);
    expect(run).toMatchObject({ status: "partial", errorCount: 1, deletedHere: 1 });
    expect(keysOf(ends.here, ends)).toEqual(["a", "c"]);
    ends.intercept = (_, send) => send();
    expect(await both(ends)).toMatchObject({ status: "success", deletedHere: 1 });
    expect(keysOf(ends.here, ends)).toEqual(["c"]);
  });

  test("D-7.6.4 a remote that lists what is no tombstone ends the table, and nothing of its page is removed", async () => {
    for (const wrong of [{ key: {} }, { key: { k: null } }, { key: { other: "a" } }]) {
      const ends = await makeEqualEnds(["a", "b"]);
      remove(ends.there, ends, "a", "b");
      ends.intercept = async (request, send) => {
        const reply = (await send()) as { readonly items: readonly object[] };
        if (request.kind !== "deleted") return reply;
        return { ...reply, items: [reply.items[0], { ...reply.items[1], ...wrong }] };
      };
      const { run, error } = await runOf(ends, { direction: "pull" });
      expect(run).toMatchObject({ status: "failed", deletedHere: 0 });
      expect(error?.text).toContain("is none: k is part of the key");
      expect(keysOf(ends.here, ends)).toEqual(["a", "b"]);
    }
  });

  test("D-7.6.4 a tombstone that the remote refuses is sent again by every run, with those behind it", async () => {
    const ends = await makeEqualEnds(["a", "b"]);
    remove(ends.here, ends, "a", "b");
    ends.intercept = async (request, send) => {
      const reply = (await send()) as object;
      if ((request.deleted ?? []).length === 0) return reply;
      return { ...reply, errorCount: 1, errors: ["k=a: refused"], deleted: 1 };
    };
    expect(await both(ends)).toMatchObject({ status: "partial", errorCount: 1 });
    ends.intercept = (_, send) => send();
    ends.requests.length = 0;
    expect(await both(ends)).toMatchObject({ status: "success" });
    const sent = ends.requests.flatMap(({ deleted = [] }) => deleted.map(({ key }) => key));
    expect(sent).toEqual([{ k: "a" }, { k: "b" }]);
  });

  test("D-7.6.4 a remote that does not tell what became of tombstones ends the run, and the place stays", async () => {
    for (const wrong of [{ deleted: undefined }, { integrity: "no_checksum" }, { error: "no" }]) {
      const ends = await makeEqualEnds(["a"]);
      remove(ends.here, ends, "a");
      ends.intercept = async (request, send) => {
        const reply = (await send()) as object;
        return (request.deleted ?? []).length === 0 ? reply : { ...reply, ...wrong };
      };
      const { run, error } = await runOf(ends, { direction: "push" });
      expect(run.status).toBe("failed");
      expect(error?.text).toContain("does not tell what became of 1 tombstones");
      ends.intercept = (_, send) => send();
      ends.requests.length = 0;
      await both(ends);
      expect(ends.requests.flatMap(({ deleted = [] }) => deleted).length).toBe(1);
    }
  });
});

const ENDLESS = [
  ["whose cursors go in a circle", 1, (asked: number) => String(asked % 2)],
  ["that lists the same deletes behind ever new cursors", 1_000, String],
] as const;

for (const [what, rows, cursorAfter] of ENDLESS) {
  for (const maxDeletes of [1, 1_000]) {
    test(`D-7.6.4 a remote ${what} ends the run, where ${maxDeletes} rows may go`, async () => {
      const ends = await makeEqualEnds(["a", "b", "stays"]);
      const items = manyRows(rows, "gone").map(([k]) => ({ key: { k }, deletedAt: EDITED }));
      let asked = 0;
      let first: object | null = null;
      ends.intercept = async (request, send) => {
        if (request.kind !== "deleted") return await send();
        first ??= (await send()) as object;
        // What never ends fails here.
        expect(++asked).toBeLessThan(20);
        const cursor = cursorAfter(asked);
        return { ...first, items, nextCursor: cursor, cursor };
      };
      const { run, error } = await runOf(ends, { direction: "pull", maxDeletes });
      expect(run).toMatchObject({ status: "failed", deletedHere: 0 });
      expect(error?.text).toStartWith("The remote lists the same deletes again and again; ");
      expect(keysOf(ends.here, ends)).toEqual(["a", "b", "stays"]);
    });
  }
}
