// What any program did to tables, by the servers' own statistics. No part of a snapshot: it runs ahead of commits.
import type { Db, Long } from "mongodb";

interface Statistics {
  readonly ns: string;
  readonly host: string;
  readonly count: number;
  /** Counts begin anew with a collection that takes the place of another; the time taken is hardly ever the same. */
  readonly latencyStats: { readonly writes: { readonly ops: Long; readonly latency: Long } };
}

/** Picking fields there would cost MongoDB a third more than telling all. */
const STATISTICS = [{ $collStats: { count: {}, latencyStats: {} } }];

/** A text that changes whenever a program writes to one of the collections; same text, no write in between. */
export async function readActivity(db: Db, names: readonly string[]): Promise<string> {
  const [first = "", ...others] = names;
  const unions = others.map((coll) => ({ $unionWith: { coll, pipeline: STATISTICS } }));
  const shards = await db
    .collection(first)
    .aggregate<Statistics>([...STATISTICS, ...unions])
    .toArray();
  return shards.map(textOf).sort().join();
}

function textOf({ ns, host, count, latencyStats: { writes } }: Statistics): string {
  return `${ns} ${host} ${count} ${writes.ops} ${writes.latency}`;
}
