import { expect } from "bun:test";
import type { News } from "../../src/domain/sync/run/news.ts";
import { forgetRowNews, Runs } from "../../src/repositories/runs.ts";
import { countingReads } from "./support/counting-reads.ts";
import { repositoryTests } from "./support/repository-tests.ts";
import { listedRuns, makeComparison, makeRun } from "./support/runs.ts";

const START: News = { type: "start", table: "items", direction: "push", totalRecords: 2 };
const DIFFERENCE: News = {
  ...{ type: "difference", kind: "different", key: { "$k.é": "\0 😀" } },
  ...{ here: { v: "9007199254740993", j: { a: [1.5] } }, there: null },
};

repositoryTests(
  "news of runs",
  (documents) => new Runs(documents),
  (it) => {
    it("D-9.5.2 findTold() gives a run with its news as they were saved last, and none for an unknown id", async (runs) => {
      const running = makeRun("a", { status: "running" });
      await runs.save(running, []);
      expect(await runs.findTold("a")).toEqual({ run: running, news: [] });
      await runs.save(running, [START]);
      await runs.save(makeRun("b"), [DIFFERENCE, { type: "finished" }]);
      expect(await runs.findTold("a")).toEqual({ run: running, news: [START] });
      expect((await runs.findTold("b"))?.news).toEqual([DIFFERENCE, { type: "finished" }]);
      await runs.save(makeRun("a"));
      expect(await runs.findTold("a")).toEqual({ run: makeRun("a"), news: [START] });
      await runs.save(makeRun("c"));
      expect((await runs.findTold("c"))?.news).toEqual([]);
      expect(await runs.findTold("unknown")).toBeNull();
      expect(await listedRuns(runs, 10)).toEqual(["c", "b", "a"]);
    });

    it("D-9.5.2 a dry run is found and told, and in no list", async (runs) => {
      await runs.save(makeRun("a"), [START]);
      const dry = makeRun("d", { status: "running", dryRun: true });
      await runs.save(dry, [START]);
      expect(await runs.find("d")).toEqual(dry);
      expect(await runs.findTold("d")).toEqual({ run: dry, news: [START] });
      expect(await listedRuns(runs, 10)).toEqual(["a"]);
      expect(await listedRuns(runs, 10, "d")).toEqual([]);
      await runs.cancel("d", "Cancelled by é");
      await runs.cancel("d", "Cancelled by another");
      await runs.save(dry, [START]);
      expect(await runs.cancellation("d")).toBe("Cancelled by é");
      expect(await runs.cancellation("a")).toBeNull();
    });

    it("D-9.5.2 the last 50 dry runs are kept, whatever becomes of the others", async (runs) => {
      await runs.save(makeRun("a"), [START]);
      const id = (n: number) => `dry-${n}`;
      for (let n = 0; n < 52; n++) await runs.save(makeRun(id(n), { dryRun: true }), [START]);
      await runs.save(makeRun(id(2), { dryRun: true, status: "failed" }), []);
      expect(await runs.findTold(id(1))).toBeNull();
      expect((await runs.findTold(id(2)))?.run.status).toBe("failed");
      expect((await runs.findTold(id(51)))?.news).toEqual([START]);
      expect((await runs.findTold("a"))?.news).toEqual([START]);
    });

    it("D-9.5.2 the news of a run go with it", async (runs) => {
      await runs.save(makeRun("first"), [START]);
      for (let n = 0; n < 1_000; n++) await runs.save(makeRun(`run-${n}`), []);
      expect(await runs.findTold("first")).toBeNull();
      await runs.save(makeRun("first"));
      expect((await runs.findTold("first"))?.news).toEqual([]);
    });

    it.everywhere("D-9.5.2 another instance sees news at once", async (runs, other) => {
      await runs.save(makeRun("a", { status: "running" }), [START]);
      expect((await other.findTold("a"))?.news).toEqual([START]);
      const dry = makeRun("d", { status: "running", dryRun: true });
      await runs.save(dry, [START, DIFFERENCE]);
      await other.cancel("d", "Cancelled by b");
      expect(await runs.cancellation("d")).toBe("Cancelled by b");
      expect(await other.findTold("d")).toEqual({ run: dry, news: [START, DIFFERENCE] });
    });

    it.everywhere(
      "D-9.5.2 news of several megabytes come back as they were, and shrink",
      async (runs) => {
        // Cut within a pair of surrogates, it would come back as something else.
        const there = { v: "x😀".repeat(700_000) };
        const large: News[] = [
          START,
          { type: "difference", kind: "different", key: {}, here: {}, there },
        ];
        await runs.save(makeRun("a", { status: "running" }), large);
        expect((await runs.findTold("a"))?.news).toEqual(large);
        await runs.save(makeRun("a"), [START]);
        expect((await runs.findTold("a"))?.news).toEqual([START]);
      },
    );

    it.everywhere(
      "D-4.9, D-8.2 who looks for runs that go on, or erases, reads none that has ended",
      async (runs, _, { documents }) => {
        for (let n = 0; n < 9; n++) await runs.save(makeRun(`ended-${n}`), [START]);
        for (const id of ["a", "b"]) await runs.save(makeRun(id, { status: "running" }), [START]);
        await runs.save(makeRun("a", { status: "failed" }));
        await runs.save(makeRun("dry", { status: "running", dryRun: true }));
        await runs.save(makeComparison("c"), [START]);
        const counted = countingReads(documents);
        expect(await new Runs(counted.documents).running()).toEqual(["b"]);
        expect(counted.read).toBe(1);
        await counted.documents.transact({ name: "test" }, (tx) => forgetRowNews(tx, ["items"]));
        expect(counted.read).toBe(2);
        expect((await runs.findTold("c"))?.news).toEqual([]);
        expect((await runs.findTold("ended-1"))?.news).toEqual([START]);
      },
    );

    it("D-9.5.2 nothing is found under what is no id", async (runs) => {
      for (const id of ["", "x".repeat(2_000), "\ud800"]) {
        expect(await runs.find(id)).toBeNull();
        expect(await runs.findTold(id)).toBeNull();
        await runs.cancel(id, "Cancelled by nobody");
        expect(await runs.list({ limit: 10, beforeId: id })).toEqual([]);
      }
    });
  },
);
