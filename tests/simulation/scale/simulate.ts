// npm run simulate:scale [-- SEEDS]
// Plays lookups on clusters of many sizes, with busy accounts and without, and prints a table for docs/operating.md.
import { type ClusterPlan, type ClusterResult, simulateCluster } from "./lookup-cluster.ts";
import { MEASURED } from "./measured.ts";

const seeds = Number(process.argv[2] ?? 5);
const PLANS: readonly Omit<ClusterPlan, "seed" | keyof typeof MEASURED>[] = [
  1, 2, 4, 8, 16,
].flatMap((instances) =>
  [
    { hotShare: 0, areAccountsPinned: false },
    { hotShare: 0.5, areAccountsPinned: false },
    { hotShare: 0.5, areAccountsPinned: true },
  ].map((who) => ({
    ...who,
    instances,
    accounts: 10_000,
    perSecond: 1_250 * instances,
    seconds: 5,
  })),
);

console.log(
  "instances | asked/s | busiest | pinned | answered/s | p50 ms | p99 ms | conflicts | batch",
);
for (const plan of PLANS) {
  const results = Array.from({ length: seeds }, (_, seed) =>
    simulateCluster({ ...MEASURED, ...plan, seed }),
  );
  const mean = (name: keyof ClusterResult) =>
    results.reduce((sum, result) => sum + result[name], 0) / seeds;
  const cells = [
    ...[plan.instances, plan.perSecond, `${plan.hotShare * 100} %`, plan.areAccountsPinned],
    ...[mean("perSecond").toFixed(0), mean("p50Ms").toFixed(1), mean("p99Ms").toFixed(1)],
    ...[mean("conflicts").toFixed(2), mean("batchSize").toFixed(1)],
  ];
  console.log(cells.join(" | "));
}
