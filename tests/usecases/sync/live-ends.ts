// Random histories of several live ends, whose runs are to make them equal: the histories of the model of D-7, played
// with the real engine on stores in memory.
import type { JsonValue } from "../../../src/domain/shared/json.ts";
import { compareDateTimes, formatMs } from "../../../src/domain/shared/time.ts";
import type { PushResult } from "../../../src/domain/sync/rows/push-result.ts";
import type { RunDirection } from "../../../src/domain/sync/run/run.ts";
import type { Table } from "../../../src/domain/sync/table/table.ts";
import { type RemotePeer, RemotePeerError } from "../../../src/ports/tables/remote-peer.ts";
import { StartedRun } from "../../../src/usecases/sync/runs/start-run.ts";
import type { SyncDeps } from "../../../src/usecases/sync/shared/sync-deps.ts";
import { repsyncServer, type SimPush, type SimServer } from "../../simulation/sim-servers.ts";
import { makeRegistry } from "../../support/make-table.ts";
import { MemoryRowSource } from "../../support/memory/row-source.ts";
import { MemoryRunStore } from "../../support/memory/runs.ts";
import { MemoryTables } from "../../support/memory/tables.ts";
import { MemoryLogger } from "../../support/memory-logger.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { SimTime } from "../../support/sim-time.ts";
import { BY_TIME } from "./two-ends.ts";

