// For how long what was found out about a table may be used again.
import type { Stopwatch } from "../driver/deadline.ts";

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
