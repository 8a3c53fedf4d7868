// The news of a run or comparison, as a list that does not grow with the rows. S-6, D-4.4, D-7.11, D-9.5.
import type { CompareEvent } from "./compare-events.ts";
import type { ImportEvent } from "./import-events.ts";
import type { BatchEvent, RetryNotice, RunNews } from "./run.ts";

export type News = RunNews | CompareEvent | ImportEvent;

/** Adds news. Batches of one table and direction in a row become one; of progress the last stays; a retry goes with the next. */
export function addNews<Some extends News>(list: Some[], news: Some): void {
  if (list.at(-1)?.type === "retry") list.pop();
  const joined = withLast(news, list.at(-1));
  if (joined === null) list.push(news);
  else list[list.length - 1] = joined;
}

/** The news that stand for both; null where they do not continue the last. */
function withLast<Some extends News>(news: Some, last: Some | undefined): Some | null {
  if (last?.type === "progress" && news.type === "progress") return news;
  if (last?.type !== "batch" || news.type !== "batch") return null;
  if (last.table !== news.table || last.direction !== news.direction) return null;
  return { ...news, ...summed(last, news, 1) };
}

/** The counts of a batch plus or minus those of another. */
function summed(one: BatchEvent, other: BatchEvent, sign: 1 | -1) {
  return {
    recordsSent: one.recordsSent + sign * other.recordsSent,
    bytesCompressed: one.bytesCompressed + sign * other.bytesCompressed,
    bytesUncompressed: one.bytesUncompressed + sign * other.bytesUncompressed,
    upserted: one.upserted + sign * other.upserted,
    errorCount: one.errorCount + sign * other.errorCount,
  };
}

/** The news that `now` has and `told` lacks. Both lists are made by `addNews`. */
export function newsSince(told: readonly News[], now: readonly News[]): readonly News[] {
  const [before, after] = [lasting(told), lasting(now)];
  const [lastTold, sameNow] = [before.at(-1), after[before.length - 1]];
  return [
    ...grown(lastTold, sameNow),
    ...after.slice(before.length),
    ...newRetry(told.at(-1), now.at(-1)),
  ];
}

export function hasEnded(news: readonly News[]): boolean {
  return news.at(-1)?.type === "finished";
}

function lasting(news: readonly News[]): readonly News[] {
  return news.at(-1)?.type === "retry" ? news.slice(0, -1) : news;
}

/** What has been added to the last news told. */
function grown(told: News | undefined, now: News | undefined): readonly News[] {
  if (told?.type === "progress" && now?.type === "progress") {
    return now.rows === told.rows ? [] : [now];
  }
  if (told?.type !== "batch" || now?.type !== "batch" || now.batch === told.batch) return [];
  return [{ ...now, ...summed(now, told, -1) }];
}

function newRetry(told: News | undefined, now: News | undefined): readonly RetryNotice[] {
  if (now?.type !== "retry") return [];
  return JSON.stringify(told) === JSON.stringify(now) ? [] : [now];
}
