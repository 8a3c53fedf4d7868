// What any program did to tables, by the servers' own statistics. No part of a snapshot: it runs ahead of commits.
import type { Db, Document, Long } from "mongodb";

interface Statistics {
  readonly ns: string;
  readonly host: string;
  readonly count: number;
  /** Counts begin anew with a collection that takes the place of another; the time taken is hardly ever the same. */
  readonly latencyStats: { readonly writes: { readonly ops: Long; readonly latency: Long } };
}

/** What was read in one message. */
export interface ActivityWith {
  /** As `readActivity()` gives it. */
  readonly activity: string;
  /** What further stages have added. */
  readonly added: readonly Document[];
}

/** Picking fields there would cost MongoDB a third more than telling all. */
const STATISTICS = [{ $collStats: { count: {}, latencyStats: {} } }];

/** All that the member has, whether others have it or not. */
const NEWEST = { readConcern: { level: "local" } } as const;
/** More than there are members with primaries. */
const MOST_DOCUMENTS = 1_000;

/** A text that changes whenever a program writes to one of the collections; same text, no write in between. */
export async function readActivity(db: Db, names: readonly string[]): Promise<string> {
  return (await readActivityWith(db, names, [])).activity;
}

/** As `readActivity()`, with few documents that further stages add. */
export async function readActivityWith(
  db: Db,
  [first = "", ...others]: readonly string[],
  stages: readonly Document[],
): Promise<ActivityWith> {
  const unions = others.map((coll) => ({ $unionWith: { coll, pipeline: STATISTICS } }));
  const pipeline = [...STATISTICS, ...unions, ...stages];
  // A cursor would take the driver as much again.
  const cursor = { batchSize: MOST_DOCUMENTS };
  const reply = await db.command({ aggregate: first, pipeline, cursor, ...NEWEST });
  const found: readonly Document[] = reply["cursor"].firstBatch;
  const statistics = found.filter(isStatistics);
  return {
    activity: statistics.map(textOf).sort().join(),
    added: found.filter((one) => !isStatistics(one)),
  };
}

function isStatistics(document: Document): document is Statistics {
  return "latencyStats" in document;
}

function textOf({ ns, host, count, latencyStats: { writes } }: Statistics): string {
  return `${ns} ${host} ${count} ${writes.ops} ${writes.latency}`;
}
