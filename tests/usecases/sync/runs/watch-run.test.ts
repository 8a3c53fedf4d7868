// Watching runs of another instance, by what is kept of them. D-9.5.
import { expect, test } from "bun:test";
import { AppError } from "../../../../src/domain/shared/errors.ts";
import { addNews, type News } from "../../../../src/domain/sync/run/news.ts";
import { findRun, followRun } from "../../../../src/usecases/sync/runs/stored-runs.ts";
import { makeComparison } from "../../../repositories/support/runs.ts";
import { eventsOf, makeTwoEnds, manyRows, put, start, type TwoEnds } from "../two-ends.ts";

/** Another instance. */
function watchElsewhere(ends: TwoEnds, runId: string, stopping = new AbortController().signal) {
  return followRun(ends.deps, runId, stopping);
}

interface Seen {
  readonly atMs: number;
  readonly news: News;
}

/** Notes when each comes. */
async function follow(ends: TwoEnds, news: AsyncIterable<News>, seen: Seen[]): Promise<void> {
  for await (const item of news) seen.push({ atMs: ends.time.nowMs, news: item });
}

function put100(ends: TwoEnds): void {
  put(ends.there, ends.table, manyRows(100));
}

/** Every page takes 700 ms. */
function slowly(ends: TwoEnds): void {
  ends.intercept = async (request, send) => {
    if (request.kind === "pull") await ends.time.sleep(700);
    return await send();
  };
}

/** What has come up to a time, put together. */
function toldBy(seen: readonly Seen[], atMs: number): readonly News[] {
  const list: News[] = [];
  for (const { news } of seen.filter((item) => item.atMs <= atMs)) addNews(list, news);
  return list;
}

test("D-9.5.2 a run elsewhere is told at most 1 s late, and whole", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 10 });
  put100(ends);
  slowly(ends);
  const run = start(ends);
  const [here, there]: [Seen[], Seen[]] = [[], []];
  const following = follow(ends, run.news(), here);
  await ends.time.run(run.begun());
  ends.time.advance(1_500);
  const watched = await ends.time.run(watchElsewhere(ends, run.runId));
  const watching = follow(ends, watched, there);
  await ends.time.run(Promise.all([following, watching]));
  expect(here.length).toBeGreaterThan(8);
  for (const { atMs } of here.filter((item) => item.atMs > here[0]!.atMs + 1_500)) {
    const known = toldBy(here, atMs).length;
    expect(toldBy(there, atMs + 1_000).length).toBeGreaterThanOrEqual(known);
  }
  const all = (seen: readonly Seen[]) => toldBy(seen, Number.POSITIVE_INFINITY);
  expect(all(there)).toEqual(all(here));
  expect(all(there).at(-1)).toEqual({ type: "finished" });
});

test("D-9.5.2 a run that has ended is told whole at once", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 10 });
  put100(ends);
  for (const isDryRun of [false, true]) {
    const run = start(ends, { isDryRun });
    await ends.time.run(run.outcome);
    const events = await ends.time.run(Array.fromAsync(eventsOf(run)));
    const beforeMs = ends.time.nowMs;
    const watched = await ends.time.run(watchElsewhere(ends, run.runId));
    expect(await ends.time.run(Array.fromAsync(watched))).toEqual(events);
    expect(ends.time.nowMs).toBe(beforeMs);
  }
});

test("D-9.5.2 a run whose process died ends in the stream as it does in the list", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 10 });
  put100(ends);
  const run = start(ends);
  await ends.time.run(run.outcome);
  const [kept] = await ends.runs.list({ limit: 1, beforeId: null });
  await ends.runs.save({ ...kept!, runId: "dead", status: "running", finishedAt: null }, []);
  const watched = await ends.time.run(watchElsewhere(ends, "dead"));
  const news = await ends.time.run(Array.fromAsync(watched));
  const listed = await ends.time.run(findRun(ends.deps, "dead"));
  expect(listed.status).toBe("failed");
  expect(news).toEqual([
    { type: "error", table: "items", direction: "pull", error: listed.error! },
    { type: "finished" },
  ]);
});

test("D-9.5.2 a comparison or an import whose process died ends with its failure", async () => {
  const ends = await makeTwoEnds();
  const { kind: _, ...compared } = makeComparison("dead");
  const imported = { ...compared, runId: "gone" };
  for (const run of [
    { ...compared, kind: "compare" },
    { ...imported, kind: "import" },
  ] as const) {
    await ends.runs.save({ ...run, status: "running" }, []);
    const watched = await ends.time.run(watchElsewhere(ends, run.runId));
    expect(await ends.time.run(Array.fromAsync(watched))).toEqual([
      {
        ...{ type: "error", table: "items", error: expect.stringContaining("ended") },
        ...(run.kind === "import" ? { result: null } : {}),
      },
      { type: "finished" },
    ]);
  }
});

test("D-9.5.2 a process that dies while its run is watched is noticed", async () => {
  const ends = await makeTwoEnds();
  const lease = await ends.leases.acquire({ name: "sync run r", holder: "r", ttlMs: 10_000 });
  expect(lease).not.toHaveProperty("heldBy");
  const run = start(ends);
  await ends.time.run(run.outcome);
  const [kept] = await ends.runs.list({ limit: 1, beforeId: null });
  await ends.runs.save({ ...kept!, runId: "r", status: "running" }, []);
  const watched = await ends.time.run(watchElsewhere(ends, "r"));
  const beforeMs = ends.time.nowMs;
  const news = await ends.time.run(Array.fromAsync(watched));
  expect(news.map(({ type }) => type)).toEqual(["error", "finished"]);
  expect(ends.time.nowMs - beforeMs).toBeGreaterThanOrEqual(10_000);
  expect(ends.time.nowMs - beforeMs).toBeLessThan(13_000);
});

test("D-9.5.2 a store that does not answer for a while loses nothing, and a service that stops ends the stream", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 10 });
  put100(ends);
  slowly(ends);
  const run = start(ends);
  await ends.time.run(run.begun());
  const stopping = new AbortController();
  const watched = await ends.time.run(watchElsewhere(ends, run.runId));
  const stopped = await ends.time.run(watchElsewhere(ends, run.runId, stopping.signal));
  const find = ends.runs.findTold.bind(ends.runs);
  ends.runs.findTold = async () => {
    throw new AppError("store_unavailable", "It does not answer");
  };
  ends.time.after(3_000, () => {
    ends.runs.findTold = find;
  });
  stopping.abort();
  await ends.time.run(Array.fromAsync(stopped));
  expect(ends.time.nowMs).toBeLessThan(Date.parse("2026-03-01T12:00:03Z"));
  const news = await ends.time.run(Array.fromAsync(watched));
  const events = await ends.time.run(Array.fromAsync(eventsOf(run)));
  const list: News[] = [];
  for (const item of news) addNews(list, item);
  expect(list).toEqual(events);
});
