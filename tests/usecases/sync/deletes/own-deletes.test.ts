// Deletes on request here, taking them back, and forgetting old ones. D-7.6.
import { describe, expect, test } from "bun:test";
import { formatMs } from "../../../../src/domain/shared/time.ts";
import type { CallOptions, DocumentStore, Transaction } from "../../../../src/ports/documents.ts";
import {
  deleteRow,
  dropTombstones,
  startPruning,
} from "../../../../src/usecases/sync/pages/delete-rows.ts";
import { put, runOf, statusError, type TwoEnds } from "../two-ends.ts";
import { both, EDITED, keysOf, makeEqualEnds, remove, tombstonesOf } from "./deletes-ends.ts";

const NEVER = new AbortController().signal;

async function drop(ends: TwoEnds): Promise<number> {
  return await ends.time.run(dropTombstones(ends.deps, ends.table, NEVER));
}

describe("deleteRow()", () => {
  test("D-7.6.6 deletes the row, which leaves a tombstone later than it, that the next run sends", async () => {
    const ends = await makeEqualEnds(["a", "b"]);
    put(ends.here, ends.table, [["soon", "v", "2026-03-01T12:03:00Z"]]);
    await deleteRow(ends.deps, ends.table, { k: "a" });
    await deleteRow(ends.deps, ends.table, { k: "soon" });
    const query = { after: null, sinceTime: null, limitRows: 10 };
    expect((await ends.here.tombstones.list(ends.table, query)).items).toEqual([
      { key: { k: "a" }, deletedAt: "2026-03-01T12:00:00Z" },
      { key: { k: "soon" }, deletedAt: "2026-03-01T12:03:00.000001Z" },
    ]);
    expect(await both(ends)).toMatchObject({ status: "success", deletedThere: 1 });
    expect([keysOf(ends.here, ends), keysOf(ends.there, ends)]).toEqual([["b"], ["b"]]);
  });

  test("D-7.6.6 deletes a row without a time, and one too far ahead", async () => {
    const ends = await makeEqualEnds([]);
    put(ends.here, ends.table, [
      ["none", "v", null],
      ["far", "v", "2027-01-01T00:00:00Z"],
    ]);
    for (const k of ["none", "far"]) await deleteRow(ends.deps, ends.table, { k });
    expect(keysOf(ends.here, ends)).toEqual([]);
  });

  test("D-7.6.6 goes by the store's clock, whatever this machine's says", async () => {
    const ends = await makeEqualEnds(["a", "b"]);
    for (const [k, aheadMs] of [
      ["a", 3_600_000],
      ["b", -3_600_000],
    ] as const) {
      put(ends.here, ends.table, [[k, "new", "2026-03-01T11:59:00Z"]]);
      const deps = { ...ends.deps, clock: ends.time.clock(aheadMs) };
      await deleteRow(deps, ends.table, { k });
    }
    expect(keysOf(ends.here, ends)).toEqual([]);
  });

  test("D-7.6.6 tells an unknown key, and a table whose deletes are not recorded", async () => {
    const ends = await makeEqualEnds(["a"]);
    const failure = (table: TwoEnds["table"], k: string) =>
      deleteRow(ends.deps, table, { k }).catch((error: unknown) => error);
    expect(await failure(ends.table, "x")).toMatchObject({
      ...{ kind: "not_found", message: 'Table "items" has no row with this key' },
    });
    expect(await failure({ ...ends.table, deletes: false }, "a")).toMatchObject({
      kind: "invalid_request",
      text: 'Deletes of "items" are not recorded; set "deletes": true for it in the registry, at both ends',
    });
    expect(keysOf(ends.here, ends)).toEqual(["a"]);
  });

  test("D-7.6.6 deletes the version that is there when another one comes in between", async () => {
    const ends = await makeEqualEnds(["a"]);
    const { documents } = ends.deps;
    let tries = 0;
    const racing: DocumentStore = Object.assign(Object.create(documents), {
      transact<T>(options: CallOptions, body: (tx: Transaction) => Promise<T>) {
        return documents.transact(options, async (tx) => {
          const done = await body(tx);
          if (++tries === 1) put(ends.here, ends.table, [["a", "edited", "2026-03-01T12:00:30Z"]]);
          return done;
        });
      },
    });
    await deleteRow({ ...ends.deps, documents: racing }, ends.table, { k: "a" });
    expect([tries, keysOf(ends.here, ends)]).toEqual([2, []]);
    const query = { after: null, sinceTime: null, limitRows: 10 };
    const [tombstone] = (await ends.here.tombstones.list(ends.table, query)).items;
    expect(tombstone?.deletedAt).toBe("2026-03-01T12:00:30.000001Z");
  });
});

