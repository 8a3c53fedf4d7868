import process from "node:process";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { AlertType } from "../../domain/alerts/alert.ts";
import type { SyncRun } from "../../domain/sync/run/run.ts";
import {
  type AlertOutcome,
  type AnsweredRequest,
  METHODS,
  type Metrics,
  type ServiceState,
  type TableGauge,
  type TransferCounts,
} from "../../ports/runtime/metrics.ts";

const REQUEST_BUCKETS_SECONDS = [
  ...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5],
  ...[1, 2.5, 5, 10, 30],
];
const NO_ROUTE = "none";
const RUN_BUCKETS_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const TABLE_LABELS = ["table", "direction"] as const;

interface ProcessInfo {
  readonly version: string;
  readonly runtimeVersion: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
}

export class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram<"route" | "method" | "status">;
  readonly #runs: ReturnType<typeof runMetrics>;
  readonly #alerts: Counter<"type" | "outcome">;
  readonly #state: ReturnType<typeof stateMetrics>;

  constructor({ version, runtimeVersion, startedAtMs }: ProcessInfo) {
    const registers = [this.#registry];
    this.#requests = new Histogram({
      name: "repsync_http_request_duration_seconds",
      help: "Time from a request's head to its reply's head, by path, method and status",
      labelNames: ["route", "method", "status"],
      buckets: REQUEST_BUCKETS_SECONDS,
      registers,
    });
    this.#runs = runMetrics(registers);
    this.#alerts = new Counter({
      name: "repsync_alerts_total",
      help: "Attempts to deliver alerts, and alerts that were given up",
      labelNames: ["type", "outcome"],
      registers,
    });
    this.#state = stateMetrics(registers);
    addProcessMetrics(registers, startedAtMs);
    const help = "Always 1; the labels say what runs here";
    const labelNames = ["version", "runtime"];
    const info = new Gauge({ name: "repsync_build_info", help, labelNames, registers });
    info.set({ version, runtime: runtimeVersion }, 1);
  }

  countRequest({ route, method, status }: AnsweredRequest, durationMs: number): void {
    const known = METHODS.has(method) ? method : "other";
    const labels = { route: route ?? NO_ROUTE, method: known, status };
    this.#requests.observe(labels, durationMs / 1000);
  }

  countRun({ status, direction, trigger, durationMs }: SyncRun): void {
    this.#runs.runs.inc({ status, direction, trigger });
    this.#runs.durations.observe({ direction, status }, durationMs / 1000);
  }

  countMoved({ table, direction, ...moved }: TransferCounts): void {
    this.#runs.rows.inc({ table, direction }, moved.rows);
    this.#runs.rejected.inc({ table, direction }, moved.rejected);
    const bytes = { compressed: moved.bytesCompressed, uncompressed: moved.bytesUncompressed };
    for (const [form, count] of Object.entries(bytes)) {
      this.#runs.bytes.inc({ table, direction, form }, count);
    }
  }

  countAlert(type: AlertType, outcome: AlertOutcome): void {
    this.#alerts.inc({ type, outcome });
  }

  async expose(now: ServiceState): Promise<string> {
    const { activeRuns, store, lookups } = now;
    const state = this.#state;
    state.activeRuns.set(activeRuns);
    state.storeUp.set(store === null ? 0 : 1);
    state.storeDamaged.set(now.isStoreDamaged ? 1 : 0);
    state.registryProblem.set(now.hasRegistryProblem ? 1 : 0);
    setTableGauges(state.markerLags, store?.markerLags ?? []);
    setTableGauges(state.rejected, store?.rejectedRecords ?? []);
    state.drift.reset();
    for (const [table, rows] of store?.driftRows ?? []) state.drift.set({ table }, rows);
    state.pendingAlerts.set(store?.pendingAlerts ?? 0);
    const backupAge = store?.backupAgeSeconds ?? null;
    if (backupAge !== null) state.backupAge.set({}, backupAge);
    else state.backupAge.remove();
    state.lookups.reset();
    for (const { outcome, code, count } of lookups.outcomes) {
      state.lookups.inc({ outcome, code }, count);
    }
    setTo(state.cacheHits, lookups.cache.hits);
    setTo(state.cacheMisses, lookups.cache.misses);
    setTo(state.cacheEvictions, lookups.cache.evictions);
    state.cacheEntries.set(lookups.cache.entries);
    return await this.#registry.metrics();
  }
}