/** Who runs against whom. */
export const TOPOLOGIES = {
  pair: { A: "B" },
  mutual: { A: "B", B: "A" },
  hub: { A: "H", B: "H" },
  "chain of pushes": { A: "B", B: "C" },
  "chain of pulls": { C: "B", B: "A" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface HistoryOptions {
  /** Runs end at any request. */
  readonly crashes?: boolean;
  /** Clocks differ by up to two seconds. */
  readonly skew?: boolean;
  /** Ends write while a run is under way. */
  readonly meanwhile?: boolean;
  /** Old versions, equal times and times ahead. */
  readonly oddTimes?: boolean;
  /** Ends delete rows, and make them again. */
  readonly deletes?: boolean;
  /** A rule that is left out: the histories must find that. */
  readonly without?: "guard" | "own marks" | "remote marks";
}

export interface HistoryEnd {
  /** Whether all ends became equal. */
  readonly isEqual: boolean;
  /** Whether each key is its newest version or its newest delete; null where the history does not say which that is. */
  readonly isNewest: boolean | null;
  /** Rounds of quiet that it took. */
  readonly rounds: number;
}

interface Act {
  readonly kind:
    | "new"
    | "edit"
    | "late"
    | "guarded"
    | "old version"
    | "coarse"
    | "ahead"
    | "delete";
  readonly weight: number;
}

const ACTS: readonly Act[] = [
  { kind: "new", weight: 4 },
  { kind: "edit", weight: 5 },
  { kind: "late", weight: 3 },
  { kind: "guarded", weight: 2 },
];
const ODD_ACTS: readonly Act[] = [
  { kind: "old version", weight: 2 },
  { kind: "coarse", weight: 3 },
  { kind: "ahead", weight: 1 },
];

const DELETES: readonly Act[] = [{ kind: "delete", weight: 4 }];

interface End {
  readonly storage: MemoryTables;
  readonly clock: ReturnType<SimTime["clock"]>;
  readonly deps: SyncDeps | null;
}

/** A version of a row, or its delete. */
interface Version {
  readonly k: string;
  readonly v: string | null;
  /** Canonical. */
  readonly at: string;
}

export class History {
  readonly #options: HistoryOptions;
  readonly #random: SeededRandom;
  readonly #time = new SimTime();
  readonly #table: Table;
  readonly #ends = new Map<string, End>();
  readonly #remotes: Readonly<Record<string, string>>;
  /** By key; the value is null for a delete. */
  readonly #newest = new Map<string, Version>();
  readonly #ties = new Set<string>();
  #versions = 0;
  #isQuiet = false;

  constructor(seed: number, topology: keyof typeof TOPOLOGIES, options: HistoryOptions = {}) {
    this.#options = options;
    this.#random = new SeededRandom(seed);
    this.#remotes = TOPOLOGIES[topology];
    const registry = makeRegistry({
      items: { ...BY_TIME, lag_seconds: 60, deletes: options.deletes ?? false },
    });
    this.#table = registry.get("items")!;
    const names = new Set([...Object.keys(this.#remotes), ...Object.values(this.#remotes)]);
    for (const name of names) this.#ends.set(name, this.#makeEnd(name));
  }

  async play(steps = 40): Promise<HistoryEnd> {
    const random = this.#random;
    for (const { storage } of this.#ends.values()) await storage.prepare([this.#table]);
    for (let step = 0; step < steps; step++) {
      this.#time.advance(random.pick([1, 1, 5, 30, 100, 400]) * 1000);
      if (random.chance(0.6)) await this.#act();
      else {
        const name = random.pick(Object.keys(this.#remotes));
        const direction = random.pick<RunDirection>(["push", "pull", "both", "both"]);
        await this.#run(name, direction, random.chance(0.05));
      }
    }
    this.#isQuiet = true;
    for (let rounds = 1; rounds <= 5; rounds++) {
      this.#time.advance(1_000_000);
      const names = Object.keys(this.#remotes);
      for (const name of [...names, ...names.toReversed()]) await this.#run(name, "both", false);
      if (this.#isEqual()) return { isEqual: true, isNewest: this.#isNewest(), rounds };
    }
    return { isEqual: false, isNewest: null, rounds: 5 };
  }

  /** What each end has, for people. */
  show(): string {
    const shown = [...this.#ends].map(([name, { storage }]) => [
      name,
      rowsText(storage, this.#table),
    ]);
    return JSON.stringify(Object.fromEntries(shown), null, 1);
  }

  #makeEnd(name: string): End {
    const clock = this.#time.clock(this.#options.skew ? this.#random.int(-2, 2) * 1000 : 0);
    const storage = new MemoryTables(clock);
    const remote = this.#remotes[name];
    if (remote === undefined) return { storage, clock, deps: null };
    const registry = new Map([["items", this.#table]]);
    let ids = 0;
    const deps: SyncDeps = {
      ...{ isSyncEnabled: true, remoteUrl: `https://${remote}`, remoteKey: "key", registry },
      ...{ lagSeconds: 60, maxPageRows: this.#random.pick([3, 10, 100]), tables: storage },
      ...{ rows: new MemoryRowSource(storage), markers: storage, names: storage.names },
      lateRows: {
        read: async (table, query) => {
          const late = await storage.lateRows.read(table, query);
          return this.#options.without === "own marks" ? { ...late, from: null } : late;
        },
      },
      ...{ tombstones: storage.tombstones, agreed: storage.agreed, leases: storage.leases },
      ...{ rejected: storage.rejected, runs: new MemoryRunStore(), clock, timer: this.#time },
      random: { next: () => this.#random.next() },
      ids: { next: () => `${name}-${++ids}` },
      logger: new MemoryLogger(),
      connectPeer: () => this.#connect(remote),
    };
    return { storage, clock, deps };
  }

  #connect(remote: string): RemotePeer {
    const { storage, clock } = this.#ends.get(remote)!;
    const registry = new Map([["items", this.#table]]);
    const server = repsyncServer({ storage, registry, clock, maxPageRows: 100 });
    const bytes = { bytesCompressed: 1, bytesUncompressed: 1 };
    const meet = async <Reply>(serve: () => Promise<Reply>): Promise<Reply> => {
      const reply = await serve();
      if (this.#isQuiet) return reply;
      if (this.#options.crashes && this.#random.chance(0.05)) throw refused();
      if (this.#options.meanwhile && this.#random.chance(0.1)) await this.#act();
      return reply;
    };
    return {
      pullPage: async (name, { since = null, offset = 0, limit = 100 } = {}) => ({
        page: await meet(() => server.pull(name, { since, offset, limit })),
        ...bytes,
      }),
      pushBatch: async (name, { records, deleted = [], ...push }) => {
        const tombstones = deleted.map(({ key, deletedAt }) => ({ key, deleted_at: deletedAt }));
        const sent = { ...push, records: records as readonly JsonValue[], deleted: tombstones };
        return { result: await meet(() => this.#push(server, name, sent)), ...bytes };
      },
      readSchema: async (name, { lateAfter = null } = {}) => {
        const schema = await meet(() => server.schema(name, lateAfter));
        if (this.#options.without !== "remote marks") return schema;
        return { ...schema, late: { ...schema.late, from: null } };
      },
      readStatus: async () => ({
        ...(await meet(() => server.status())),
        extensions: server.extensions,
      }),
      readDigest: () => Promise.reject(refused()),
      readDeleted: async (name, query = {}) => ({
        ...(await meet(() => server.deleted(name, query))),
        ...bytes,
      }),
    };
  }

  async #push(server: SimServer, name: string, push: SimPush): Promise<PushResult> {
    if (this.#options.without !== "guard") return server.push(name, push);
    return { ...(await server.push(name, { ...push, isGuarded: false })), kept: 0, changed: 0 };
  }

  async #run(name: string, direction: RunDirection, isFull: boolean): Promise<void> {
    const { deps } = this.#ends.get(name)!;
    const request = { direction, isFull, isDryRun: false, trigger: "api" } as const;
    const started = new StartedRun(deps!, { ...request, tableName: "items" });
    const { error } = await this.#time.run(started.outcome);
    if (error !== null && (this.#isQuiet || !error.message.includes("Refused"))) throw error;
  }

  /** One end writes something, as its own programs do. */
  async #act(): Promise<void> {
    const random = this.#random;
    const { storage, clock } = random.pick([...this.#ends.values()]);
    const nowMs = clock.nowMs();
    const { oddTimes, deletes } = this.#options;
    const acts = [...ACTS, ...(oddTimes ? ODD_ACTS : []), ...(deletes ? DELETES : [])];
    const kind = random.pick(acts.flatMap((act) => Array<Act["kind"]>(act.weight).fill(act.kind)));
    const keys = storage.sortedRows(this.#table).map(({ k }) => String(k));
    const isKnown = keys.length > 0 && kind !== "new" && kind !== "late";
    const k = isKnown ? random.pick(keys) : `k${random.int(0, 25)}`;
    if (kind === "delete") {
      if (keys.length > 0) this.#delete(storage, k);
      return;
    }
    const row = { k, v: String(++this.#versions), at: formatMs(this.#timeOf(kind, nowMs)) };
    const isGuarded = kind === "guarded" || (kind === "late" && keys.includes(k));
    const options = isGuarded ? { conflict: "newer" as const } : {};
    await storage.write(this.#table, [{ index: 0, row }], options);
    this.#remember(row);
  }

  #delete(storage: MemoryTables, k: string): void {
    storage.remove(this.#table, { k });
    const { deletedAt } = storage.tombstones.find(this.#table, { k })!;
    this.#remember({ k, v: null, at: deletedAt });
  }

  #timeOf(kind: Exclude<Act["kind"], "delete">, nowMs: number): number {
    const random = this.#random;
    switch (kind) {
      case "new":
      case "edit":
        return nowMs;
      case "late":
        return nowMs - random.int(100, 5000) * 1000 - 250;
      case "guarded":
        return nowMs - random.int(0, 3000) * 1000 - 500;
      case "old version":
        return nowMs - random.int(100, 5000) * 1000;
      case "coarse":
        return Math.floor(nowMs / 100_000) * 100_000;
      case "ahead":
        return nowMs + random.pick([100, 5000]) * 1000;
    }
  }

  #remember(version: Version): void {
    const newest = this.#newest.get(version.k);
    const order = newest === undefined ? 1 : compareDateTimes(version.at, newest.at);
    if (order === 0) this.#ties.add(version.k);
    if (order >= 0) this.#newest.set(version.k, version);
  }

  #isEqual(): boolean {
    const texts = [...this.#ends.values()].map(({ storage }) => rowsText(storage, this.#table));
    return new Set(texts.map((rows) => JSON.stringify(rows))).size === 1;
  }

  #isNewest(): boolean | null {
    if (this.#options.oddTimes || this.#options.meanwhile) return null;
    const [{ storage }] = [...this.#ends.values()] as [End];
    return [...this.#newest].every(([k, { v }]) => {
      return this.#ties.has(k) || (storage.rowByKey(this.#table, { k })?.["v"] ?? null) === v;
    });
  }
}

function rowsText(storage: MemoryTables, table: Table): readonly string[] {
  return storage.sortedRows(table).map(({ k, v, at }) => `${k} ${v} ${at}`);
}

function refused(): RemotePeerError {
  return new RemotePeerError("status", "Refused", { reason: "refused" });
}
