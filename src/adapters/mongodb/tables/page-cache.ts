import type { Db, Document, Long } from "mongodb";
import type { Stopwatch } from "../driver/deadline.ts";

// For how long what was found out about a table may be used again.

/**
 * Time for which anything is remembered at least. It bounds what the comparison of states cannot see: a transaction of
 * another program counts as activity when its statements run, not when it commits.
 */
const MEMORY_MIN_MS = 2_000;
/** What took long to find out is remembered this many times as long. */
const MEMORY_PER_COST = 10;

interface Memory {
  readonly state: string;
  readonly number: number;
  readonly beganMs: number;
  costMs: number;
}

/** Gives each state of a table, as long as it may be relied on, a name of its own. */
export class TableMemory {
  readonly #clock: Stopwatch;
  readonly #memories = new Map<string, Memory>();
  #lastNumber = 0;

  constructor(clock: Stopwatch) {
    this.#clock = clock;
  }

  /** True when this is the table's last known state and it may still be relied on. */
  isKnown(tableName: string, state: string): boolean {
    const memory = this.#memories.get(tableName);
    if (memory === undefined || memory.state !== state) return false;
    const lifeMs = Math.max(MEMORY_MIN_MS, MEMORY_PER_COST * memory.costMs);
    return this.#clock.monotonicMs() < memory.beganMs + lifeMs;
  }

  /** The name under which to remember what is found out about a state; a new one unless the state is known. */
  version(tableName: string, state: string): string {
    if (!this.isKnown(tableName, state)) {
      this.#lastNumber++;
      const beganMs = this.#clock.monotonicMs();
      this.#memories.set(tableName, { state, number: this.#lastNumber, beganMs, costMs: 0 });
    }
    return String(this.#memories.get(tableName)?.number);
  }

  /** Notes the time that it took to find something out about the table's last known state. */
  addCost(tableName: string, costMs: number): void {
    const memory = this.#memories.get(tableName);
    if (memory !== undefined) memory.costMs += costMs;
  }
}

// What any program did to tables, by the servers' own statistics. No part of a snapshot: it runs ahead of commits.

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
