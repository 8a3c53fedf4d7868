import { describe, expect } from "bun:test";
import type { CompareRun, SyncRun } from "../../../src/domain/sync/run/run.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";

type Parts = Pick<FullStorage, "runs" | "close">;

/** What every `RunStore` does. */
export function runStoreContract(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: runs`, () => {
    it("D-4.9 find() gives a run as it was saved, and null for an unknown id", async ({ runs }) => {
      const running = makeRun("a", { status: "running", finishedAt: null, tables: {} });
      const failed = makeRun("b", { status: "failed", error: 'Refused: "é😀" $a.b \'\0' });
      await runs.save(running);
      await runs.save(failed);
      expect(JSON.stringify(await runs.find("a"))).toBe(JSON.stringify(running));
      expect(JSON.stringify(await runs.find("b"))).toBe(JSON.stringify(failed));
      expect(await runs.find("A")).toBeNull();
      expect(await runs.find("")).toBeNull();
    });

    it("D-4.9 save() replaces a run, which keeps its place", async ({ runs }) => {
      for (const id of ["a", "b", "c"]) await runs.save(makeRun(id, { status: "running" }));
      await runs.save(makeRun("a", { status: "success", totalPushed: 7 }));
      expect(await runs.find("a")).toEqual(makeRun("a", { status: "success", totalPushed: 7 }));
      expect(await listedRuns(runs, 10)).toEqual(["c", "b", "a"]);
    });

    it("D-4.9 list() is newest first by the order of saving, whatever the clock said", async ({
      runs,
    }) => {
      expect(await runs.list({ limit: 10, beforeId: null })).toEqual([]);
      const ids = ["m", "z", "a", "k"];
      for (const [n, id] of ids.entries()) {
        await runs.save(makeRun(id, { startedAt: `2024-01-0${9 - n}T00:00:00Z` }));
      }
      expect(await listedRuns(runs, 10)).toEqual(["k", "a", "z", "m"]);
      expect(await listedRuns(runs, 2)).toEqual(["k", "a"]);
      expect(await listedRuns(runs, 2, "a")).toEqual(["z", "m"]);
      expect(await listedRuns(runs, 10, "z")).toEqual(["m"]);
      expect(await listedRuns(runs, 10, "m")).toEqual([]);
      expect(await listedRuns(runs, 10, "unknown")).toEqual([]);
    });

    it("D-4.9 the last 1,000 runs are kept", async ({ runs }) => {
      for (let n = 0; n < 1_003; n++) await runs.save(makeRun(`run-${n}`));
      await runs.save(makeRun("run-500", { status: "partial" }));
      const ids = await listedRuns(runs, 2_000);
      expect(ids.length).toBe(1_000);
      expect([ids[0], ids[999]]).toEqual(["run-1002", "run-3"]);
      expect(await runs.find("run-2")).toBeNull();
      expect(await listedRuns(runs, 10, "run-2")).toEqual([]);
      expect((await runs.find("run-3"))?.runId).toBe("run-3");
      expect((await runs.find("run-500"))?.status).toBe("partial");
    });

    it("D-7.8 cancel() of a kept run is seen, the first reason stays, and the run is as it was", async ({
      runs,
    }) => {
      const running = makeRun("a", { status: "running" });
      await runs.save(running);
      await runs.save(makeRun("b"));
      expect(await runs.cancellation("a")).toBeNull();
      await runs.cancel("a", "Cancelled by é");
      await runs.cancel("a", "Cancelled by another");
      await runs.cancel("unknown", "Cancelled by nobody");
      await runs.save(running);
      expect(await runs.cancellation("a")).toBe("Cancelled by é");
      expect(await runs.cancellation("b")).toBeNull();
      expect(await runs.cancellation("unknown")).toBeNull();
      expect(await runs.find("a")).toEqual(running);
      expect(await listedRuns(runs, 10)).toEqual(["b", "a"]);
    });

    it("D-7.8 a comparison is kept among the runs", async ({ runs }) => {
      const compared: CompareRun = {
        ...{ runId: "c", kind: "compare", trigger: "api", status: "success" },
        ...{ table: "items", repair: "newest", startedAt: "2024-01-01T00:00:00Z" },
        ...{ finishedAt: null, durationMs: 1, matched: 1, different: 2, missingHere: 3 },
        ...{ missingThere: 4, repaired: 5, kept: 6 },
      };
      await runs.save(makeRun("a"));
      await runs.save(compared);
      expect(await runs.find("c")).toEqual(compared);
      expect(await listedRuns(runs, 10)).toEqual(["c", "a"]);
    });

    if (!harness.options.isShared) return;

    it("D-4.9 another instance sees a run at once, and after the first one closed", async (storage, store) => {
      const other = await openSecond(store);
      await storage.runs.save(makeRun("a", { status: "running" }));
      expect((await other.runs.find("a"))?.status).toBe("running");
      await other.runs.save(makeRun("b"));
      await other.runs.cancel("a", "Cancelled by b");
      expect(await storage.runs.cancellation("a")).toBe("Cancelled by b");
      await storage.runs.save(makeRun("a", { status: "success" }));
      await storage.close();
      expect(await listedRuns(other.runs, 10)).toEqual(["b", "a"]);
      expect((await other.runs.find("a"))?.status).toBe("success");
    });

    it("D-4.9 runs that two instances save at once are all kept", async ({ runs }, store) => {
      const other = await openSecond(store);
      const ids = Array.from({ length: 30 }, (_, n) => `run-${n}`);
      await Promise.all(ids.map((id, n) => (n % 2 ? runs : other.runs).save(makeRun(id))));
      expect((await listedRuns(runs, 100)).toSorted()).toEqual(ids.toSorted());
      expect(await listedRuns(other.runs, 100)).toEqual(await listedRuns(runs, 100));
    });
  });
}

/** The ids of a part of the list. */
export async function listedRuns(
  runs: Parts["runs"],
  limit: number,
  beforeId: string | null = null,
): Promise<string[]> {
  return (await runs.list({ limit, beforeId })).map((run) => run.runId);
}

/** A run with other values in every field. */
export function makeRun(id: string, changes: Partial<SyncRun> = {}): SyncRun {
  const items = {
    pushed: 1,
    pulled: 2,
    errorCount: 3,
    bytesCompressed: 4,
    bytesUncompressed: 9_007_199_254_740_991,
    durationMs: 0.5,
    ...{ kept: 6, erased: 0, changed: 7, deletedHere: 8, deletedThere: 9 },
    ...{ countHere: 10, countThere: null, warnings: ["a"] },
  };
  return {
    runId: id,
    kind: "sync",
    trigger: "api",
    status: "success",
    direction: "both",
    tables: { items, constructor: items },
    totalPushed: 1,
    totalPulled: 2,
    errorCount: 3,
    ...{ kept: 6, erased: 0, changed: 7, deletedHere: 8, deletedThere: 9 },
    startedAt: "2024-01-01T00:00:00Z",
    finishedAt: "2024-01-01T00:00:01.500Z",
    durationMs: 1500,
    fullSync: false,
    dryRun: false,
    ...changes,
  };
}
