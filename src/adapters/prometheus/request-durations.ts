import type { Histogram, Registry } from "prom-client";
import type { AnsweredRequest } from "../../ports/runtime/metrics.ts";

const NAME = "repsync_http_request_duration_seconds";
const HELP = "Time from a request's head to its reply's head, by path, method and status";
const NO_ROUTE = "none";
const BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];
const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

interface Series {
  readonly labels: Readonly<Record<"route" | "method" | "status", string>>;
  /** Counts by bucket, not cumulative; the last bucket has no bound. */
  readonly counts: number[];
  sumMs: number;
}

/**
 * Durations of requests. The library's histogram makes a text of the labels for each observation, a large part of the cost
 * of a request that is answered from memory; this one only adds to numbers.
 */
export class RequestDurations {
  readonly #series = new Map<string, Map<string, Map<number, Series>>>();

  constructor(registry: Registry) {
    const head = { name: NAME, help: HELP, type: "histogram", aggregator: "sum" };
    const get = async () => ({ ...head, values: [...this.#allSeries()].flatMap(valuesOf) });
    // A registry needs no more of a metric, but the library's types accept only its own classes.
    registry.registerMetric({ ...head, get } as unknown as Histogram);
  }

  count({ route, method, status }: AnsweredRequest, durationMs: number): void {
    const byMethod = entryOf(this.#series, route ?? NO_ROUTE, () => new Map());
    // Callers may send invented methods, which must not become labels.
    const name = METHODS.includes(method) ? method : "other";
    const byStatus = entryOf(byMethod, name, () => new Map());
    const series = entryOf(byStatus, status, () => newSeries(route ?? NO_ROUTE, name, status));
    let bucket = 0;
    while (bucket < BUCKETS_MS.length && durationMs > (BUCKETS_MS[bucket] ?? 0)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sumMs += durationMs;
  }

  *#allSeries(): Generator<Series> {
    for (const byMethod of this.#series.values()) {
      for (const byStatus of byMethod.values()) yield* byStatus.values();
    }
  }
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = make();
  map.set(key, value);
  return value;
}

function newSeries(route: string, method: string, status: number): Series {
  const counts = [...BUCKETS_MS.map(() => 0), 0];
  return { labels: { route, method, status: String(status) }, counts, sumMs: 0 };
}

function valuesOf({ labels, counts, sumMs }: Series) {
  let total = 0;
  const buckets = counts.map((count, i) => {
    total += count;
    const bound = BUCKETS_MS[i];
    const le = bound === undefined ? "+Inf" : String(bound / 1000);
    return { metricName: `${NAME}_bucket`, labels: { le, ...labels }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels, value: sumMs / 1000 },
    { metricName: `${NAME}_count`, labels, value: total },
  ];
}
