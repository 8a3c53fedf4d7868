// What one history of live ends stands for.
import type { RunDirection } from "../../../src/domain/sync/run/run.ts";
import { SeededRandom } from "../../support/seeded-random.ts";

/** Who has whom as its remote: a letter for each that its runs go to, now one and now another. */
export const TOPOLOGIES = {
  pair: { A: "B" },
  "foreign pair": { A: "B" },
  mutual: { A: "B", B: "A" },
  hub: { A: "H", B: "H" },
  "chain of pushes": { A: "B", B: "C" },
  "chain of pulls": { C: "B", B: "A" },
  roaming: { A: "BC" },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

export type Topology = keyof typeof TOPOLOGIES;

/** What writers do at an end. */
export type Act =
  | "new"
  | "edit"
  /** An import of a row with an old time, which leaves newer rows alone. */
  | "late"
  /** A guarded push of an old version. */
  | "guarded"
  /** A write of an old version over a newer row. */
  | "old version"
  /** A write at a time that other writes have too. */
  | "coarse"
  /** A write at a time ahead. */
  | "ahead"
  /** A write without a time. */
  | "timeless"
  /** A row that some ends refuse until the end. */
  | "refused"
  | "delete";

/** Everything that is chosen once per seed. */
export interface LiveScenario {
  readonly topology: Topology;
  readonly store: "memory" | "SQLite" | "PostgreSQL";
  /** How often each is done, beside the others; deletes only where they travel. */
  readonly acts: Readonly<Partial<Record<Act, number>>>;
  /** Type of the timestamp column. */
  readonly timeType: "datetime" | "date";
  /** Deletes travel. */
  readonly deletes: boolean;
  /** Writers give no times. */
  readonly stamped: boolean;
  /** The end that owns the rows, and alone writes them, of a table without a timestamp column; null for one that has it. */
  readonly owner: string | null;
  /** Part of the runs that are killed. */
  readonly crashes: number;
  /** Part of the requests that something happens to. */
  readonly faults: number;
  /** Part of the commits of SQLite that fail, as the disk is full. */
  readonly fullDisks: number;
  /** How far the clock of an end may be off. */
  readonly skewMs: number;
  /** Seconds between two steps. Short ones let writes and runs meet. */
  readonly gaps: readonly number[];
  /** Keys that are written at all ends. */
  readonly keys: number;
  /** Ends get the column `notes` one after the other. */
  readonly isUpgraded: boolean;
  /** What runs are started by hand, some of them more often. */
  readonly directions: readonly RunDirection[];
  /** Part of the runs that begin at the first row. */
  readonly full: number;
  /** Coarse times are cut to so many seconds. */
  readonly coarseSeconds: number;
  /**
   * Of two versions with one time that a writer put one after the other at an end, the first may not stand at the end.
   * That holds where nothing is ever sent twice.
   */
  readonly isStrict: boolean;
  /** Rows of a page or batch at most. */
  readonly maxPageRows: number;
  /** Writes and runs. */
  readonly steps: number;
}

/** In tables by date each second stands for so many. */
export const SCALE = { datetime: 1, date: 700 } as const;

const BUSY_GAPS = [1, 1, 5, 30, 100, 400];
const CALM_GAPS = [60, 100, 400];

/** Only one thing is at fault in each control. */
export const FAIR: Partial<LiveScenario> = {
  ...{ topology: "hub", store: "memory", timeType: "datetime", deletes: false, isUpgraded: false },
  ...{ owner: null, stamped: false },
  ...{ acts: { new: 4, edit: 5, late: 3, guarded: 2 }, gaps: CALM_GAPS, steps: 50 },
  ...{ crashes: 0, faults: 0, fullDisks: 0, full: 0, skewMs: 0 },
};

/**
 * Ends get a column while runs that were told of its lack, and others that were not, move the table at once. Each key is written once:
 * a version that goes without the column meets none whose contents stay in it.
 */
export const UPGRADED_IN_RUNS: Partial<LiveScenario> = {
  ...{ ...FAIR, topology: "pair", isUpgraded: true, acts: { new: 1 }, keys: 1_000_000 },
  ...{ gaps: [0.5], maxPageRows: 2, directions: ["both"] },
};

/** Chooses what a seed stands for. */
export function chooseLiveScenario(random: SeededRandom, seed: number): LiveScenario {
  const topology = random.pick(Object.keys(TOPOLOGIES) as Topology[]);
  const chosen = chooseAmongOwn(random, new SeededRandom(-seed).chance(0.3));
  if (topology === "foreign pair") return { ...chosen, topology, ...FOREIGN, stamped: false };
  const owners = OWNERS[topology] ?? [];
  if (owners.length > 0 && random.chance(0.3)) {
    return { ...chosen, topology, ...OWNED, stamped: false, owner: random.pick(owners) };
  }
  // With a remote that is new to an end its columns are too, so that nobody knows which rows of theirs are to be fetched.
  return { ...chosen, topology, isUpgraded: chosen.isUpgraded && topology !== "roaming" };
}

/** Who may own a table without times where each run goes from or to the owner, or its hub. */
const OWNERS: Partial<Record<Topology, readonly string[]>> = {
  pair: ["A", "B"],
  mutual: ["A", "B"],
  hub: ["A", "B", "H"],
};

/** Without times deletes do not travel, and what a row was in a column that an end lacks nobody knows. */
const OWNED: Partial<LiveScenario> = {
  ...{ timeType: "datetime", deletes: false, isUpgraded: false, acts: { new: 4, edit: 5 } },
};

/** A service of another kind tells of no late rows, and guards none: what can be promised of it is less. */
const FOREIGN: Partial<LiveScenario> = {
  ...{ store: "memory", timeType: "datetime", deletes: false, isUpgraded: false, faults: 0 },
  ...{ acts: { new: 4, edit: 5, late: 3, guarded: 2, refused: 1 }, gaps: CALM_GAPS },
};

/** What a seed stands for among deployments of this service. */
function chooseAmongOwn(
  random: SeededRandom,
  mayBeStamped: boolean,
): Omit<LiveScenario, "topology"> {
  const isOdd = random.chance(0.5);
  const timeType = random.pick(["datetime", "datetime", "datetime", "date"] as const);
  const refused = random.chance(0.3) ? { refused: 2 } : {};
  const stamped = timeType === "datetime" && mayBeStamped;
  const odd = stamped ? {} : isOdd ? { "old version": 2, coarse: 3, ahead: 1, timeless: 1 } : {};
  return {
    store: random.chance(0.7) ? "SQLite" : "memory",
    acts: { new: 4, edit: 5, late: 3, guarded: 2, delete: 4, ...odd, ...refused },
    timeType,
    deletes: timeType === "datetime" && random.chance(0.5),
    stamped,
    owner: null,
    crashes: random.pick([0, 0, 0.3]),
    faults: random.pick([0, 0, 0.05]),
    fullDisks: random.pick([0, 0, 0.02]),
    // Stamps hold as far as times are none ahead at the other end.
    skewMs: random.pick(stamped ? [0, 2_000, 60_000] : [0, 2_000, 200_000, 1_500_000]),
    gaps: random.pick([BUSY_GAPS, CALM_GAPS]),
    keys: random.pick([5, 25]),
    isUpgraded: random.chance(0.25),
    directions: ["push", "pull", "both", "both"],
    full: random.pick([0, 0.05]),
    coarseSeconds: 100,
    isStrict: false,
    maxPageRows: random.pick([1, 2, 3, 5, 100]),
    steps: random.int(10, 50),
  };
}
