// What workers have counted that are no more. D-10.11.
import { AggregatorRegistry } from "prom-client";
import type { MetricsSnapshot } from "../../ports/runtime/metrics.ts";

interface KnownMetric {
  readonly name: string;
  readonly type: string;
}

/** The sums of two snapshots, without what only a living process or the store can tell. */
export async function sumCounters(
  sums: MetricsSnapshot,
  ended: MetricsSnapshot,
): Promise<MetricsSnapshot> {
  const parts = [sums, ended].map((metrics) => metrics.filter((metric) => isCounted(metric)));
  const known = parts as Parameters<typeof AggregatorRegistry.aggregate>[0];
  return await AggregatorRegistry.aggregate(known).getMetricsAsJSON();
}

function isCounted(metric: object): boolean {
  const { name, type } = metric as KnownMetric;
  return type !== "gauge" && !name.startsWith("process_");
}
