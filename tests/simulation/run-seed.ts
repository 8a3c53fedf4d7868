import type { Row } from "../../src/domain/sync/table.ts";
import { checkEnds, MarkerCheck } from "./checks.ts";
import { makeWorld, runQuietly, startWorldRun, type World } from "./world.ts";

/** How a seed went. */
export interface SeedResult {
  /** What was wrong; null when nothing was. */
  readonly problem: string | null;
  readonly world: World;
  /** Runs that were started, and how those ended that did. */
  readonly statuses: readonly string[];
}

/** Time for late commits, late requests and runs that are still going on. */
const SETTLE_MS = 300_000;
const MAX_CRASH_MS = 40_000;

/** Plays one seed: writers, faults, runs and crashes, then quiet, after which both ends must be equal. */
export async function runSeed(
  seed: number,
  changes: Parameters<typeof makeWorld>[1] = {},
): Promise<SeedResult> {
  const world = await makeWorld(seed, changes);
  const statuses: string[] = [];
  let problem: string | null = null;
  const markers = new MarkerCheck(world);
  const check = (rows: readonly Row[] | null) => {
    problem ??= problemOf(() => markers.afterCommit(rows));
  };
  world.here.onCommit = check;
  world.there.onCommit = check;
  world.rejected.onCommit = () => check(null);
  refuseBadRows(world);
  planRuns(world, statuses);
  const { scenario, time } = world;
  time.advance(scenario.durationMs);
  world.weather.faults = 0;
  world.here.refuse = () => null;
  world.there.refuse = () => null;
  time.advance(SETTLE_MS);
  try {
    for (let i = 0; i < 2; i++) {
      const { run } = await runQuietly(world);
      statuses.push(`quiet ${run.status}`);
      if (run.status !== "success") problem ??= `A quiet run ended as ${run.status}: ${run.error}`;
    }
    problem ??= problemOf(() => checkEnds(world));
  } catch (error) {
    problem ??= String(error);
  }
  return { problem, world, statuses };
}

function refuseBadRows({ here, there, scenario }: World): void {
  const refuse = (_table: unknown, row: { readonly [name: string]: unknown }) =>
    String(row["v"]).startsWith("bad") ? "Refused for now" : null;
  if (scenario.direction !== "push") here.refuse = refuse;
  if (scenario.direction !== "pull") there.refuse = refuse;
}

function planRuns(world: World, statuses: string[]): void {
  const { scenario, time, random } = world;
  for (let i = 0; i < scenario.runs; i++) {
    time.after(random.next() * scenario.durationMs, () => {
      const process = world.makeProcess();
      if (random.chance(scenario.crashes)) {
        time.after(random.next() * MAX_CRASH_MS, () => process.kill());
      }
      void startWorldRun(world, process).outcome.then(({ run }) => {
        statuses.push(run.error === undefined ? run.status : `${run.status}: ${run.error}`);
      });
    });
  }
}

function problemOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
