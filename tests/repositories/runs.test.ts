import { expect } from "bun:test";
import { queuedAlert } from "../../src/domain/alerts/alert.ts";
import type { SyncRun, TableResult } from "../../src/domain/sync/run/run.ts";
import { AlertOutbox } from "../../src/repositories/alert-outbox.ts";
import { Leases, runLeaseName } from "../../src/repositories/leases.ts";
import { LEASES, TURNS } from "../../src/repositories/run-collections.ts";
import { Runs } from "../../src/repositories/runs.ts";
import { repositoryTests } from "./support/repository-tests.ts";
import { listedRuns, makeComparison, makeRun } from "./support/runs.ts";

const AT = { at: "2026-03-01T12:00:00Z", atMs: Date.UTC(2026, 2, 1, 12) };

repositoryTests(
  "runs",
  (documents) => new Runs(documents),
  (it) => {
    it("D-4.9 find() gives a run as it was saved, and null for an unknown id", async (runs) => {
      const running = makeRun("a", { status: "running", finishedAt: null, tables: {} });
      const failed = makeRun("b", { status: "failed", error: 'Refused: "é😀" $a.b \'\0' });
      await runs.save(running);
      await runs.save(failed);
      expect(JSON.stringify(await runs.find("a"))).toBe(JSON.stringify(running));
      expect(JSON.stringify(await runs.find("b"))).toBe(JSON.stringify(failed));
      expect(await runs.find("A")).toBeNull();
      expect(await runs.find("")).toBeNull();
    });

    it("D-4.9 save() replaces a run, which keeps its place", async (runs) => {
      for (const id of ["a", "b", "c"]) await runs.save(makeRun(id, { status: "running" }));
      await runs.save(makeRun("a", { status: "success", totalPushed: 7 }));
      expect(await runs.find("a")).toEqual(makeRun("a", { status: "success", totalPushed: 7 }));
      expect(await listedRuns(runs, 10)).toEqual(["c", "b", "a"]);
    });

    it("D-4.9, D-10.12 a run that was taken for abandoned goes on, and is told once", async (runs, _, {
      documents,
    }) => {
      const outbox = new AlertOutbox(documents);
      const told = (id: string) => [queuedAlert({ type: "run.failed", run }, { id, ...AT })];
      const run = makeRun("a", { status: "failed", finishedAt: "2026-03-01T12:00:00Z" });
      await runs.save(makeRun("a", { status: "running", finishedAt: null }));
      await runs.save(run, undefined, told("1"));
      await runs.save(makeRun("a", { status: "running", finishedAt: null }), []);
      expect(await runs.find("a")).toEqual(run);
      await runs.save(makeRun("a", { status: "partial" }), undefined, told("2"));
      expect(await runs.find("a")).toEqual(makeRun("a", { status: "partial" }));
      expect((await outbox.due(AT.atMs, 9)).map(({ id }) => id)).toEqual(["1"]);
    });

    it("D-4.9 list() is newest first by the order of saving, whatever the clock said", async (runs) => {
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

    it("D-4.9 a run that an earlier version kept, which says dryRun: false, is as the others", async (runs) => {
      const kept: object = { ...makeRun("a"), dryRun: false };
      await runs.save(kept as SyncRun);
      expect(await runs.list({ limit: 10, beforeId: null })).toStrictEqual([makeRun("a")]);
    });

    it("D-4.9 a run that was kept before there was a count has none of it", async (runs) => {
      const { deletedThere: _, ...run } = makeRun("a");
      const { deletedThere: __, ...items } = run.tables["items"] as TableResult;
      await runs.save({ ...run, tables: { items } } as unknown as SyncRun);
      expect(await runs.find("a")).toStrictEqual({
        ...{ ...run, deletedThere: 0 },
        tables: { items: { ...items, deletedThere: 0 } },
      });
    });

    it("D-4.9 the last 1,000 runs are kept", async (runs) => {
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

    it("D-4.8, D-4.9 leases of runs that are kept no more leave nothing, but those that are held", async (runs, _, {
      documents,
      clock,
    }) => {
      const leases = new Leases(documents);
      const begin = async (id: string) => {
        await runs.save(makeRun(id, { dryRun: true }));
        const request = { name: runLeaseName(id), holder: id, ttlMs: 60_000 };
        const lease = await leases.acquire(request);
        if ("heldBy" in lease) throw new Error(`It is held by ${lease.heldBy}`);
        return lease;
      };
      await begin("killed");
      clock.advance(60_001);
      const held = await begin("held");
      for (let n = 0; n < 58; n++) await (await begin(`run-${n}`)).release();
      const left = async () => {
        const [found, turns] = await documents.read({ name: "test.leases" }, (at) =>
          at.read({ from: LEASES, stretch: {} }, { from: TURNS, count: {} }),
        );
        return [found.map(({ holder }) => holder), turns];
      };
      expect(await left()).toEqual([["held"], 51]);
      expect(await held.renew()).toBe(true);
      await runs.save(makeRun("held", { dryRun: true }));
      await held.release();
      for (let n = 58; n < 110; n++) await (await begin(`run-${n}`)).release();
      expect(await left()).toEqual([[], 50]);
    });

    it("D-7.8 cancel() of a stored run is seen, the first reason stays, and the run is as it was", async (runs) => {
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

    it("D-7.8 a comparison is kept among the runs", async (runs) => {
      await runs.save(makeRun("a"));
      await runs.save(makeComparison("c"));
      expect(await runs.find("c")).toEqual(makeComparison("c"));
      expect(await listedRuns(runs, 10)).toEqual(["c", "a"]);
    });

    it("D-4.9 another instance sees a run at once", async (runs, other) => {
      await runs.save(makeRun("a", { status: "running" }));
      expect((await other.find("a"))?.status).toBe("running");
      await other.save(makeRun("b"));
      await other.cancel("a", "Cancelled by b");
      expect(await runs.cancellation("a")).toBe("Cancelled by b");
      await runs.save(makeRun("a", { status: "success" }));
      expect(await listedRuns(other, 10)).toEqual(["b", "a"]);
      expect((await other.find("a"))?.status).toBe("success");
    });

    it.everywhere(
      "D-4.9 runs that two instances save at once are all kept",
      async (runs, other) => {
        const ids = Array.from({ length: 30 }, (_, n) => `run-${n}`);
        await Promise.all(ids.map((id, n) => (n % 2 ? runs : other).save(makeRun(id))));
        expect((await listedRuns(runs, 100)).toSorted()).toEqual(ids.toSorted());
        expect(await listedRuns(other, 100)).toEqual(await listedRuns(runs, 100));
      },
    );
  },
);
