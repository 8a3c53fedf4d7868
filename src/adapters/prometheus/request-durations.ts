import type { Histogram, Registry } from "prom-client";
import type { AnsweredRequest } from "../../ports/http/metrics.ts";

const NAME = "repsync_http_request_duration_seconds";
const HELP = "Time from a request's head to its reply's head, by path, method and status";
const NO_ROUTE = "none";
const BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];
const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The requests with the same labels. */
interface Cell {
  readonly labels: Readonly<Record<"route" | "method" | "status", string>>;
  /** By bucket, not summed up; the last one has no bound. */
  readonly counts: number[];
  sumMs: number;
}

/**
 * Durations of requests. The histogram of the library makes a text of the labels for each observation, which is much of
 * what a request costs that is answered from memory; this one only adds to numbers.
 */
export class RequestDurations {
  /** By route, method and status. */
  readonly #cells = new Map<string, Map<string, Map<number, Cell>>>();

  constructor(registry: Registry) {
    const head = { name: NAME, help: HELP, type: "histogram", aggregator: "sum" };
    const get = async () => ({ ...head, values: [...this.#allCells()].flatMap(valuesOf) });
    // All that a registry asks of a metric; the library's types know its own classes only.
    registry.registerMetric({ ...head, get } as unknown as Histogram);
  }

  /** Counts one request. */
  count({ route, method, status }: AnsweredRequest, durationMs: number): void {
    const byMethod = entryOf(this.#cells, route ?? NO_ROUTE, () => new Map());
    // A caller may make up methods, which must not become labels.
    const name = METHODS.includes(method) ? method : "other";
    const byStatus = entryOf(byMethod, name, () => new Map());
    const cell = entryOf(byStatus, status, () => newCell(route ?? NO_ROUTE, name, status));
    let bucket = 0;
    while (bucket < BUCKETS_MS.length && durationMs > (BUCKETS_MS[bucket] ?? 0)) bucket++;
    cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1;
    cell.sumMs += durationMs;
  }

  *#allCells(): Generator<Cell> {
    for (const byMethod of this.#cells.values()) {
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

function newCell(route: string, method: string, status: number): Cell {
  const counts = [...BUCKETS_MS.map(() => 0), 0];
  return { labels: { route, method, status: String(status) }, counts, sumMs: 0 };
}

function valuesOf({ labels, counts, sumMs }: Cell) {
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
