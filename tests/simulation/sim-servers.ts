// Two deployments that a run may have at its other end: this service, and somebody else's after the same document.

import type { JsonObject, JsonValue } from "../../src/domain/shared/json.ts";
import {
  type DigestPage,
  type DigestQuery,
  digestParameters,
} from "../../src/domain/sync/digest/digest-page.ts";
import { convertRecord } from "../../src/domain/sync/rows/convert.ts";
import type { DeletedPage, PullPage } from "../../src/domain/sync/rows/page.ts";
import { keyLabel, type PushResult } from "../../src/domain/sync/rows/push-result.ts";
import type { SyncStatus } from "../../src/domain/sync/run/run.ts";
import type { Registry, Row, Table } from "../../src/domain/sync/table/table.ts";
import {
  requireColumns,
  SYNC_EXTENSIONS,
  type SyncExtension,
  type TableSchema,
} from "../../src/domain/sync/table/table-schema.ts";
import type { Clock } from "../../src/ports/runtime/runtime.ts";
import type { FullStorage } from "../../src/ports/storage.ts";
import { type DeletedRequest, RemotePeerError } from "../../src/ports/tables/remote-peer.ts";
import { countDeletes, pushRecords } from "../../src/usecases/sync/pages/push-records.ts";
import { digestTable, listDeleted, pullPage } from "../../src/usecases/sync/pages/table-pages.ts";
import { readOwnSchema } from "../../src/usecases/sync/pages/table-schemas.ts";
import { readSyncStatus } from "../../src/usecases/sync/shared/sync-status.ts";
import { writeRows } from "../../src/usecases/sync/shared/write-rows.ts";
import type { MemoryTables } from "../support/memory/tables.ts";
import { MemoryLogger } from "../support/memory-logger.ts";
import type { RunParts } from "../support/run-parts.ts";
import type { SeededRandom } from "../support/seeded-random.ts";

/** A push as it arrives. */
export interface SimPush {
  readonly records: readonly JsonValue[];
  /** Tombstones on the wire. */
  readonly deleted?: readonly JsonValue[];
  readonly isGuarded?: boolean;
  readonly isForced?: boolean;
  readonly isDeletesDryRun?: boolean;
  readonly columns?: string | null;
}

/** What `/pull` is asked for. */
export interface SimPullQuery {
  readonly since: string | null;
  readonly offset: number;
  readonly limit: number;
  readonly columns?: string | null;
}

/** What `/deleted` is asked for. */
export type SimDeletedQuery = Pick<DeletedRequest, "since" | "cursor" | "limit">;

/** What a server answers, each at one moment. */
export interface SimServer {
  readonly extensions: readonly SyncExtension[];
  status(): Promise<SyncStatus>;
  pull(tableName: string, query: SimPullQuery): Promise<PullPage>;
  push(tableName: string, push: SimPush): Promise<PushResult>;
  digest(tableName: string, query: DigestQuery): Promise<DigestPage>;
  schema(tableName: string, lateAfter: string | null): Promise<TableSchema>;
  deleted(tableName: string, query: SimDeletedQuery): Promise<DeletedPage>;
}

/** What a store of this service answers requests from. */
type ServedStorage = Pick<FullStorage, "tables" | "tombstones">;

/** What both servers are made of. */
export interface ServerParts<Storage = MemoryTables> {
  readonly storage: Storage;
  /** What runs and pushes keep there. */
  readonly parts: RunParts;
  readonly registry: Registry;
  readonly clock: Clock;
  /** Rows of a page at most. */
  readonly maxPageRows: number;
  /** The id of the remote that it has; absent: it has none. */
  readonly remoteId?: string;
}

/** This service, by its own use cases. */
export function repsyncServer(parts: ServerParts<ServedStorage>): SimServer {
  const logger = new MemoryLogger();
  const { registry } = parts;
  const { tables, tombstones } = parts.storage;
  const { lateRows } = parts.parts;
  const timer = { sleep: async () => {} };
  const deps = { ...parts, ...parts.parts, tables, logger, timer, isSyncEnabled: true };
  const schemas = { registry, lateRows, readRemoteId: async () => parts.remoteId ?? null };
  return {
    extensions: SYNC_EXTENSIONS,
    status: () => readSyncStatus(deps),
    schema: (tableName, lateAfter) => readOwnSchema(schemas, tableName, lateAfter),
    pull(tableName, { offset, limit, ...others }) {
      const query = { ...others, offset: String(offset), limit: String(limit) };
      return pullPage(deps, tableName, query);
    },
    async push(
      tableName,
      { deleted = [], isGuarded, isForced, isDeletesDryRun = false, columns = null, ...push },
    ) {
      logger.lines.length = 0;
      const table = registry.get(tableName)!;
      requireColumns(table, columns);
      const input = {
        ...push,
        table,
        deleted,
        conflict: isGuarded ? "newer" : isForced ? "overwrite" : null,
        integrity: "verified",
        syncTimestamp: null,
      } as const;
      if (isDeletesDryRun) return countDeletes(deps, input);
      const { isCommitted, result } = await pushRecords(deps, input);
      if (!isCommitted) throw new RemotePeerError("status", "500", { reason: "passing" });
      return result;
    },
    deleted: (tableName, { since = null, cursor = null, limit = 1000 }) =>
      listDeleted({ ...deps, tombstones }, tableName, { since, cursor, limit: String(limit) }),
    digest: (tableName, query) =>
      digestTable(
        { ...parts, tables, timer: { sleep: async () => {} } },
        tableName,
        digestParameters(query),
      ),
  };
}

