// Two deployments, their writers, the network between them, and the runs of one of them.

import type { RunDirection, RunRequest } from "../../src/domain/sync/run/run.ts";
import type { Row, Table } from "../../src/domain/sync/table/table.ts";
import type { Clock } from "../../src/ports/runtime/runtime.ts";
import { NO_TRACING } from "../../src/ports/runtime/tracing.ts";
import { type RunOutcome, StartedRun } from "../../src/usecases/sync/runs/start-run.ts";
import type { SyncDeps } from "../../src/usecases/sync/shared/sync-deps.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { MemoryTables } from "../support/memory/tables.ts";
import { MemoryLogger } from "../support/memory-logger.ts";
import { makeRegistry } from "../support/rows/make-table.ts";
import { runParts } from "../support/run-parts.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { KeptNow } from "../support/time/kept-now.ts";
import { SimTime } from "../support/time/sim-time.ts";
import { chooseScenario, type Scenario } from "./scenario.ts";
import { connectThrough, type Weather } from "./sim-network.ts";
import { SimProcess } from "./sim-process.ts";
import { foreignServer, repsyncServer, type SimServer } from "./sim-servers.ts";
import { planWrites, type SimWriters } from "./sim-writers.ts";

/** Longest time that a call of the store takes, each way. */
const STORE_DELAY_MS = 60;

/** Everything of one seed. */
export interface World {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly random: SeededRandom;
  readonly time: SimTime;
  readonly table: Table;
  readonly here: MemoryTables;
  readonly there: MemoryTables;
  /** What runs have kept here. */
  readonly kept: KeptNow;
  readonly weather: Weather;
  readonly server: SimServer;
  readonly writers: { readonly here: SimWriters; readonly there: SimWriters };
  /** What a new process of this deployment works with. */
  makeDeps(process: SimProcess, changes?: Partial<SyncDeps>): SyncDeps;
  makeProcess(): SimProcess;
}

/** Makes the world of a seed; nothing has happened in it yet. */
export async function makeWorld(seed: number, changes: Partial<Scenario> = {}): Promise<World> {
  const random = new SeededRandom(seed);
  const scenario = { ...chooseScenario(random), ...changes };
  const time = new SimTime();
  const registry = makeRegistry({ items: { ...scenario.entry, lag_seconds: scenario.lagSeconds } });
  const table = registry.get("items")!;
  const { faults, lateMs, maxPageRows } = scenario;
  const clocks = {
    here: time.clock(scenario.skewMs.here),
    there: time.clock(scenario.skewMs.there),
  };
  const here = await openStorage(table, clocks.here);
  const there = await openStorage(table, clocks.there);
  const documents = ownDocuments(clocks.here, here);
  const weather: Weather = {
    ...{ faults, lateMs, delayMs: random.pick([50, 400]), maxPushRows: random.pick([3, 10, 1000]) },
    mayArrive: (records) =>
      records.every((record) => {
        const isTold = scenario.remote === "repsync" && !isSameTime(table, here, record as Row);
        return isTold || isAsSent(table, here, record as Row);
      }),
  };
  const partsThere = runParts(ownDocuments(clocks.there, there));
  const served = { storage: there, parts: partsThere, registry, clock: clocks.there };
  const parts = { ...served, maxPageRows };
  const server =
    scenario.remote === "repsync"
      ? repsyncServer(parts)
      : foreignServer(parts, { ...scenario, random });
  const planned = { time, random, scenario };
  const isWritten = (direction: RunDirection) =>
    scenario.direction === direction || scenario.direction === "both";
  const silent = { ...planned, scenario: { ...scenario, writes: 0 } };
  const writers = {
    here: planWrites(isWritten("push") ? planned : silent, {
      ...{ name: "here", storage: here, clock: clocks.here, table },
    }),
    there: planWrites(isWritten("pull") ? planned : silent, {
      ...{ name: "there", storage: there, clock: clocks.there, table },
    }),
  };
  let ids = 0;
  return {
    ...{ seed, scenario, random, time, table, here, there, weather },
    kept: new KeptNow(documents, clocks.here),
    ...{ server, writers },
    makeProcess: () => new SimProcess(time, random, STORE_DELAY_MS),
    makeDeps: (process, changes = {}) => ({
      isSyncEnabled: true,
      remoteUrl: "https://there.example",
      remoteKey: "key",
      lagSeconds: 60,
      maxPageRows,
      registry: new Map([["items", table]]),
      tables: process.reach(here),
      tombstones: process.reach(here.tombstones),
      ...runParts(process.reach(documents)),
      connectPeer: () => connectThrough({ time, random, weather }, { process, server }),
      clock: clocks.here,
      timer: process,
      random,
      ids: { next: () => `run-${ids++}` },
      logger: new MemoryLogger(),
      tracing: NO_TRACING,
      ...changes,
    }),
  };
}

/** Starts one run of a world. */
export type StartWorldRun = (world: World, process: SimProcess) => Pick<StartedRun, "outcome">;

/** Starts a run of the scenario's direction in a process of its own. */
export function startWorldRun(world: World, process: SimProcess): StartedRun {
  return new StartedRun(world.makeDeps(process), worldRequest(world));
}

/** What a run of this world is asked for. */
export function worldRequest({ scenario, random }: World): RunRequest {
  const isFull = random.chance(0.05);
  const { direction } = scenario;
  const flags = { isFull, isDryRun: false, isForced: false, maxDeletes: null };
  return { direction, tableName: "items", ...flags, trigger: "api" };
}

/** Runs in fair weather, to its end. */
export async function runQuietly(
  world: World,
  start: StartWorldRun = startWorldRun,
): Promise<RunOutcome> {
  return world.time.run(start(world, world.makeProcess()).outcome);
}

/** True when the guard cannot tell the version that was sent from the one that is here by now. */
function isSameTime(table: Table, here: MemoryTables, record: Row): boolean {
  const column = table.timestampColumn ?? "";
  return here.rowByKey(table, record)?.[column] === record[column];
}

/** True when the row is as it was sent, or goes with every run. */
function isAsSent(table: Table, here: MemoryTables, record: Row): boolean {
  return table.timestampColumn === null || here.rowByKey(table, record)?.["v"] === record["v"];
}

async function openStorage(table: Table, clock: Clock): Promise<MemoryTables> {
  const storage = new MemoryTables(clock);
  await storage.prepare([table]);
  return storage;
}
