// Two deployments in memory and the requests between them, for tests that want to say exactly what happens.

import { refusalReason } from "../../../src/adapters/fetch/errors.ts";
import type { JsonObject } from "../../../src/domain/shared/json.ts";
import type { RunEvent, RunRequest } from "../../../src/domain/sync/run/run.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import { NO_TRACING } from "../../../src/ports/runtime/tracing.ts";
import {
  type PullRequest,
  type PushRequest,
  type RemotePeer,
  RemotePeerError,
} from "../../../src/ports/tables/remote-peer.ts";
import type { LeaseGiver } from "../../../src/repositories/leases.ts";
import type { Runs } from "../../../src/repositories/runs.ts";
import { type RunOutcome, StartedRun } from "../../../src/usecases/sync/runs/start-run.ts";
import type { SyncDeps } from "../../../src/usecases/sync/shared/sync-deps.ts";
import {
  foreignServer,
  repsyncServer,
  type ServerParts,
  type SimServer,
} from "../../simulation/sim-servers.ts";
import { ownDocuments } from "../../support/memory/documents.ts";
import { MemoryTables } from "../../support/memory/tables.ts";
import { MemoryLogger } from "../../support/memory-logger.ts";
import { makeRegistry } from "../../support/rows/make-table.ts";
import { type RunParts, runParts } from "../../support/run-parts.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { KeptNow } from "../../support/time/kept-now.ts";
import { SimTime } from "../../support/time/sim-time.ts";

/** A request as the remote sees it. */
export interface SeenRequest {
  readonly kind: "status" | "pull" | "push" | "digest" | "schema" | "deleted";
  readonly cursor?: string | null;
  readonly since?: string | null;
  readonly offset?: number;
  readonly limit?: number;
  readonly records?: readonly JsonObject[];
  readonly deleted?: readonly JsonObject[];
  readonly isGuarded?: boolean;
  readonly isDeletesDryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Stands between both ends: answers by itself, changes the reply of `send`, or throws. */
export type Intercept = (request: SeenRequest, send: () => Promise<unknown>) => unknown;

/** Both ends and everything of the one here. */
export interface TwoEnds {
  readonly table: Table;
  readonly time: SimTime;
  readonly here: MemoryTables;
  readonly there: MemoryTables;
  /** What each end works with. */
  readonly parts: Readonly<Record<"here" | "there", RunParts>>;
  /** What runs have kept here. */
  readonly kept: KeptNow;
  readonly runs: Runs;
  readonly leases: LeaseGiver;
  readonly logger: MemoryLogger;
  /** What each end has registered; `register` changes it. */
  readonly registries: Readonly<Record<"here" | "there", Map<string, Table>>>;
  /** Every request so far. */
  readonly requests: SeenRequest[];
  /** Set it to stand between both ends. */
  intercept: Intercept;
  readonly deps: SyncDeps;
}

/** A table by time: key `k`, value `v`, timestamp `at`. */
export const BY_TIME: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
};

/** What a test may choose. */
export interface TwoEndsOptions {
  readonly entry?: TableEntry;
  /** At both ends. */
  readonly maxPageRows?: number;
  readonly lagSeconds?: number;
  readonly remoteUrl?: string;
  /** In place of this service. */
  readonly server?: (parts: ServerParts) => SimServer;
}

/** A server of another kind, in place of this service. */
export function foreign(
  options: { readonly isTimelessLast?: boolean; readonly isClockZoned?: boolean } = {},
): Required<Pick<TwoEndsOptions, "server">> {
  const defaults = { isTimelessLast: false, isClockZoned: true };
  return {
    server: (parts) =>
      foreignServer(parts, { random: new SeededRandom(1), ...defaults, ...options }),
  };
}

/** Makes both ends with the empty table `items`, at 2026-03-01T12:00:00Z. */
export async function makeTwoEnds(options: TwoEndsOptions = {}): Promise<TwoEnds> {
  const { entry = BY_TIME, maxPageRows = 100, lagSeconds = 60 } = options;
  const time = new SimTime();
  const all = makeRegistry({ items: { lag_seconds: lagSeconds, ...entry } });
  const table = all.get("items")!;
  const registry = new Map([["items", table]]);
  const registryThere = new Map(registry);
  const clock = time.clock();
  const [here, there] = [new MemoryTables(clock), new MemoryTables(clock)];
  for (const storage of [here, there]) await storage.prepare([table]);
  const documents = ownDocuments(clock, here);
  const parts = { here: runParts(documents), there: runParts(ownDocuments(clock, there)) };
  const server = (options.server ?? repsyncServer)({
    ...{ storage: there, parts: parts.there, registry: registryThere, clock, maxPageRows },
  });
  const logger = new MemoryLogger();
  const requests: SeenRequest[] = [];
  const { runs, leases } = parts.here;
  let ids = 0;
  const ends: TwoEnds = {
    ...{ table, time, here, there, parts, logger, requests, runs, leases },
    kept: new KeptNow(documents, clock),
    registries: { here: registry, there: registryThere },
    intercept: (_, send) => send(),
    deps: {
      ...{ isSyncEnabled: true, remoteUrl: options.remoteUrl ?? "https://there.example" },
      ...{ remoteKey: "key", lagSeconds, maxPageRows, registry, tables: here },
      ...{ ...parts.here, clock, timer: time, logger },
      tombstones: here.tombstones,
      random: { next: () => 0.5 },
      ids: { next: () => `run-${++ids}` },
      tracing: NO_TRACING,
      connectPeer: () => makePeer(() => ends, server),
    },
  };
  return ends;
}