/**
 * Somebody else's server: rows of one timestamp come in another order every time, times have microseconds and no zone,
 * and a `since` with a zone is one that it cannot read. Rows without a timestamp come first or last.
 */
export function foreignServer(
  parts: ServerParts,
  options: {
    readonly random: SeededRandom;
    readonly isTimelessLast: boolean;
    readonly isClockZoned: boolean;
  },
): SimServer {
  const { storage, registry, clock, maxPageRows } = parts;
  const { random, isTimelessLast, isClockZoned } = options;
  const own = { ...parts.parts, tables: storage };
  const notFound = () => new RemotePeerError("status", "404", { reason: "not_found" });
  return {
    extensions: [],
    async status() {
      return {
        syncEnabled: true,
        tables: [...registry.keys()],
        tableCounts: {},
        lastSync: {},
        serverTime: `${nakedTime(new Date(clock.nowMs()).toISOString())}${isClockZoned ? "+00:00" : ""}`,
        features: { gzip: true, sha256: true, incremental: true },
      };
    },
    async pull(tableName, query) {
      const table = registry.get(tableName)!;
      const isReadable = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$|^\d{4}-\d\d-\d\d$/;
      const isFiltered = isReadable.test(query.since ?? "") && table.timestampColumn !== null;
      const since = isFiltered ? microTime(`${query.since}`) : "";
      const matching = storage
        .sortedRows(table)
        .map((row) => foreignRow(table, row))
        .filter(({ time }) => !isFiltered || (time !== null && time >= since));
      const rank = ({ time }: ForeignRow) => time ?? (isTimelessLast ? "~" : "");
      const rows = random
        .shuffle(matching)
        .sort((a, b) => (rank(a) < rank(b) ? -1 : Number(rank(a) > rank(b))));
      const limit = Math.min(query.limit, maxPageRows);
      const end = query.offset + limit;
      const records = rows.slice(query.offset, end).map(({ record }) => record);
      return {
        table: tableName,
        since: query.since,
        count: records.length,
        total: rows.length,
        offset: query.offset,
        limit,
        hasMore: end < rows.length,
        nextOffset: end < rows.length ? end : null,
        records,
      };
    },
    async push(tableName, { records }) {
      const table = registry.get(tableName)!;
      const errors: string[] = [];
      for (const [index, record] of records.entries()) {
        const { row, problem } = convertRecord(table, record);
        const refused = row === null ? problem : storage.refuse(table, row);
        // A failed record is not always named as this service names it.
        const name = index % 2 === 0 ? `${keyLabel(table, record)}:` : `#${index}`;
        if (row === null || refused !== null) errors.push(`${name} ${refused}`);
        else await writeRows(own, table, { writes: [{ index, row }] });
      }
      const received = records.length;
      const upserted = received - errors.length;
      const failed = { errors: errors.slice(0, 10), errorCount: errors.length };
      const all = { table: tableName, received, upserted, integrity: "verified" } as const;
      return errors.length > 0 ? { ...all, ...failed } : all;
    },
    digest: () => Promise.reject(notFound()),
    schema: () => Promise.reject(notFound()),
    deleted: () => Promise.reject(notFound()),
  };
}

/** A time of ours, or a date, so that texts order as times do. */
function microTime(text: string): string {
  const [seconds = "", fraction = ""] = text.replace("Z", "").split(".");
  const whole = seconds.length === 10 ? `${seconds}T00:00:00` : seconds;
  return `${whole}.${fraction.padEnd(6, "0")}`;
}

/** Without zone and with microseconds, as a server in Python would write it. */
function nakedTime(text: string): string {
  return microTime(text).replace(/\.000000$/, "");
}

/** A row as the foreign server has it. */
interface ForeignRow {
  readonly record: JsonObject;
  /** Null when it has none. */
  readonly time: string | null;
}

/** Rows are never changed, so each is made once. */
const foreignRows = new WeakMap<Row, ForeignRow>();

function foreignRow(table: Table, row: Row): ForeignRow {
  const known = foreignRows.get(row);
  if (known !== undefined) return known;
  const values = table.pageColumns.map(({ name, type }) => {
    const value = row[name] ?? null;
    return [name, type === "datetime" && typeof value === "string" ? nakedTime(value) : value];
  });
  const timestamp = table.timestampColumn === null ? null : row[table.timestampColumn];
  const time = typeof timestamp === "string" ? microTime(timestamp) : null;
  const made = { record: Object.fromEntries(values), time };
  foreignRows.set(row, made);
  return made;
}
