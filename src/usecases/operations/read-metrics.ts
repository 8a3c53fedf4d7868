import type { LookupRefusal } from "../../domain/reputation/accounts/consent.ts";
import { HEALTH_PROBE_MS, METRICS_READ_MS } from "../../domain/shared/limits.ts";
import { dateTimeMs } from "../../domain/shared/time.ts";
import { markerLagSeconds } from "../../domain/sync/run/remote-memory.ts";
import { SYNC_DIRECTIONS } from "../../domain/sync/run/run.ts";
import type { Registry } from "../../domain/sync/table/table.ts";
import type { LookupCount, Metrics, ServiceState } from "../../ports/runtime/metrics.ts";
import {
  type CacheCounts,
  type Clock,
  type Logger,
  type Timer,
  type ValueCache,
  within,
} from "../../ports/runtime/runtime.ts";
import type { FullStorage } from "../../ports/storage.ts";
import type { AlertOutbox } from "../../repositories/alert-outbox.ts";
import type { ScheduleTimes } from "../../repositories/kept-values.ts";
import type { RejectedRecords } from "../../repositories/rejected-records.ts";
import type { RemoteMemory } from "../../repositories/remote-memory.ts";
import type { LookupCounts, LookupTally } from "../reputation/lookups/lookup-tally.ts";
import type { ActiveRuns } from "../sync/runs/active-runs.ts";
import type { StoreDamage } from "./health.ts";
import type { RegistryKeeper } from "./registry-keeper.ts";

export interface ReadMetricsDeps {
  readonly metrics: Metrics;
  readonly activeRuns: Pick<ActiveRuns, "count">;
  readonly storage: Pick<FullStorage, "ping">;
  readonly memory: RemoteMemory;
  readonly rejected: RejectedRecords;
  readonly scheduleTimes: ScheduleTimes;
  readonly outbox: AlertOutbox;
  readonly damage: Pick<StoreDamage, "isMet" | "isKnown">;
  readonly registry: Registry;
  readonly registryKeeper: Pick<RegistryKeeper, "problem">;
  readonly tally: Pick<LookupTally, "counts">;
  readonly caches: readonly Pick<ValueCache<object>, "counts">[];
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

/** All metrics as text. A store that does not answer within three seconds counts as down. D-6.8. */
export async function readMetrics(deps: ReadMetricsDeps): Promise<string> {
  return await deps.metrics.expose({
    activeRuns: deps.activeRuns.count(),
    store: await tryReadStore(deps),
    isStoreDamaged: deps.damage.isMet,
    hasRegistryProblem: deps.registryKeeper.problem !== null,
    lookups: { outcomes: lookupCounts(deps.tally.counts()), cache: sumCounts(deps.caches) },
  });
}

type StoreState = ServiceState["store"];

async function tryReadStore(deps: ReadMetricsDeps): Promise<StoreState> {
  try {
    await deps.storage.ping(HEALTH_PROBE_MS);
    return await within(deps.timer, METRICS_READ_MS, readStore(deps));
  } catch (error) {
    if (!deps.damage.isKnown(error)) {
      deps.logger.error("Store cannot be read for the metrics", error);
    }
    return null;
  }
}

async function readStore(deps: ReadMetricsDeps): Promise<StoreState> {
  const { memory, rejected, scheduleTimes, outbox, registry, clock } = deps;
  const remembered = await memory.readAll();
  const kept = await memory.drifts();
  const lastBackup = await scheduleTimes.read("last_backup");
  const nowMs = clock.nowMs();
  const tables = [...registry.keys()];
  const markerLags = tables.flatMap((table) =>
    SYNC_DIRECTIONS.flatMap((direction) => {
      const value = markerLagSeconds(remembered.get(table)?.[direction], nowMs);
      return value === null ? [] : [{ table, direction, value }];
    }),
  );
  const rejectedRecords = await Promise.all(
    SYNC_DIRECTIONS.map(async (direction) => {
      const counts = await rejected.countByTable(direction);
      const names = new Set([...tables, ...counts.keys()]);
      return [...names].map((table) => ({ table, direction, value: counts.get(table) ?? 0 }));
    }),
  );
  const drifts = tables.flatMap((table) => {
    const rows = kept.get(table);
    return rows === undefined ? [] : [[table, Math.abs(rows)] as const];
  });
  return {
    markerLags,
    rejectedRecords: rejectedRecords.flat(),
    driftRows: new Map(drifts),
    pendingAlerts: await outbox.count(),
    backupAgeSeconds:
      lastBackup === null ? null : Math.max(0, nowMs - dateTimeMs(lastBackup)) / 1000,
  };
}

function sumCounts(caches: ReadMetricsDeps["caches"]): CacheCounts {
  const sum = { hits: 0, misses: 0, evictions: 0, entries: 0 };
  for (const cache of caches) {
    const counts = cache.counts();
    for (const name of Object.keys(sum) as (keyof CacheCounts)[]) sum[name] += counts[name];
  }
  return sum;
}

function lookupCounts(counts: LookupCounts): LookupCount[] {
  return [...counts].map(([name, count]) =>
    name === "allowed"
      ? { outcome: "allowed", code: "", count }
      : { outcome: outcomeOf(name), code: name, count },
  );
}

function outcomeOf(code: LookupRefusal): LookupCount["outcome"] {
  if (code === "rate_limited" || code === "quota_exceeded") return "limited";
  return code === "profile_not_found" || code === "consent_required" ? "denied" : "refused";
}
