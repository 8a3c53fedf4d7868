// Requests that are repeated: told when it happens, beside the events.
import { expect, test } from "bun:test";
import type { RunNews } from "../../../../src/domain/sync/run/run.ts";
import { retryText } from "../../../../src/domain/sync/run/run.ts";
import { RemotePeerError } from "../../../../src/ports/tables/remote-peer.ts";
import {
  eventsOf,
  makeTwoEnds,
  manyRows,
  put,
  start,
  statusError,
  type TwoEnds,
} from "../two-ends.ts";

/** Runs a pull of three rows to its end, and gives all its news. */
async function newsOf(ends: TwoEnds): Promise<RunNews[]> {
  put(ends.there, ends.table, manyRows(3));
  const run = start(ends);
  const news = Array.fromAsync(run.news());
  await ends.time.run(run.outcome);
  return await news;
}

const texts = (news: readonly RunNews[]) =>
  news.map((item) => (item.type === "retry" ? retryText(item) : item.type));

test("D-7.11 each attempt after the first is told before its wait, with its number and why", async () => {
  const ends = await makeTwoEnds();
  let failures = 0;
  ends.intercept = ({ kind }, send) => {
    if (kind === "pull" && failures < 3) throw statusError(503, ++failures === 2 ? 4 : undefined);
    return send();
  };
  const news = await newsOf(ends);
  expect(texts(news)).toEqual([
    "retry 2 of 8 in 1 s: POST there was answered 503",
    "retry 3 of 8 in 4 s: POST there was answered 503",
    "retry 4 of 8 in 1 s: POST there was answered 503",
    ...["start", "batch", "done", "finished"],
  ]);
  expect(news[1]).toEqual({
    ...{ type: "retry", table: "items", direction: "pull", attempt: 3, maxAttempts: 8 },
    ...{ waitMs: 4000, reason: "POST there was answered 503" },
  });
});

test("D-7.11 a run that gives up has told each attempt but the first", async () => {
  const ends = await makeTwoEnds();
  ends.intercept = () => {
    throw new RemotePeerError("unreachable", "No\nway\r\n\tthere");
  };
  const news = await newsOf(ends);
  expect(texts(news)).toEqual([
    ...[2, 3, 4, 5, 6, 7, 8].map((attempt) =>
      expect.stringMatching(new RegExp(`^retry ${attempt} of 8 in \\d+ s: No way there$`)),
    ),
    ...["error", "finished"],
  ]);
});

test("D-7.11 replies that cannot be used are asked for three times", async () => {
  const ends = await makeTwoEnds();
  ends.intercept = () => {
    throw new RemotePeerError("invalid_reply", "No JSON");
  };
  expect(texts(await newsOf(ends))).toEqual([
    "retry 2 of 3 in 1 s: No JSON",
    "retry 3 of 3 in 1 s: No JSON",
    ...["error", "finished"],
  ]);
});

test("D-7.11, D-4.4 what a reader has not taken is gone when something else comes, and events stay as they are", async () => {
  const ends = await makeTwoEnds();
  let failures = 0;
  ends.intercept = ({ kind }, send) => {
    if (kind === "pull" && failures++ < 3) throw statusError(503);
    return send();
  };
  put(ends.there, ends.table, manyRows(3));
  const run = start(ends);
  const slow = run.news();
  const events = Array.fromAsync(eventsOf(run));
  await ends.time.run(run.outcome);
  expect(texts(await Array.fromAsync(slow))).toEqual(["start", "batch", "done", "finished"]);
  expect(texts(await events)).toEqual(["start", "batch", "done", "finished"]);
});
