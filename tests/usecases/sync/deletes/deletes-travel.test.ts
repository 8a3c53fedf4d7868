// Deletes that travel with runs, in memory. D-7.6.

import { describe, expect, test } from "bun:test";
import { writeRows } from "../../../../src/usecases/sync/shared/write-rows.ts";
import { foreign, makeTwoEnds, manyRows, put, rowsOf, runOf } from "../two-ends.ts";
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

describe("travelling", () => {
  test("D-7.6.4 a row deleted here is deleted there, and does not come back", async () => {
    const ends = await makeEqualEnds(["a", "b"]);
    remove(ends.here, ends, "a");
    expect(await both(ends)).toMatchObject({
      ...{ status: "success", deletedHere: 0, deletedThere: 1, totalPushed: 0 },
      tables: { items: { deletedHere: 0, deletedThere: 1, errorCount: 0 } },
    });
    for (const request of [{}, { isFull: true }, {}]) {
      expect(await both(ends, request)).toMatchObject({ deletedHere: 0, deletedThere: 0 });
      expect([keysOf(ends.here, ends), keysOf(ends.there, ends)]).toEqual([["b"], ["b"]]);
    }
  });

  test("D-7.6.4 a row deleted there is deleted here, and does not come back", async () => {
    const ends = await makeEqualEnds(["a", "b"]);
    remove(ends.there, ends, "a");
    expect(await both(ends)).toMatchObject({ status: "success", deletedHere: 1, deletedThere: 0 });
    for (const request of [{}, { isFull: true }, {}]) {
      expect(await both(ends, request)).toMatchObject({ deletedHere: 0, deletedThere: 0 });
      expect([keysOf(ends.here, ends), keysOf(ends.there, ends)]).toEqual([["b"], ["b"]]);
    }
  });

  test("D-7.6.4 push sends deletes and fetches none, pull fetches and sends none", async () => {
    const ends = await makeEqualEnds(["here", "there", "stays"]);
    remove(ends.here, ends, "here");
    remove(ends.there, ends, "there");
    await runOf(ends, { direction: "push" });
    expect([keysOf(ends.here, ends), keysOf(ends.there, ends)]).toEqual([
      ["stays", "there"],
      ["stays"],
    ]);
    await runOf(ends, { direction: "pull" });
    expect(keysOf(ends.here, ends)).toEqual(["stays"]);
  });

  test("D-7.6.4 tombstones go before rows, unchanged, and to an end without the row too", async () => {
    const ends = await makeEqualEnds(["a"]);
    put(ends.here, ends.table, [["only here", "v", OLD]]);
    remove(ends.here, ends, "a", "only here");
    put(ends.here, ends.table, [["new", "v", EDITED]]);
    await both(ends);
    const pushes = ends.requests.filter(({ kind }) => kind === "push");
    expect(
      pushes.map(({ deleted = [], records = [] }) => [deleted.length, records.length]),
    ).toEqual([
      [2, 0],
      [0, 1],
    ]);
    expect(pushes[0]?.deleted?.[0]).toEqual({
      key: { k: "a" },
      deleted_at: "2026-03-01T12:00:00Z",
    });
    expect(await tombstonesOf(ends.there, ends)).toEqual(["a", "only here"]);
  });

  test("D-7.6.4 a row that was edited after its delete wins at both ends, and the tombstone goes", async () => {
    const ends = await makeEqualEnds(["a", "b"]);
    remove(ends.here, ends, "a");
    remove(ends.there, ends, "b");
    ends.time.advance(60_000);
    put(ends.there, ends.table, [["a", "edited there", "2026-03-01T12:00:30Z"]]);
    put(ends.here, ends.table, [["b", "edited here", "2026-03-01T12:00:30Z"]]);
    await both(ends);
    await both(ends);
    const expected = [
      ["a", "edited there", "2026-03-01T12:00:30Z"],
      ["b", "edited here", "2026-03-01T12:00:30Z"],
    ];
    expect(rowsOf(ends.here, ends.table)).toEqual(expected as never);
    expect(rowsOf(ends.there, ends.table)).toEqual(expected as never);
    expect(await tombstonesOf(ends.here, ends)).toEqual([]);
    expect(await tombstonesOf(ends.there, ends)).toEqual([]);
  });

  test("D-7.6.4 an old version that is pushed to the other end by somebody else goes within two runs", async () => {
    const ends = await makeEqualEnds(["a"]);
    remove(ends.here, ends, "a");
    await both(ends);
    const write = { index: 0, row: { k: "a", v: "import", at: OLD } };
    await writeRows({ ...ends.parts.there, tables: ends.there }, ends.table, { writes: [write] });
    await both(ends);
    await both(ends);
    expect([keysOf(ends.here, ends), keysOf(ends.there, ends)]).toEqual([[], []]);
  });

  test("D-7.6.4 an idle run sends no tombstone again, and commits nothing for deletes", async () => {
    const ends = await makeEqualEnds(["a", "b"]);
    remove(ends.here, ends, "a");
    remove(ends.there, ends, "b");
    await both(ends);
    await both(ends);
    ends.requests.length = 0;
    let commits = 0;
    ends.here.onCommit = (_, changed) => {
      if (changed.includes("memory") || changed.includes(ends.table.name)) commits++;
    };
    expect(await both(ends)).toMatchObject({ deletedHere: 0, deletedThere: 0 });
    expect(ends.requests.filter(({ deleted = [] }) => deleted.length > 0)).toEqual([]);
    expect(commits).toBe(0);
  });

  test("D-7.6.4 thousands of deletes go in several requests, and those behind the last one kept after a failure", async () => {
    const rows = manyRows(2500);
    const ends = await makeTwoEnds({ entry: { ...WITH_DELETES, max_deletes: 10_000 } });
    put(ends.here, ends.table, rows);
    await both(ends);
    for (const [k] of rows) remove(ends.here, ends, k);
    let pushes = 0;
    ends.intercept = (request, send) => {
      if (request.kind === "push" && ++pushes === 2) throw new Error("The process was killed");
      return send();
    };
    await runOf(ends, { direction: "push" });
    expect(keysOf(ends.there, ends).length).toBe(1500);
    ends.intercept = (_, send) => send();
    ends.requests.length = 0;
    expect(await both(ends)).toMatchObject({ status: "success", deletedThere: 1500 });
    expect(ends.requests.flatMap(({ deleted = [] }) => deleted).length).toBe(1500);
    expect(keysOf(ends.there, ends)).toEqual([]);
  });

  test("D-7.6.4 a dry run counts the rows that deletes would remove at both ends, and removes none", async () => {
    const ends = await makeEqualEnds(["a", "b", "c"]);
    remove(ends.here, ends, "a");
    remove(ends.there, ends, "b", "c");
    expect(await both(ends, { isDryRun: true })).toMatchObject({
      ...{ status: "success", deletedHere: 2, deletedThere: 1 },
    });
    expect([keysOf(ends.here, ends), keysOf(ends.there, ends)]).toEqual([["b", "c"], ["a"]]);
    expect(await both(ends)).toMatchObject({ deletedHere: 2, deletedThere: 1 });
  });
});

