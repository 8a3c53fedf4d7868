import type { Row } from "../../src/domain/sync/table/table.ts";
import { compareTables } from "../support/rows/compare-tables.ts";
import { checkEnds, MarkerCheck } from "./checks.ts";
import type { Scenario } from "./scenario.ts";
import type { SimProcess } from "./sim-process.ts";
import { makeWorld, runQuietly, type StartWorldRun, startWorldRun, type World } from "./world.ts";

/** How a seed went. */
export interface SeedResult {
  /** What was wrong; null when nothing was. */
  readonly problem: string | null;
  readonly world: World;
  /** Runs that were started, and how those ended that did. */
  readonly statuses: readonly string[];
}

/** Every so many seeds the ends are compared by the product, too. */
const COMPARED_SEEDS = 8;
/** Time for late commits, late requests and runs that are still going on. */
const SETTLE_MS = 300_000;
const MAX_WAITS = 20;
const MAX_CRASH_MS = 40_000;
/** Longer than a lease lasts, with what may be late beside it shorter than the least allowance. */
const PAUSE_MS = 14_000;

/** Plays one seed: writers, faults, runs and crashes, then quiet, after which both ends must be equal. */
export async function runSeed(
  seed: number,
  options: {
    /** Parts of the scenario that are not left to the seed. */
    readonly scenario?: Partial<Scenario>;
    /** Another algorithm than the product's. */
    readonly start?: StartWorldRun;
  } = {},
): Promise<SeedResult> {
  const { start = startWorldRun } = options;
  const world = await makeWorld(seed, options.scenario);
  const statuses: string[] = [];
  let problem: string | null = null;
  const markers = new MarkerCheck(world);
  const check = (rows: readonly Row[] | null) => {
    problem ??= problemOf(() => markers.afterCommit(rows));
  };
  world.here.onCommit = check;
  world.there.onCommit = check;
  refuseBadRows(world);
  const underWay = planRuns(world, { statuses, start });
  const { scenario, time } = world;
  time.advance(scenario.durationMs);
  world.weather.faults = 0;
  world.here.refuse = () => null;
  world.there.refuse = () => null;
  time.advance(SETTLE_MS);
  // Pages of one row make some runs long.
  for (let i = 0; i < MAX_WAITS && underWay().length > 0; i++) time.advance(SETTLE_MS);
  try {
    for (let i = 0; i < 2; i++) {
      const { run } = await runQuietly(world, start);
      statuses.push(`quiet ${run.status}`);
      if (run.status !== "success") problem ??= `A quiet run ended as ${run.status}: ${run.error}`;
    }
    problem ??= problemOf(() => checkEnds(world));
    if (seed % COMPARED_SEEDS === 0) problem ??= await compareEnds(world);
  } catch (error) {
    problem ??= String(error);
  }
  return { problem, world, statuses };
}

/** The product's own comparison must find what `checkEnds` has found. */
async function compareEnds(world: World): Promise<string | null> {
  const deps = world.makeDeps(world.makeProcess());
  const comparing = compareTables(deps, { tableName: "items", repair: null });
  const { examples, ...counts } = await world.time.run(comparing);
  const matched = world.here.sortedRows(world.table).length;
  const expected = { matched, different: 0, missingHere: 0, missingThere: 0 };
  const isEqual = JSON.stringify(counts) === JSON.stringify(expected);
  return isEqual ? null : `Compared ${matched} rows: ${JSON.stringify({ ...counts, examples })}`;
}

function refuseBadRows({ here, there, scenario }: World): void {
  const refuse = (_table: unknown, row: { readonly [name: string]: unknown }) =>
    String(row["v"]).startsWith("bad") ? "Refused for now" : null;
  if (scenario.direction !== "push") here.refuse = refuse;
  if (scenario.direction !== "pull") there.refuse = refuse;
}

/** Starts runs over the whole seed. Returns which processes are still at work. */
function planRuns(
  world: World,
  { statuses, start }: { readonly statuses: string[]; readonly start: StartWorldRun },
): () => readonly SimProcess[] {
  const { scenario, time, random } = world;
  const processes = new Set<SimProcess>();
  for (let i = 0; i < scenario.runs; i++) {
    time.after(random.next() * scenario.durationMs, () => {
      const process = world.makeProcess();
      processes.add(process);
      if (random.chance(scenario.crashes)) {
        time.after(random.next() * MAX_CRASH_MS, () => process.kill());
      }
      if (random.chance(scenario.pauses)) {
        time.after(random.next() * MAX_CRASH_MS, () => process.pause(PAUSE_MS));
      }
      void start(world, process).outcome.then(({ run }) => {
        statuses.push(run.error === undefined ? run.status : `${run.status}: ${run.error}`);
        processes.delete(process);
      });
    });
  }
  return () => [...processes].filter(({ isDead }) => !isDead);
}

function problemOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
