import type { ClientSession, Db, Document, Long } from "mongodb";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { TimeSource } from "../driver/operations.ts";
import type { VersionedDeps } from "../driver/versions.ts";

/** The least time for which facts are reused: a transaction of another program is activity when its statements run, not at its commit. */
const MIN_REUSE_MS = 2_000;
/** Facts are reused for this multiple of the time that they took. */
const REUSE_PER_COST = 10;

export interface TableState {
  /** Equal only while nothing was written to the table, and its order is the same. */
  readonly version: string;
  /** The answer of `hasDates`; null before. */
  hasDates: boolean | null;
  /** The time that the facts took. */
  costMs: number;
}

interface KnownState extends TableState {
  readonly activity: string;
  readonly beganMs: number;
}

/** Numbers the states of tables: facts about a table hold as long as its state. */
export class TableStates {
  readonly #deps: VersionedDeps;
  readonly #known = new Map<string, KnownState>();
  #lastNumber = 0;

  constructor(deps: VersionedDeps) {
    this.#deps = deps;
  }

  /** Reads in a snapshot whose state is known. */
  async read<T>(
    table: Table,
    read: (tx: ClientSession, state: TableState) => Promise<T>,
  ): Promise<T> {
    const { client, db, versions } = this.#deps;
    const { name: tableName } = table;
    await using first = client.startSession({ snapshot: true });
    const [activity, seenVersion] = await Promise.all([
      readActivity(db, table),
      versions.ofTable(tableName, first),
    ]);
    const seen = `${seenVersion} ${activity}`;
    const known = this.#find(tableName, seen);
    if (known !== null) return await read(first, known);
    // The snapshot must not be older than the activity that names its state.
    await first.endSession();
    await using tx = client.startSession({ snapshot: true });
    const now = `${await versions.ofTable(tableName, tx)} ${activity}`;
    return await read(tx, this.#find(tableName, now) ?? this.#begin(tableName, now));
  }

  /** The last known state, while it is current and its facts may be reused. */
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

/** The server's counts of a collection, outside of snapshots: uncommitted writes count. */
interface Statistics {
  readonly ns: string;
  readonly host: string;
  readonly localTime: Date;
  readonly count: number;
  /** A collection that replaces another counts from 0; the total latency is hardly ever the same then. */
  readonly latencyStats: { readonly writes: { readonly ops: Long; readonly latency: Long } };
}

/** Asking for fewer fields takes MongoDB a third longer. */
const WITH_LATENCIES = { count: {}, latencyStats: {} };

/** Includes what only this member has. */
const NEWEST = { readConcern: { level: "local" } } as const;
/** More than there are shards. */
const MAX_DOCUMENTS = 1_000;

/**
 * Throws where no plain collection has the name: a read would find no rows there, and a write make one without indexes. Resolves to the
 * server's time.
 */
export async function assertThere(db: Db, tableName: string): Promise<Date> {
  const [found] = await readStatistics(db, tableName, { count: {} });
  return (found as Statistics).localTime;
}

/** The store's time, where the collection is there. */
export async function readNowMs({ db, storeClock }: TimeSource, table: Table): Promise<number> {
  const now = await assertThere(db, table.name);
  return storeClock?.nowMs() ?? now.getTime();
}

/** Changes with every write of any program to a table, and with its timestamp column. */
async function readActivity(db: Db, { name, timestampColumn }: Table): Promise<string> {
  const found = await readStatistics(db, name, WITH_LATENCIES);
  return `${timestampColumn} ${found.map(textOf).sort().join()}`;
}

async function readStatistics(
  db: Db,
  tableName: string,
  $collStats: Document,
): Promise<readonly Statistics[]> {
  // A cursor of the driver would take twice as long.
  const cursor = { batchSize: MAX_DOCUMENTS };
  const reply = await db.command({
    aggregate: tableName,
    pipeline: [{ $collStats }],
    cursor,
    ...NEWEST,
  });
  return reply["cursor"].firstBatch;
}

function textOf({ ns, host, count, latencyStats: { writes } }: Statistics): string {
  return `${ns} ${host} ${count} ${writes.ops} ${writes.latency}`;
}
