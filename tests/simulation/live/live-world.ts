// Some live ends, the network between them, and the runs of those that have a remote.

import { isAppError } from "../../../src/domain/shared/errors.ts";
import type { RunRequest } from "../../../src/domain/sync/run/run.ts";
import { NO_TRACING } from "../../../src/ports/runtime/tracing.ts";
import { RemotePeerError } from "../../../src/ports/tables/remote-peer.ts";
import { type RunOutcome, StartedRun } from "../../../src/usecases/sync/runs/start-run.ts";
import type { SyncDeps } from "../../../src/usecases/sync/shared/sync-deps.ts";
import { MemoryLogger } from "../../support/memory-logger.ts";
import { runParts } from "../../support/run-parts.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { SimTime } from "../../support/time/sim-time.ts";
import { connectThrough, type Weather } from "../sim-network.ts";
import { SimProcess } from "../sim-process.ts";
import type { SimServer } from "../sim-servers.ts";
import { Ledger } from "./ledger.ts";
import { LiveEnd } from "./live-end.ts";
import { chooseLiveScenario, type LiveScenario, SCALE, TOPOLOGIES } from "./live-scenario.ts";
import { LiveWriters, MAX_ACCEPTED_CHARS } from "./live-writers.ts";

/** By how much the clock of a server is ahead of or behind that of the deployment, at most. */
const APART_MS = 45_000;
/** Longest time that a call of a store takes, each way. */
const STORE_DELAY_MS = 30;

/** What a control takes away from the product. */
export interface Sabotage {
  /** At the end that runs. */
  readonly deps?: (deps: SyncDeps) => SyncDeps;
  /** At the end that serves. */
  readonly server?: (server: SimServer, end: LiveEnd) => SimServer;
  /** Stamps are the time of now, whatever is there. */
  readonly stampsNow?: true;
}

export class LiveWorld {
  readonly seed: number;
  readonly scenario: LiveScenario;
  readonly random: SeededRandom;
  readonly time: SimTime;
  readonly ledger: Ledger;
  readonly ends: ReadonlyMap<string, LiveEnd>;
  readonly writers: LiveWriters;
  /** What a writer, an upgrade or a run met that it must not; null when nothing. */
  failure: unknown = null;
  /** How runs ended. */
  readonly outcomes: string[] = [];
  readonly #weather: Weather;
  readonly #sabotage: Sabotage;
  readonly #disk: { fullness: number };
  #runs = 0;

