// npm run test:seeds -- [seeds] [first seed]: plays many seeds, prints those that fail and how all runs ended.
import { runSeed } from "./run-seed.ts";

const [count = "20000", first = "1"] = process.argv.slice(2);
const startedAtMs = performance.now();
const statuses = new Map<string, number>();
let failed = 0;
let steps = 0;
for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
  const result = await runSeed(seed);
  steps += result.world.time.steps;
  for (const status of result.statuses) {
    const name = status.replace(/\d+/g, "N").slice(0, 90);
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
  }
  if (result.problem === null) continue;
  failed++;
  if (failed <= 20)
    console.log(
      `SEED=${seed} ${JSON.stringify(result.world.scenario)}\n  ${result.problem.slice(0, 600)}`,
    );
}
const seconds = (performance.now() - startedAtMs) / 1000;
console.log(
  [...statuses]
    .sort((a, b) => b[1] - a[1])
    .map(([name, n]) => `${n} ${name}`)
    .join("\n"),
);
console.log(`${count} seeds, ${failed} failed, ${steps} steps, ${seconds.toFixed(1)} s`);
process.exit(failed === 0 ? 0 : 1);
