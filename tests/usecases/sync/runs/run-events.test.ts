// What a run tells, to readers of any speed. S-6, D-4.4.

import { expect, test } from "bun:test";
import type { BatchEvent, RunEvent, RunNews } from "../../../../src/domain/sync/run/run.ts";
import { RunEvents } from "../../../../src/usecases/sync/runs/started-work.ts";
import { makeTwoEnds, manyRows, put, runOf, start } from "../two-ends.ts";

const START: RunEvent = { type: "start", table: "a", direction: "push", totalRecords: 9 };

function batch(number: number, changes: Partial<BatchEvent> = {}): BatchEvent {
  return {
    ...{ type: "batch", table: "a", direction: "push", batch: number, totalBatches: 9 },
    ...{ recordsSent: 10, totalSent: number * 10, totalRecords: 90, bytesCompressed: 1 },
    ...{ bytesUncompressed: 2, upserted: 9, errorCount: 1, elapsedMs: number },
    ...{ rowsPerSecond: 5, ...changes },
  };
}

test("S-6 a reader that keeps up gets every event", async () => {
  const feed = new RunEvents<RunNews>();
  const reader = feed.news();
  const got: RunEvent[] = [];
  for (const event of [START, batch(1), batch(2)]) {
    const next = reader.next();
    feed.publish(event);
    got.push((await next).value as RunEvent);
  }
  expect(got).toEqual([START, batch(1), batch(2)]);
  feed.publish({ type: "finished" });
  expect((await reader.next()).value).toEqual({ type: "finished" });
  expect((await reader.next()).done).toBe(true);
});

test("D-4.4 a slow reader gets batches put together, with nothing missing from their sums", async () => {
  const feed = new RunEvents<RunNews>();
  const reader = feed.news();
  const first = reader.next();
  feed.publish(START);
  await first;
  for (let i = 1; i <= 1000; i++) feed.publish(batch(i));
  feed.publish(batch(1, { table: "b" }));
  feed.publish({ type: "finished" });
  expect(await Array.fromAsync(reader)).toEqual([
    batch(1000, {
      ...{ recordsSent: 10_000, bytesCompressed: 1000, bytesUncompressed: 2000 },
      ...{ upserted: 9000, errorCount: 1000 },
    }),
    batch(1, { table: "b" }),
    { type: "finished" },
  ]);
});

test("D-4.9 a reader that comes late gets the events from the first on, and one that leaves does not stop the run", async () => {
  const feed = new RunEvents<RunNews>();
  feed.publish(START);
  const early = feed.news();
  await early.next();
  await early.return();
  for (let i = 1; i <= 1000; i++) feed.publish(batch(i));
  feed.publish({ type: "finished" });
  const late = await Array.fromAsync(feed.news());
  expect(late.map(({ type }) => type)).toEqual(["start", "batch", "finished"]);
  expect(late[1]).toMatchObject({ recordsSent: 10_000, batch: 1000 });
});

test("D-4.4 batches of both directions of one table stay apart", async () => {
  const feed = new RunEvents<RunNews>();
  feed.publish(batch(1));
  feed.publish(batch(1, { direction: "pull" }));
  feed.publish({ type: "finished" });
  const types = (await Array.fromAsync(feed.news())).map(({ type }) => type);
  expect(types).toEqual(["batch", "batch", "finished"]);
});

test("D-4.4 the events of a pull, with what arrived and how much there is", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 3 });
  put(ends.there, ends.table, manyRows(5));
  const started = start(ends);
  const events: unknown[] = [];
  const reading = (async () => {
    for await (const event of started.news()) events.push(event);
  })();
  await ends.time.run(started.outcome);
  await reading;
  const subject = { table: "items", direction: "pull" };
  const rates = { elapsedMs: 0, rowsPerSecond: expect.any(Number) };
  expect(events).toEqual([
    { type: "start", ...subject, totalRecords: 5 },
    {
      ...{ type: "batch", ...subject, batch: 1, totalBatches: 2, recordsSent: 3, totalSent: 3 },
      ...{ totalRecords: 5, bytesCompressed: 20, bytesUncompressed: 200 },
      ...{ upserted: 3, errorCount: 0, ...rates },
    },
    {
      ...{ type: "batch", ...subject, batch: 2, totalBatches: 2, recordsSent: 2, totalSent: 5 },
      ...{ totalRecords: 5, bytesCompressed: 10, bytesUncompressed: 100 },
      ...{ upserted: 2, errorCount: 0, ...rates },
    },
    {
      ...{ type: "done", ...subject, status: "success", totalPulled: 5 },
      ...{ bytesCompressed: 30, bytesUncompressed: 300, durationMs: 0 },
    },
    { type: "finished" },
  ]);
});

test("D-4.3, D-4.4 a table with refused records ends as partial", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  ends.here.refuse = (_, { k }) => (k === "k-0001" ? "Not here" : null);
  const { run, events, error } = await runOf(ends);
  expect(run).toMatchObject({ status: "partial", totalPulled: 2, errorCount: 1 });
  expect(events.at(-2)).toMatchObject({ type: "done", status: "partial", totalPulled: 2 });
  expect(error).toBe(null);
});
