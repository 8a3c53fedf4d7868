// The overview for administrators: health, the remote, the schedule, the tables and what was moved. D-9.5.
import { formatMs } from "../../domain/shared/time.ts";
import { markerLagSeconds } from "../../domain/sync/run/remote-memory.ts";
import type { SyncRun } from "../../domain/sync/run/run.ts";
import type { CronTimes } from "../../ports/runtime/runtime.ts";
import type { TrafficCounts } from "../../repositories/collections.ts";
import type { Traffic } from "../../repositories/traffic.ts";
import type { SyncDeps } from "../sync/shared/sync-deps.ts";
import {
  type RememberedRemote,
  type RemoteStatus,
  readSyncStatus,
} from "../sync/shared/sync-status.ts";
import { checkHealth, type HealthDeps } from "./health.ts";
import type { RegistryKeeper } from "./registry-keeper.ts";
import { readTableStates, type TableHistories } from "./table-histories.ts";

export interface OverviewDeps {
  readonly sync: SyncDeps;
  readonly health: HealthDeps;
  readonly remote: RememberedRemote;
  readonly registryKeeper: Pick<RegistryKeeper, "problem">;
  readonly traffic: Traffic;
  readonly histories: TableHistories;
  readonly cron: CronTimes;
  /** `SYNC_SCHEDULE`; null when it is not set. */
  readonly schedule: string | null;
}

/** Throws `store_unavailable`. */
export async function readOverview(deps: OverviewDeps) {
  const { sync, traffic } = deps;
  const nowMs = sync.clock.nowMs();
  const [health, remote, tables, history] = await Promise.all([
    checkHealth(deps.health),
    deps.remote.status(),
    readTables(deps, nowMs),
    traffic.read(nowMs),
  ]);
  const shown = (counts: readonly TrafficCounts[]) =>
    counts.map(({ atMs, rows, lookups }) => ({ at: formatMs(atMs), rows, lookups }));
  return {
    health,
    syncEnabled: sync.isSyncEnabled,
    remote: shownRemote(sync, remote),
    schedule: readSchedule(deps, nowMs),
    tables,
    registryProblem: deps.registryKeeper.problem,
    history: { minutes: shown(history.minutes), hours: shown(history.hours) },
  };
}

function shownRemote({ remoteUrl }: SyncDeps, remote: RemoteStatus | null) {
  if (remote === null || remoteUrl === null) return { url: null, reachable: false, error: null };
  return {
    url: withoutCredentials(remoteUrl),
    reachable: remote.status !== null,
    error: remote.error,
  };
}

/** An address without its credentials; null for an invalid one. */
export function withoutCredentials(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

/** With sync disabled nothing is scheduled. */
function readSchedule({ sync, cron, schedule }: OverviewDeps, nowMs: number) {
  const nextMs = schedule === null || !sync.isSyncEnabled ? null : cron.nextAfter(schedule, nowMs);
  return { cron: schedule, nextAt: nextMs === null ? null : formatMs(nextMs) };
}

/** Every table of the registry, with sync disabled too. */
async function readTables({ sync, remote, histories }: OverviewDeps, nowMs: number) {
  const [here, there, memory] = await Promise.all([
    readSyncStatus({ ...sync, isSyncEnabled: true }),
    remote.status(),
    sync.memory.readAll(),
  ]);
  const states = await readTableStates(sync, here.tableCounts, there, histories);
  return states.map(({ lastRun, ...state }) => {
    const { push, pull } = memory.get(state.table) ?? {};
    return {
      ...state,
      markerLagSeconds: {
        push: markerLagSeconds(push, nowMs),
        pull: markerLagSeconds(pull, nowMs),
      },
      lastRun: lastRun === null ? null : shownRun(lastRun),
    };
  });
}

function shownRun(run: SyncRun) {
  const { runId, status, direction, trigger, startedAt, finishedAt, error } = run;
  const shown = { runId, status, direction, trigger, startedAt, finishedAt };
  return error === undefined ? shown : { ...shown, error };
}
