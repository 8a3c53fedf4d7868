// What one seed stands for.

import type { RunDirection } from "../../src/domain/sync/run/run.ts";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import type { SeededRandom } from "../support/seeded-random.ts";

/** Everything that is chosen once per seed. */
export interface Scenario {
  readonly direction: RunDirection;
  readonly entry: TableEntry;
  readonly remote: "repsync" | "foreign";
  /** The foreign server sends rows without a timestamp last. */
  readonly isTimelessLast: boolean;
  /** The foreign server's own time has a zone, which its `since` must not have. */
  readonly isClockZoned: boolean;
  /** Rows of a page or batch at most, at both ends. */
  readonly maxPageRows: number;
  readonly lagSeconds: number;
  /** Longest time from a row's timestamp to its commit. */
  readonly lateMs: number;
  /** How far each end's clock is off: together by less than the 5 minutes after which a time ranks below others. */
  readonly skewMs: { readonly here: number; readonly there: number };
  /** Timestamps are cut to seconds, so that many rows share one. */
  readonly isCoarse: boolean;
  /** Either end may change any row, not only its own. */
  readonly isShared: boolean;
  readonly faults: number;
  readonly crashes: number;
  /** Part of the processes that stop for longer than their leases last. */
  readonly pauses: number;
  /** Part of the rows that the receiving end refuses for a while. */
  readonly refusals: number;
  readonly durationMs: number;
  readonly runs: number;
  readonly writes: number;
}

const ENTRIES = {
  plain: {
    timestamp_column: "at",
    upsert_key: ["k"],
    columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
  },
  composite: {
    timestamp_column: "at",
    upsert_key: ["owner", "n"],
    columns: {
      id: { type: "integer", auto_increment: true },
      owner: { type: "text" },
      n: { type: "bigint" },
      v: { type: "text", nullable: false },
      at: { type: "datetime" },
      hidden: { type: "text", serialize: false },
    },
  },
  newer: {
    timestamp_column: "at",
    upsert_key: ["k"],
    conflict: "newer",
    columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
  },
  insertOnly: {
    timestamp_column: "at",
    upsert_key: ["k"],
    update_columns: [],
    columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
  },
  daily: {
    timestamp_column: "day",
    upsert_key: ["k"],
    columns: { k: { type: "text" }, v: { type: "text" }, day: { type: "date" } },
  },
  timeless: {
    upsert_key: ["k"],
    columns: { k: { type: "text" }, v: { type: "text" } },
  },
} as const satisfies Record<string, TableEntry>;

/** Chooses what a seed stands for. */
export function chooseScenario(random: SeededRandom): Scenario {
  const direction = random.pick<RunDirection>(["pull", "pull", "push", "push", "both"]);
  const remote = random.chance(0.35) ? "foreign" : "repsync";
  const kinds = Object.keys(ENTRIES) as (keyof typeof ENTRIES)[];
  const kind = chooseKind(random, { direction, remote }) ?? random.pick(kinds);
  // The greater version of a row wins at both ends, so that both may change the same one while their clocks agree.
  const isShared = kind === "newer" && direction === "both" && random.chance(0.5);
  const isEcho = direction === "both" && kind !== "newer" && kind !== "insertOnly";
  const skewMs = () => (isShared || isEcho ? 0 : random.int(-140_000, 140_000));
  const lagSeconds = random.pick([20, 60]);
  const lateMs = random.chance(0.5) ? (lagSeconds - 2) * 1000 : 1000;
  return {
    direction,
    entry: ENTRIES[kind],
    remote,
    isTimelessLast: random.chance(0.3),
    isClockZoned: random.chance(0.5),
    maxPageRows: random.pick([1, 2, 3, 4, 5, 8, 12, 12, 16, 24]),
    lagSeconds,
    lateMs,
    skewMs: { here: skewMs(), there: skewMs() },
    isCoarse: random.chance(0.4),
    isShared,
    faults: random.pick([0, 0.02, 0.1, 0.3]),
    crashes: random.pick([0, 0, 0.3]),
    // What a process does after its pause is late, too, and the allowance is for both together.
    pauses: lateMs === 1000 ? random.pick([0, 0, 0.3]) : 0,
    refusals: random.chance(0.25) ? 0.15 : 0,
    durationMs: random.int(1, 4) * 60_000,
    runs: random.int(2, 6),
    writes: random.int(5, 40),
  };
}

/**
 * A row that goes back and forth without a rule that compares versions is nobody's own, so such seeds are few. Tables without
 * times have one owner, and go one way: D-11.9, played by `live`.
 */
function chooseKind(
  random: SeededRandom,
  { direction, remote }: Pick<Scenario, "direction" | "remote">,
): keyof typeof ENTRIES | null {
  if (direction !== "both") return null;
  const compared = remote === "foreign" ? [] : (["newer", "newer"] as const);
  return random.pick([...compared, "insertOnly", "plain"]);
}
