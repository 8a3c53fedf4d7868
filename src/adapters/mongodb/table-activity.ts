// What any program did to tables, by the servers' own statistics. No part of a snapshot: it runs ahead of commits.
import type { Db, Document } from "mongodb";

/** A text that changes whenever a program writes to one of the collections; same text, no write in between. */
export async function readActivity(db: Db, names: readonly string[]): Promise<string> {
  const [first = "", ...others] = names;
  const unions = others.map((coll) => ({ $unionWith: { coll, pipeline: statistics(coll) } }));
  const shards = await db
    .collection(first)
    .aggregate([...statistics(first), ...unions])
    .toArray();
  return shards
    .map(({ name, host, count, writes, micros }) => `${name} ${host} ${count} ${writes} ${micros}`)
    .sort()
    .join();
}

function statistics(name: string): Document[] {
  return [
    { $collStats: { count: {}, latencyStats: {} } },
    {
      $project: {
        name: { $literal: name },
        host: 1,
        count: 1,
        writes: "$latencyStats.writes.ops",
        // Counts begin anew with a collection that takes the place of another; the time taken is hardly ever the same.
        micros: "$latencyStats.writes.latency",
      },
    },
  ];
}