describe("dropTombstones()", () => {
  test("D-7.6.6 forgets the deletes that were never sent, and the next run fetches those rows again", async () => {
    const ends = await makeEqualEnds(["sent", "dropped", "stays"]);
    remove(ends.here, ends, "sent");
    await both(ends);
    remove(ends.here, ends, "dropped");
    expect(await drop(ends)).toBe(1);
    expect(await tombstonesOf(ends.here, ends)).toEqual(["sent"]);
    expect(await both(ends)).toMatchObject({ status: "success", deletedHere: 0, deletedThere: 0 });
    const expected = ["dropped", "stays"];
    expect([keysOf(ends.here, ends), keysOf(ends.there, ends)]).toEqual([expected, expected]);
    await both(ends);
    expect(keysOf(ends.here, ends)).toEqual(expected);
  });

  test("D-7.6.6 drops what more deletes than the limit held back", async () => {
    const ends = await makeEqualEnds(["a", "b", "c"]);
    remove(ends.here, ends, "a", "b", "c");
    expect(await both(ends, { maxDeletes: 2 })).toMatchObject({ status: "failed" });
    expect(await drop(ends)).toBe(3);
    expect(await both(ends, { maxDeletes: 2 })).toMatchObject({ status: "success" });
    expect(keysOf(ends.here, ends)).toEqual(["a", "b", "c"]);
  });

  test("D-7.6.6 keeps a row that is newer here, and drops nothing twice", async () => {
    const ends = await makeEqualEnds(["a", "b"]);
    remove(ends.here, ends, "a", "b");
    put(ends.here, ends.table, [["a", "edited", EDITED]]);
    await drop(ends);
    expect(await drop(ends)).toBe(0);
    await both(ends);
    expect(ends.here.rowByKey(ends.table, { k: "a" })?.["v"]).toBe("edited");
    expect(ends.there.rowByKey(ends.table, { k: "a" })?.["v"]).toBe("edited");
    expect(keysOf(ends.here, ends)).toEqual(["a", "b"]);
  });

  test("D-7.6.6 waits for a run of the table, in either direction, and tells which one is in the way", async () => {
    for (const direction of ["push", "pull"] as const) {
      const ends = await makeEqualEnds(["a"]);
      put(ends[direction === "push" ? "here" : "there"], ends.table, [["new", "v", EDITED]]);
      let failure: Promise<unknown> = Promise.resolve();
      ends.intercept = async (request, send) => {
        if (request.kind !== direction) return send();
        failure = dropTombstones(ends.deps, ends.table, NEVER).catch((error: unknown) => error);
        await ends.time.sleep(20_000);
        return send();
      };
      await runOf(ends, { direction });
      expect(await failure).toMatchObject({
        kind: "sync_failed",
        text: `Run run-2 holds "sync ${direction} items"; try again later`,
      });
    }
  });

  test("D-7.6.6 a table without deletes, and a deployment without a remote, are told so", async () => {
    const ends = await makeEqualEnds(["a"]);
    const off = { ...ends.table, deletes: false };
    expect(await dropTombstones(ends.deps, off, NEVER).catch((e: unknown) => e)).toMatchObject({
      kind: "invalid_request",
    });
    const alone = { ...ends.deps, remoteUrl: null };
    expect(await dropTombstones(alone, ends.table, NEVER).catch((e: unknown) => e)).toMatchObject({
      kind: "sync_misconfigured",
    });
  });

  test("D-7.6.6 a remote that does not answer meanwhile loses nothing", async () => {
    const ends = await makeEqualEnds(["a"]);
    remove(ends.here, ends, "a");
    await drop(ends);
    ends.intercept = () => {
      throw statusError(404);
    };
    await runOf(ends, { direction: "pull" });
    ends.intercept = (_, send) => send();
    await both(ends);
    expect(keysOf(ends.here, ends)).toEqual(["a"]);
  });
});

describe("startPruning()", () => {
  test("D-7.6.5 forgets, once a day, what was taken in longer ago than tombstones are kept", async () => {
    const ends = await makeEqualEnds(["a", "b"]);
    const started: [string, () => Promise<void>][] = [];
    const scheduler = {
      start(cronText: string, work: () => Promise<void>) {
        started.push([cronText, work]);
        return { stop: () => {} };
      },
    };
    startPruning({ ...ends.deps, scheduler }, 90);
    const [[cronText, work] = []] = started;
    expect(cronText).toBe("23 4 * * *");
    remove(ends.here, ends, "a");
    ends.time.advance(90 * 86_400_000);
    await work?.();
    expect(await tombstonesOf(ends.here, ends)).toEqual(["a"]);
    ends.time.advance(1);
    remove(ends.here, ends, "b");
    await work?.();
    expect(await tombstonesOf(ends.here, ends)).toEqual(["b"]);
    const query = { after: null, sinceTime: null, limitRows: 1 };
    const { earliestAvailable } = await ends.here.tombstones.list(ends.table, query);
    expect(earliestAvailable).toBe(formatMs(ends.time.nowMs - 90 * 86_400_000));
  });

  test("D-7.6.5 a table that cannot be pruned hinders no other, and is logged", async () => {
    const ends = await makeEqualEnds(["a"]);
    const unknown = { ...ends.table, name: "unknown" };
    const registry = new Map([
      ["unknown", unknown],
      ["items", ends.table],
    ]);
    remove(ends.here, ends, "a");
    ends.time.advance(2 * 86_400_000);
    let prune = async () => {};
    const scheduler = {
      start(_: string, work: () => Promise<void>) {
        prune = work;
        return { stop: () => {} };
      },
    };
    startPruning({ ...ends.deps, registry, scheduler }, 1);
    await prune();
    expect(await tombstonesOf(ends.here, ends)).toEqual([]);
    expect(ends.logger.lines.some((line) => line.message.includes("could not be pruned"))).toBe(
      true,
    );
  });
});