function runMetrics(registers: Registry[]) {
  return {
    runs: new Counter({
      name: "repsync_sync_runs_total",
      help: "Sync runs that ended in this process",
      labelNames: ["status", "direction", "trigger"],
      registers,
    }),
    durations: new Histogram({
      name: "repsync_sync_run_duration_seconds",
      help: "Duration of sync runs",
      labelNames: ["direction", "status"],
      buckets: RUN_BUCKETS_SECONDS,
      registers,
    }),
    rows: new Counter({
      name: "repsync_sync_rows_total",
      help: "Rows that runs have written at the remote or here",
      labelNames: TABLE_LABELS,
      registers,
    }),
    rejected: new Counter({
      name: "repsync_sync_refusals_total",
      help: "Rejections of records by the remote or here",
      labelNames: TABLE_LABELS,
      registers,
    }),
    bytes: new Counter({
      name: "repsync_sync_bytes_total",
      help: "Bytes of the bodies that runs have sent and received, on the wire and before compression",
      labelNames: [...TABLE_LABELS, "form"],
      registers,
    }),
  };
}

function stateMetrics(registers: Registry[]) {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const tableGauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: TABLE_LABELS, registers });
  return {
    activeRuns: gauge("repsync_sync_runs_active", "Sync runs under way in this process"),
    storeUp: gauge("repsync_store_up", "1 when the store answers, else 0"),
    storeDamaged: gauge(
      "repsync_store_damaged",
      "1 when this process has met damage of the store, else 0",
    ),
    registryProblem: gauge(
      "repsync_registry_problem",
      "1 while the registry file cannot be taken up, or a table is not used, else 0",
    ),
    markerLags: tableGauge("repsync_sync_marker_lag_seconds", "Age of each last-sync marker"),
    rejected: tableGauge(
      "repsync_sync_rejected_records",
      "Rejected records that wait for the next run",
    ),
    drift: new Gauge({
      name: "repsync_sync_drift_rows",
      help: "Rows by which both ends differed when the last run over a table ended",
      labelNames: ["table"],
      registers,
    }),
    backupAge: gauge("repsync_backup_age_seconds", "Age of the last scheduled backup"),
    pendingAlerts: gauge("repsync_alerts_pending", "Alerts that wait for their delivery"),
    lookups: new Counter({
      name: "repsync_lookups_total",
      help: "Lookups by outcome and code of the problem",
      labelNames: ["outcome", "code"],
      registers,
    }),
    cacheHits: counter("repsync_lookup_cache_hits_total", "Lookup reads answered from the cache"),
    cacheMisses: counter(
      "repsync_lookup_cache_misses_total",
      "Lookup reads answered from the store",
    ),
    cacheEvictions: counter(
      "repsync_lookup_cache_evictions_total",
      "Values evicted because the cache was full",
    ),
    cacheEntries: gauge("repsync_lookup_cache_entries", "Values in the lookup caches"),
  };
}

function setTableGauges(gauge: Gauge<"table" | "direction">, values: readonly TableGauge[]): void {
  gauge.reset();
  for (const { table, direction, value } of values) gauge.set({ table, direction }, value);
}

function setTo(counter: Counter, value: number): void {
  counter.reset();
  counter.inc(value);
}

/** The library's own process metrics need figures that Bun lacks, and keep a timer running. */
function addProcessMetrics(registers: Registry[], startedAtMs: number): void {
  new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time, in seconds",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Memory in use, in bytes",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  const help = "When the process started, in seconds since 1970";
  new Gauge({ name: "process_start_time_seconds", help, registers }).set(startedAtMs / 1000);
}
