import type { ClientSession, Db, Long } from "mongodb";
import type { VersionedDeps } from "../driver/versions.ts";

/**
 * The least time for which facts about a table are reused. It bounds what comparing states cannot see: a
 * transaction of another program counts as activity when its statements run, not when it commits.
 */
const MIN_REUSE_MS = 2_000;
/** Facts that took long to find out are reused for this multiple of that time. */
const REUSE_PER_COST = 10;

/** A state of a table, and what was found out about it. */
export interface TableState {
  /** Equal only while nothing was written to the table. */
  readonly version: string;
  /** The answer of `hasDates`; null before it was asked for. */
  hasDates: boolean | null;
  /** The time that it took to find out what is reused. */
  costMs: number;
}

interface KnownState extends TableState {
  readonly activity: string;
  readonly beganMs: number;
}

/** Numbers the states of tables: as long as a table has the same state, what was found out about it may be used again. */
export class TableStates {
  readonly #deps: VersionedDeps;
  readonly #known = new Map<string, KnownState>();
  #lastNumber = 0;

  constructor(deps: VersionedDeps) {
    this.#deps = deps;
  }

  /** Reads once in a snapshot, of which the state is told. */
  async read<T>(
    tableName: string,
    read: (tx: ClientSession, state: TableState) => Promise<T>,
  ): Promise<T> {
    const { client, db, versions } = this.#deps;
    let tx = client.startSession({ snapshot: true });
    try {
      const [activity, seenVersion] = await Promise.all([
        readActivity(db, tableName),
        versions.ofTable(tableName, tx),
      ]);
      const seen = `${seenVersion} ${activity}`;
      const known = this.#find(tableName, seen);
      if (known !== null) return await read(tx, known);
      // A state is named by its activity, so what is read in it must not be older than that.
      await tx.endSession();
      tx = client.startSession({ snapshot: true });
      const now = `${await versions.ofTable(tableName, tx)} ${activity}`;
      return await read(tx, this.#find(tableName, now) ?? this.#begin(tableName, now));
    } finally {
      await tx.endSession();
    }
  }

  /** The table's last known state, where it is this one and what was found out about it may still be used. */
  #find(tableName: string, activity: string): TableState | null {
    const known = this.#known.get(tableName);
    if (known?.activity !== activity) return null;
    const reuseMs = Math.max(MIN_REUSE_MS, REUSE_PER_COST * known.costMs);
    return this.#deps.clock.monotonicMs() < known.beganMs + reuseMs ? known : null;
  }

  #begin(tableName: string, activity: string): TableState {
    this.#lastNumber++;
    const beganMs = this.#deps.clock.monotonicMs();
    const version = String(this.#lastNumber);
    const state: KnownState = { version, activity, beganMs, hasDates: null, costMs: 0 };
    this.#known.set(tableName, state);
    return state;
  }
}

/** The server's counts of a collection. They are in no snapshot: they count writes before they are committed. */
interface Statistics {
  readonly ns: string;
  readonly host: string;
  readonly count: number;
  /** A collection that replaces another counts from 0 again; the total latency is hardly ever the same then. */
  readonly latencyStats: { readonly writes: { readonly ops: Long; readonly latency: Long } };
}

/** All of it: with fewer fields it takes MongoDB a third longer. */
const STATISTICS = [{ $collStats: { count: {}, latencyStats: {} } }];

/** Includes what only this member has. */
const NEWEST = { readConcern: { level: "local" } } as const;
/** More than there are shards. */
const MAX_DOCUMENTS = 1_000;

/** A text that changes with every write of any program to a table. */
async function readActivity(db: Db, tableName: string): Promise<string> {
  // A cursor of the driver would take as long again.
  const cursor = { batchSize: MAX_DOCUMENTS };
  const command = { aggregate: tableName, pipeline: STATISTICS, cursor, ...NEWEST };
  const reply = await db.command(command);
  const found: readonly Statistics[] = reply["cursor"].firstBatch;
  return found.map(textOf).sort().join();
}

function textOf({ ns, host, count, latencyStats: { writes } }: Statistics): string {
  return `${ns} ${host} ${count} ${writes.ops} ${writes.latency}`;
}