/** Registers the table in another way at one end, as a restart with another registry does. */
export async function register(
  ends: TwoEnds,
  end: "here" | "there",
  entry: TableEntry,
): Promise<Table> {
  const table = makeRegistry({ items: { lag_seconds: 60, ...entry } }).get("items")!;
  await ends[end].prepare([table]);
  ends.registries[end].set("items", table);
  return table;
}

function makePeer(ends: () => TwoEnds, server: SimServer): RemotePeer {
  async function exchange<Reply>(
    request: SeenRequest,
    serve: () => Promise<Reply>,
  ): Promise<Reply> {
    ends().requests.push(request);
    return (await ends().intercept(request, serve)) as Reply;
  }
  return {
    async pullPage(
      tableName,
      { since = null, offset = 0, limit = 1000, signal }: PullRequest = {},
    ) {
      const query = { since, offset, limit };
      const page = await exchange({ kind: "pull", ...query, signal }, () =>
        server.pull(tableName, query),
      );
      return { page, bytesCompressed: 10, bytesUncompressed: 100 };
    },
    async pushBatch(tableName, { signal, deleted = [], ...sent }: PushRequest) {
      const tombstones = deleted.map(({ key, deletedAt }) => ({ key, deleted_at: deletedAt }));
      const push = { ...sent, deleted: tombstones };
      const result = await exchange({ kind: "push", ...push, signal }, () =>
        server.push(tableName, push),
      );
      return { result, bytesCompressed: 10, bytesUncompressed: 100 };
    },
    async readDigest(tableName, query, { signal } = {}) {
      const page = await exchange({ kind: "digest", signal }, () =>
        server.digest(tableName, query),
      );
      const bytes = JSON.stringify(page).length;
      return { page, bytesCompressed: bytes, bytesUncompressed: bytes };
    },
    readSchema: (tableName, { lateAfter = null, signal } = {}) =>
      exchange({ kind: "schema", signal }, () => server.schema(tableName, lateAfter)),
    async readDeleted(tableName, { signal, ...query } = {}) {
      const page = await exchange({ kind: "deleted", ...query, signal }, () =>
        server.deleted(tableName, query),
      );
      return { ...page, bytesCompressed: 10, bytesUncompressed: 100 };
    },
    async readStatus({ signal } = {}) {
      const status = await exchange({ kind: "status", signal }, () => server.status());
      return { ...status, extensions: server.extensions };
    },
  };
}

/** How a run went. */
export interface FinishedRun extends RunOutcome {
  readonly events: readonly RunEvent[];
}

/** Starts a run of the table. */
export function start(ends: TwoEnds, request: Partial<RunRequest> = {}): StartedRun {
  return new StartedRun(ends.deps, {
    ...{ direction: "pull", tableName: "items", trigger: "api" },
    ...{ isFull: false, isDryRun: false, isForced: false, maxDeletes: null },
    ...request,
  });
}

/** What a run tells, without retries: the events of S-6. */
export async function* eventsOf(run: StartedRun): AsyncGenerator<RunEvent, void, undefined> {
  for await (const news of run.news()) if (news.type !== "retry") yield news;
}

/** These ends as a process sees them that a test can let stand still for a while, as one that was paused. */
export function pausable(ends: TwoEnds): {
  readonly paused: TwoEnds;
  readonly standStill: (durationMs: number) => void;
} {
  const clock = ends.time.clock();
  let stoodMs = 0;
  const later = { ...clock, monotonicMs: () => clock.monotonicMs() + stoodMs };
  return {
    paused: { ...ends, deps: { ...ends.deps, clock: later } },
    standStill: (durationMs) => {
      stoodMs = durationMs;
    },
  };
}

/** Does a run of the table, to its end. */
export async function runOf(
  ends: TwoEnds,
  request: Partial<RunRequest> = {},
): Promise<FinishedRun> {
  const started = start(ends, request);
  const outcome = await ends.time.run(started.outcome);
  const events = await Array.fromAsync(eventsOf(started));
  return { ...outcome, events };
}

/** Puts rows of the form [key, value, timestamp]. */
export function put(storage: MemoryTables, table: Table, rows: readonly TestRow[]): void {
  for (const [k, v, at] of rows) storage.writeOwn(table, { k, v, at });
}

/** A key, a value and a timestamp. */
export type TestRow = readonly [k: string, v: string, at: string | null];

/** The rows of a store as [key, value, timestamp], by key. */
export function rowsOf(storage: MemoryTables, table: Table): TestRow[] {
  return storage
    .sortedRows(table)
    .map((row: Row): TestRow => [String(row["k"]), String(row["v"]), textOrNull(row["at"])])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** `since offset limit` of every pull. */
export function asked(requests: readonly SeenRequest[]): string[] {
  return requests
    .filter(({ kind }) => kind === "pull")
    .map(({ since, offset, limit }) => `${since} ${offset} ${limit}`);
}

/** Rows `k-0000` and on, a second apart from 10:00:00 on. */
export function manyRows(count: number, prefix = "k"): TestRow[] {
  return Array.from({ length: count }, (_, i) => {
    const at = new Date(Date.parse("2026-03-01T10:00:00Z") + i * 1000).toISOString();
    return [`${prefix}-${String(i).padStart(4, "0")}`, "v", at.replace(".000Z", "Z")];
  });
}

/** A reply with another status than 200. */
export function statusError(status: number, retryAfterSeconds?: number): RemotePeerError {
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new RemotePeerError("status", `POST there was answered ${status}`, {
    status,
    reason: refusalReason(status),
    ...wait,
  });
}