  private constructor(options: {
    seed: number;
    scenario: LiveScenario;
    random: SeededRandom;
    time: SimTime;
    ends: ReadonlyMap<string, LiveEnd>;
    sabotage: Sabotage;
    disk: { fullness: number };
  }) {
    const { seed, scenario, random, time, ends, sabotage, disk } = options;
    this.#disk = disk;
    this.seed = seed;
    this.scenario = scenario;
    this.random = random;
    this.time = time;
    this.ends = ends;
    const { isStrict, topology } = scenario;
    const { stamped } = scenario;
    this.ledger = new Ledger({ isStrict, stamped, keepsNotes: topology === "pair" });
    this.writers = new LiveWriters(random, {
      ...{ scenario, ends: [...ends.values()], ledger: this.ledger },
      stampsNow: sabotage.stampsNow === true,
    });
    this.#sabotage = sabotage;
    this.#weather = {
      ...{ faults: scenario.faults, delayMs: 100, lateMs: 5_000, maxPushRows: 1_000 },
      mayArrive: () => true,
    };
  }

  /** Makes the world of a seed; nothing has happened in it yet. */
  static async make(
    seed: number,
    changes: Partial<LiveScenario> = {},
    sabotage: Sabotage = {},
  ): Promise<LiveWorld> {
    const random = new SeededRandom(seed);
    const scenario = { ...chooseLiveScenario(random, seed), ...changes };
    const time = new SimTime();
    const remotes: Readonly<Record<string, string>> = TOPOLOGIES[scenario.topology];
    const names = [...new Set(Object.entries(remotes).flatMap(([end, of]) => [end, ...of]))].sort();
    const ends = new Map<string, LiveEnd>();
    // One of its own, so that a seed stands for the same history whatever the store is.
    const apart = new SeededRandom(~seed);
    const disk = { fullness: 0 };
    const isDiskFull = () => disk.fullness > 0 && random.chance(disk.fullness);
    for (const [i, name] of names.entries()) {
      const { store, skewMs, maxPageRows, isUpgraded, acts, timeType, deletes, stamped, owner } =
        scenario;
      const endSkewMs = random.int(-skewMs, skewMs);
      const clock = time.clock(endSkewMs);
      const isOneClock = store === "SQLite" || skewMs === 0 || isUpgraded;
      const apartMs = isOneClock ? 0 : apart.int(-APART_MS, APART_MS);
      const storeClock = time.clock(endSkewMs + apartMs);
      const maxChars = acts.refused !== undefined && i % 2 === 1 ? MAX_ACCEPTED_CHARS : null;
      const hasNotes = !isUpgraded || random.chance(0.5);
      const lagSeconds = random.pick([20, 60, 60, 300]);
      const direction = owner === null ? null : owner === name ? "push" : "pull";
      const options = { timeType, lagSeconds, deletes, stamped } as const;
      const registry = { ...options, direction, maxChars, hasNotes } as const;
      ends.set(
        name,
        await LiveEnd.open({
          ...{ name, store, clock, storeClock, time, maxPageRows, registry, isDiskFull },
        }),
      );
    }
    disk.fullness = scenario.fullDisks;
    return new LiveWorld({ seed, scenario, random, time, ends, sabotage, disk });
  }

  /** Seconds that each second of a step stands for. */
  get scale(): number {
    return SCALE[this.scenario.timeType];
  }

  /** The ends that have a remote. */
  get runners(): readonly string[] {
    return Object.keys(TOPOLOGIES[this.scenario.topology]);
  }

  /** The remotes that the runs of an end go to. */
  remotesOf(name: string): readonly string[] {
    const remotes: Readonly<Record<string, string>> = TOPOLOGIES[this.scenario.topology];
    return [...(remotes[name] ?? "")];
  }

  end(name: string): LiveEnd {
    const end = this.ends.get(name);
    if (end === undefined) throw new Error(`No end is named ${name}`);
    return end;
  }

  /** Does something at once. */
  async do(work: () => Promise<void>): Promise<void> {
    this.#watch(work());
    await this.time.pass(0);
  }

  /** Starts a run of an end in a process of its own. */
  run(name: string, request: Pick<RunRequest, "direction" | "isFull">): SimProcess {
    const process = new SimProcess(this.time, this.random, STORE_DELAY_MS);
    const [only = "", ...others] = this.remotesOf(name);
    const remote = others.length === 0 ? only : this.random.pick([only, ...others]);
    const ended = this.#start(name, { ...request, remote }, process).then(({ run }) => {
      this.outcomes.push(`${name} ${request.direction} ${run.status}: ${run.error ?? ""}`);
    });
    this.#watch(ended);
    return process;
  }

  /** Gives an end the column that it lacks; runs under way keep the registry that they began with. */
  async upgrade(end: LiveEnd): Promise<void> {
    await end.register({ hasNotes: true });
  }

  /** Does a run of an end, to its end. */
  async runToEnd(name: string, remote: string): Promise<RunOutcome> {
    const process = new SimProcess(this.time, this.random, STORE_DELAY_MS);
    const request = { direction: "both", isFull: false, remote } as const;
    return await this.time.run(this.#start(name, request, process));
  }

  /** Ends all faults, refusals and differences of registries. */
  async becomeQuiet(): Promise<void> {
    this.#weather.faults = 0;
    this.#disk.fullness = 0;
    for (const end of this.ends.values()) {
      await end.register({ maxChars: null, hasNotes: true });
    }
  }

  async close(): Promise<void> {
    for (const { storage } of this.ends.values()) await storage.close();
  }

  #watch(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.failure ??= error;
    });
  }

  async #start(
    name: string,
    { direction, isFull, remote }: Pick<RunRequest, "direction" | "isFull"> & { remote: string },
    process: SimProcess,
  ): Promise<RunOutcome> {
    const { deps = (all: SyncDeps) => all } = this.#sabotage;
    const flags = { isDryRun: false, isForced: false, maxDeletes: null };
    const request = { tableName: "items", ...flags, trigger: "api" } as const;
    const started = new StartedRun(deps(this.#deps(name, remote, process)), {
      direction,
      isFull,
      ...request,
    });
    return await started.outcome;
  }

  #serverOf(end: LiveEnd): SimServer {
    const isForeign = this.scenario.topology === "foreign pair";
    return isForeign ? end.foreignServer(this.random) : overHttp(() => end.server(this.random));
  }

  #deps(name: string, remoteName: string, process: SimProcess): SyncDeps {
    const { time, random } = this;
    const end = this.end(name);
    const remote = this.end(remoteName);
    const { server = (all: SimServer) => all } = this.#sabotage;
    const { storage, clock, maxPageRows } = end;
    const registry = end.registryOf(random);
    const reached = {
      tables: process.reach(storage.tables),
      tombstones: process.reach(storage.tombstones),
      ...runParts(process.reach(storage.documents)),
    };
    return {
      ...reached,
      ...{ isSyncEnabled: true, remoteUrl: `https://${remote.name}.example`, remoteKey: "key" },
      ...{ lagSeconds: 60, maxPageRows, registry, clock, timer: process, random },
      ids: { next: () => `run-${this.seed}-${++this.#runs}` },
      logger: new MemoryLogger(),
      tracing: NO_TRACING,
      connectPeer: () =>
        connectThrough(
          { time, random, weather: this.#weather },
          { process, server: server(this.#serverOf(remote), remote) },
        ),
    };
  }
}

/** Each request is answered by an instance. What it cannot do now is 500 to those who ask. */
function overHttp(instance: () => SimServer): SimServer {
  return new Proxy(instance(), {
    get(target, name) {
      const known: unknown = Reflect.get(target, name);
      if (typeof known !== "function") return known;
      return async (...args: unknown[]) => {
        try {
          const server = instance();
          const member: typeof known = Reflect.get(server, name);
          return await member.apply(server, args);
        } catch (error) {
          if (!isAppError(error, "store_unavailable", "overloaded")) throw error;
          throw new RemotePeerError("status", "500", { reason: "passing" });
        }
      };
    },
  });
}
