// Other programs that write rows at one end, with timestamps of its clock, and commit them some time later.

import { formatMs } from "../../src/domain/shared/time.ts";
import type { Row, Table } from "../../src/domain/sync/table/table.ts";
import type { Clock } from "../../src/ports/runtime/runtime.ts";
import type { MemoryTables } from "../support/memory/tables.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { SimTime } from "../support/time/sim-time.ts";
import type { Scenario } from "./scenario.ts";

/** One end as its writers see it. */
export interface WritersEnd {
  readonly name: "here" | "there";
  readonly storage: MemoryTables;
  readonly clock: Clock;
  readonly table: Table;
}

const DAY_MS = 86_400_000;
/** Keys that a writer changes again and again. */
const KEYS = 12;

/** Plans what is written at one end over the whole seed. */
export function planWrites(
  world: { readonly time: SimTime; readonly random: SeededRandom; readonly scenario: Scenario },
  end: WritersEnd,
): SimWriters {
  const { time, random, scenario } = world;
  const writers = new SimWriters(world, end);
  for (let i = 0; i < scenario.writes; i++) {
    time.after(random.next() * scenario.durationMs, () => writers.write());
  }
  return writers;
}

/** The writers of one end, and what they have written. */
export class SimWriters {
  /** The version of every row that was last committed here by a writer. */
  readonly committed = new Map<string, string>();
  readonly #world: Parameters<typeof planWrites>[0];
  readonly #end: WritersEnd;
  /** Keys of transactions that have begun: a database would have locked them. */
  readonly #locked = new Set<string>();
  #versions = 0;
  #newKeys = 0;

  constructor(world: Parameters<typeof planWrites>[0], end: WritersEnd) {
    this.#world = world;
    this.#end = end;
  }

  /** One transaction: some rows, or very many with one timestamp. */
  write(): void {
    const { random, scenario, time } = this.#world;
    const isBulk = random.chance(0.06);
    const rows = isBulk
      ? random.int(1, 4) * scenario.maxPageRows + random.int(0, 3)
      : random.int(1, 3);
    const isNew = isBulk || this.#end.table.updateColumns.length === 0;
    const at = this.#timestamp(isNew);
    const keys = Array.from({ length: rows }, () => this.#chooseKey(isNew));
    const free = [...new Set(keys)].filter((key) => !this.#locked.has(key));
    for (const key of free) this.#locked.add(key);
    const bad = random.chance(scenario.refusals) ? "bad-" : "";
    const version = `${bad}${this.#end.name}-${this.#versions++}`;
    // What is read off a whole second may be late by it.
    const lateMs = random.next() * Math.max(0, scenario.lateMs - (scenario.isCoarse ? 1000 : 0));
    time.after(lateMs, () => {
      for (const key of free) {
        this.#commit(key, { v: `${version}`, at });
        this.#locked.delete(key);
      }
    });
  }

  /**
   * Null for some new rows: those without a timestamp. They rank below all, and those ahead below most: an edit with such
   * a time is one that loses. D-7.1.
   */
  #timestamp(isNew: boolean): string | null {
    const { random, scenario } = this.#world;
    const { clock, table } = this.#end;
    if (isNew && random.chance(0.08) && scenario.entry.conflict !== "newer") return null;
    const isAhead = isNew && random.chance(0.02) && scenario.entry.conflict !== "newer";
    const nowMs = clock.nowMs() + (isAhead ? DAY_MS : 0);
    const type = table.columns.find(({ name }) => name === table.timestampColumn)?.type;
    if (type === "date") return formatMs(nowMs).slice(0, 10);
    if (scenario.isCoarse) return formatMs(Math.floor(nowMs / 1000) * 1000);
    const micros = String(random.int(0, 999)).padStart(3, "0");
    const text = new Date(nowMs).toISOString().replace("Z", `${micros}Z`);
    return text.replace("000Z", "Z").replace(".000Z", "Z");
  }

  #chooseKey(isNew: boolean): string {
    const { random, scenario } = this.#world;
    const owner = scenario.isShared ? "any" : this.#end.name;
    if (isNew) return `${this.#end.name}:${1000 + this.#newKeys++}`;
    return `${owner}:${random.int(0, KEYS)}`;
  }

  #commit(key: string, { v, at }: { readonly v: string; readonly at: string | null }): void {
    const { storage, table } = this.#end;
    const [owner = "", n = ""] = key.split(":");
    const timestamp = table.timestampColumn === null ? {} : { [table.timestampColumn]: at };
    const values: Row = table.keyColumns.length === 1 ? { k: key } : { owner, n };
    this.committed.set(key, v);
    storage.writeOwn(table, { ...values, v, ...timestamp });
  }
}