describe("remotes without deletes", () => {
  test("D-7.6.4 a foreign server is sent no tombstone and asked for none, and rows move", async () => {
    const ends = await makeTwoEnds({ entry: WITH_DELETES, ...foreign() });
    put(ends.here, ends.table, [["a", "v", OLD]]);
    await both(ends);
    remove(ends.here, ends, "a");
    expect(await both(ends)).toMatchObject({ status: "success", deletedHere: 0, deletedThere: 0 });
    expect(ends.requests.some(({ kind }) => kind === "deleted")).toBe(false);
    expect(keysOf(ends.there, ends)).toEqual(["a"]);
  });

  test("D-7.6.4 nothing is deleted where one end has not opted in, whichever that is", async () => {
    for (const isOnHere of [true, false]) {
      const ends = await makeTwoEnds({ entry: WITH_DELETES });
      const off = { ...ends.table, deletes: false };
      const [here, there] = isOnHere ? [ends.table, off] : [off, ends.table];
      put(ends.here, ends.table, [
        ["a", "v", OLD],
        ["b", "v", OLD],
      ]);
      ends.intercept = async (request, send) => {
        const reply = (await send()) as { readonly deletes?: boolean };
        return request.kind === "schema" ? { ...reply, deletes: there.deletes } : reply;
      };
      (ends.deps.registry as Map<string, unknown>).set("items", here);
      await both(ends);
      ends.here.remove(here, { k: "a" });
      ends.there.remove(there, { k: "b" });
      expect(await both(ends)).toMatchObject({ deletedHere: 0, deletedThere: 0 });
      expect(ends.requests.some(({ kind }) => kind === "deleted")).toBe(false);
    }
  });
});
