// npm run test:seeds -- [seeds] [first seed]: plays many seeds of both simulations, prints those that fail and how all runs
// ended.
import { takeLastSteps } from "../support/test-run.ts";
import { UPGRADED_IN_RUNS } from "./live/live-scenario.ts";
import { playLive, playOnServer } from "./live/play-live.ts";
import { runSeed } from "./run-seed.ts";

interface Played {
  readonly problem: string | null;
  readonly scenario: unknown;
  readonly statuses: readonly string[];
}

/** Live ones take longer, as their stores are real. */
const SIMULATIONS: readonly (readonly [
  name: string,
  part: number,
  (seed: number) => Promise<Played>,
])[] = [
  [
    "one end that runs",
    1,
    async (seed) => {
      const { problem, world, statuses } = await runSeed(seed);
      return { problem, scenario: world.scenario, statuses };
    },
  ],
  [
    "live ends",
    0.25,
    async (seed) => {
      const { problem, world } = await playLive(seed);
      return { problem, scenario: world.scenario, statuses: world.outcomes };
    },
  ],
  [
    "live ends that are upgraded in their runs",
    0.25,
    async (seed) => {
      const { problem, world } = await playLive(seed, { scenario: UPGRADED_IN_RUNS });
      return { problem, scenario: world.scenario, statuses: world.outcomes };
    },
  ],
  [
    "live ends on PostgreSQL",
    0.0125,
    async (seed) => {
      const { problem, world } = await playOnServer(seed);
      return { problem, scenario: world.scenario, statuses: world.outcomes };
    },
  ],
];

const [count = "20000", first = "1"] = process.argv.slice(2);
let failed = 0;
for (const [name, part, play] of SIMULATIONS) {
  failed += await playAll(name, Math.ceil(Number(count) * part), play);
}
await takeLastSteps();
process.exit(failed === 0 ? 0 : 1);

/** Resolves to the number of seeds that failed. */
async function playAll(
  name: string,
  seeds: number,
  play: (seed: number) => Promise<Played>,
): Promise<number> {
  const startedAtMs = performance.now();
  const statuses = new Map<string, number>();
  let failures = 0;
  for (let seed = Number(first); seed < Number(first) + seeds; seed++) {
    const played = await play(seed);
    for (const status of played.statuses) {
      const text = status.replace(/\d+/g, "N").slice(0, 90);
      statuses.set(text, (statuses.get(text) ?? 0) + 1);
    }
    if (played.problem === null) continue;
    failures++;
    const { problem, scenario } = played;
    if (failures <= 20)
      console.log(`SEED=${seed} ${JSON.stringify(scenario)}\n  ${problem.slice(0, 600)}`);
  }
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
  for (const [text, n] of [...statuses].sort((a, b) => b[1] - a[1])) console.log(`${n} ${text}`);
  console.log(`${name}: ${seeds} seeds, ${failures} failed, ${seconds} s`);
  return failures;
}
