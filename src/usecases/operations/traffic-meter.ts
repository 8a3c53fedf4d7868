// Counts the rows and lookups of this process, and adds them to the history of all instances. D-9.5. Rows count where
// synchronization wrote or removed them; pages that others pull are counted by them. A crash loses the last 5 seconds.

import { type Clock, type Logger, repeat, type Timer } from "../../ports/runtime/runtime.ts";
import { startOf, type Traffic } from "../../repositories/traffic.ts";
import type { RowCounter } from "../sync/shared/sync-deps.ts";

/** The pause between two writes of counts. */
const ADD_EVERY_MS = 5_000;

interface TrafficMeterDeps {
  readonly traffic: Pick<Traffic, "add">;
  /** Lookups of this process since the start. */
  lookups(): number;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

export class TrafficMeter implements RowCounter {
  readonly #deps: TrafficMeterDeps;
  readonly #stopped = new AbortController();
  /** Rows by the start of their minute. */
  #rows = new Map<number, number>();
  #addedLookups = 0;
  #adding: Promise<void> = Promise.resolve();

  constructor(deps: TrafficMeterDeps) {
    this.#deps = deps;
    void repeat(deps.timer, ADD_EVERY_MS, this.#stopped.signal, () => this.add());
  }

  addRows(rows: number): void {
    if (rows <= 0) return;
    const atMs = startOf("minute", this.#deps.clock.nowMs());
    this.#rows.set(atMs, (this.#rows.get(atMs) ?? 0) + rows);
  }

  /** Adds the counts so far. Never rejects: counts that could not be added go with the next. */
  add(): Promise<void> {
    this.#adding = this.#adding.then(() => this.#add());
    return this.#adding;
  }

  /** Adds the last counts. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.add();
  }

  async #add(): Promise<void> {
    const { traffic, clock, logger } = this.#deps;
    const rows = this.#rows;
    const total = this.#deps.lookups();
    const lookups = total - this.#addedLookups;
    if (rows.size === 0 && lookups === 0) return;
    this.#rows = new Map();
    const nowMs = clock.nowMs();
    // Lookups count by the time at which they are added: nothing is done while one is decided.
    const minute = startOf("minute", nowMs);
    const minutes = [...rows].map(([atMs, count]) => ({ atMs, rows: count, lookups: 0 }));
    if (lookups > 0) minutes.push({ atMs: minute, rows: 0, lookups });
    try {
      await traffic.add(minutes, nowMs);
      this.#addedLookups = total;
    } catch (error) {
      for (const [atMs, count] of rows) this.#rows.set(atMs, (this.#rows.get(atMs) ?? 0) + count);
      logger.error("What was moved and looked up could not be added to the history", error);
    }
  }
}
