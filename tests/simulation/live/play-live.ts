import type { Row } from "../../../src/domain/sync/table/table.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { chooseLiveScenario, type LiveScenario } from "./live-scenario.ts";
import { LiveWorld, type Sabotage } from "./live-world.ts";
import { versionOf } from "./live-writers.ts";

export interface LiveResult {
  /** What was wrong; null when nothing was. */
  readonly problem: string | null;
  readonly world: LiveWorld;
  /** Rounds of runs after which all ends were equal. */
  readonly rounds: number;
}

const MAX_CRASH_MS = 10_000;
/** For runs that are still going on. */
const SETTLE_MS = 600_000;
/** Longer than any time is ahead, whatever the clocks say. */
const QUIET_MS = 9_000_000;
/** In each, all ends that have remotes run there and back. */
const MAX_ROUNDS = 2;

/** Plays one history: writes and runs, then quiet, after which runs alone must make all ends equal, and right. */
export async function playLive(
  seed: number,
  options: { readonly scenario?: Partial<LiveScenario>; readonly sabotage?: Sabotage } = {},
): Promise<LiveResult> {
  const world = await LiveWorld.make(seed, options.scenario, options.sabotage);
  try {
    const { scale } = world;
    await planSteps(world);
    await world.time.pass(SETTLE_MS);
    if (world.failure !== null) throw world.failure;
    await world.becomeQuiet();
    await world.time.pass(QUIET_MS * scale);
    const { problem, rounds } = await convene(world);
    return { problem, rounds, world };
  } catch (error) {
    return { problem: String(error), rounds: 0, world };
  } finally {
    await world.close();
  }
}

/** The same where the ends have databases of a server, a hundred times as long; one of another kind counts as of our own. */
export async function playOnServer(seed: number): Promise<LiveResult> {
  const { topology } = chooseLiveScenario(new SeededRandom(seed), seed);
  const scenario = { store: "PostgreSQL", fullDisks: 0 } as const;
  return await playLive(seed, {
    scenario: topology === "foreign pair" ? { ...scenario, topology: "pair" } : scenario,
  });
}

/** Lets everybody write and run. */
async function planSteps(world: LiveWorld): Promise<void> {
  const { scenario, random, time, writers, ends } = world;
  for (let i = 0; i < scenario.steps; i++) {
    await time.pass(random.pick(scenario.gaps) * 1_000 * world.scale);
    const old = [...ends.values()].filter(({ hasNotes }) => !hasNotes);
    if (old.length > 0 && random.chance(0.1)) await world.do(() => world.upgrade(random.pick(old)));
    else if (random.chance(0.6)) await world.do(() => writers.act());
    else startRun(world);
  }
}

function startRun(world: LiveWorld): void {
  const { scenario, random, time, runners } = world;
  const direction = random.pick(scenario.directions);
  const isFull = random.chance(scenario.full);
  const process = world.run(random.pick(runners), { direction, isFull });
  if (!random.chance(scenario.crashes)) return;
  time.after(random.next() * MAX_CRASH_MS, () => process.kill());
}

/** Runs until all ends are equal. */
async function convene(world: LiveWorld): Promise<Pick<LiveResult, "problem" | "rounds">> {
  const { runners, ends, ledger } = world;
  const legs = runners.flatMap((name) => world.remotesOf(name).map((remote) => ({ name, remote })));
  for (let rounds = 1; ; rounds++) {
    for (const { name, remote } of [...legs, ...legs.toReversed()]) {
      const { run } = await world.runToEnd(name, remote);
      const isGood = run.status === "success" || (run.status === "partial" && rounds === 1);
      if (!isGood)
        return { problem: `A quiet run of ${name} ended as ${run.status}: ${run.error}`, rounds };
      await world.time.pass(1_000);
    }
    const contents = await Promise.all(
      [...ends.values()].map(async (end) => contentOf(await end.rows())),
    );
    const isEqual = new Set(contents).size === 1;
    if (!isEqual && rounds === MAX_ROUNDS) return { problem: difference(world, contents), rounds };
    if (!isEqual) continue;
    const [end] = ends.values();
    const rows = (await end?.rows()) ?? [];
    return {
      problem: ledger.problem(new Map(rows.map((row) => [String(row["k"]), versionOf(row)]))),
      rounds,
    };
  }
}

function contentOf(rows: readonly Row[]): string {
  return rows
    .map((row) => JSON.stringify(row))
    .sort()
    .join("\n");
}

function difference(world: LiveWorld, contents: readonly string[]): string {
  const lines = contents.map((content) => new Set(content.split("\n")));
  return [...world.ends.keys()]
    .map((name, i) => {
      const only = [...(lines[i] ?? [])].filter((line) => !lines.every((other) => other.has(line)));
      return `only at some, ${name}: ${only.join()}`;
    })
    .join("\n");
}
