// The check of a remote before a table moves, once for all directions of a run: its clock, its extensions, its schema of the
// table, the memory of it, and how both registries differ. D-7.2 to D-7.4.
import { REFUSALS } from "../../../domain/shared/error-kinds.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { formatMs, parseDateTime } from "../../../domain/shared/time.ts";
import {
  addedColumns,
  columnsNow,
  compareSchemas,
  differencesOfRecord,
  type KnownColumns,
  unfetchedColumns,
} from "../../../domain/sync/run/compare-schemas.ts";
import type { RemoteIdentity, TableMemory } from "../../../domain/sync/run/remote-memory.ts";
import { rowsIn, type SyncDirection } from "../../../domain/sync/run/run.ts";
import { compareDirections, type OwnerProblem } from "../../../domain/sync/run/table-owner.ts";
import type { Clocks } from "../../../domain/sync/run/transfer-markers.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { SyncExtension, TableSchema } from "../../../domain/sync/table/table-schema.ts";
import type { DeletedReply } from "../../../ports/tables/remote-peer.ts";
import type { RemoteTable } from "../shared/remote-table.ts";
import { requireOther } from "../shared/sync-deps.ts";

export interface Handshake {
  readonly clocks: Clocks;
  readonly extensions: ReadonlySet<string>;
  /** The id of its deployment; null of a remote that tells none. */
  readonly remoteId: string | null;
  /** The table as the remote has it, and its late rows since a mark; null of a remote without `schema`. */
  readonly schema: TableSchema | null;
  /** The remote's rows of the table; null when it does not know. */
  readonly countThere: number | null;
  /** A row of a remote that tells no schema; null when it has none, and where nothing is pushed. */
  readonly firstRecord: JsonObject | null;
}

export class TableNotThere extends AppError {
  constructor({ name }: Table) {
    const hint = "Register it there, or name the tables that both ends have, one for each run";
    super("sync_failed", `The remote has no table "${name}"`, { hint });
  }
}

export interface RemoteCheck {
  readonly remote: RemoteTable;
  readonly handshake: Handshake;
  /** The mark of the remote's late rows that the handshake asked with. */
  readonly lateAfter: string | null;
  readonly memory: TransferMemory;
  /** Why the table cannot be pushed; null when it can. */
  readonly pushProblem: AppError | null;
  /** Why nothing of the table moves, by what both registries say of its owner; null when it does. D-11.9. */
  readonly ownerProblem: OwnerProblem | null;
  readonly warnings: readonly string[];
  readonly columns: KnownColumns;
  /** Pages of the remote's tombstones that one direction has read for the next, by the place before each. */
  readonly readAhead: Map<string | null, DeletedReply>;
}

/** Throws `sync_failed` when the table cannot move in any direction, and as `shakeHands`. `isPushed`: rows are going to be sent. */
export async function checkRemote(remote: RemoteTable, isPushed: boolean): Promise<RemoteCheck> {
  const { run, table } = remote;
  const { pull, nowMs } = await run.deps.memory.read(table.name);
  const lateAfter = run.isFull ? null : (pull.lateMark ?? null);
  const handshake = await shakeHands(remote, isPushed, lateAfter, formatMs(nowMs));
  const memory = await readMemory(remote, handshake);
  const { schema, firstRecord } = handshake;
  const { problem, pushProblem, leftOut, ...differences } =
    schema === null ? differencesOfRecord(table, firstRecord) : compareSchemas(table, schema);
  if (problem !== null) throw problem;
  const directions = compareDirections(table, schema, run.deps.deploymentId);
  const others = memory.isOther ? [otherRemoteText(table)] : [];
  return {
    remote,
    handshake,
    lateAfter,
    memory,
    pushProblem,
    ownerProblem: directions.problem,
    warnings: [...others, ...differences.warnings, ...directions.warnings],
    columns: columnsNow(table, leftOut),
    readAhead: new Map(),
  };
}

/**
 * Asks the remote. `lateAfter`: the mark of its late rows that was kept last, null for none; `ownTime`: the time of the store
 * here. Throws `sync_misconfigured` when it is this deployment, `sync_failed` when it will not take part, `remote_invalid` when
 * its clock cannot be read.
 */
export async function shakeHands(
  remote: RemoteTable,
  isPushed: boolean,
  lateAfter: string | null,
  ownTime: string,
): Promise<Handshake> {
  const { run, table } = remote;
  const status = await remote.readStatus();
  requireOther(run.deps, status, run.remote);
  if (!status.syncEnabled) {
    const text = `The remote has sync disabled: ${run.remote.address}`;
    throw new AppError("sync_failed", text, { hint: REFUSALS.sync_disabled.hint });
  }
  // A remote that lists no table may have this one all the same.
  const listed = [...status.tables, ...Object.keys(status.tableCounts)];
  if (listed.length > 0 && !listed.includes(table.name)) throw new TableNotThere(table);
  const remoteText = status.serverTime;
  const remoteTime = parseDateTime(remoteText);
  if (remoteTime === null) {
    const text = `The remote's server_time is not a date and time: "${remoteText}"`;
    throw new AppError("remote_invalid", text);
  }
  const tellsSchema = status.extensions.includes("schema");
  const firstPage = () => remote.pullPage({ since: null, offset: 0, limit: 1 });
  return {
    clocks: { remoteTime, ownTime },
    extensions: new Set(status.extensions),
    remoteId: status.deploymentId ?? null,
    schema: tellsSchema ? await remote.readSchema(lateAfter) : null,
    countThere: rowsIn(status.tableCounts, table.name),
    firstRecord: isPushed && !tellsSchema ? ((await firstPage()).page.records[0] ?? null) : null,
  };
}

export function hasExtension({ extensions }: Handshake, name: SyncExtension): boolean {
  return extensions.has(name);
}

/** The memory that a table has of its remote. D-11.10. */
export interface TransferMemory {
  readonly remote: RemoteIdentity;
  /** True when what was kept is another remote's. */
  readonly isOther: boolean;
  /** The memory as it was kept; empty where it is another remote's. */
  readonly kept: TableMemory;
}

export async function readMemory(
  { run: { deps, remote }, table }: RemoteTable,
  { remoteId }: Handshake,
): Promise<TransferMemory> {
  const identity = { id: remoteId, address: remote.address };
  const { isOther, push, pull } = await deps.memory.read(table.name, identity);
  return { remote: identity, isOther, kept: { push, pull } };
}

export function otherRemoteText({ name }: Table): string {
  return `The remote is another one than in the run before: what was remembered of "${name}" is that one's, so all rows are looked at`;
}

export function columnHistory(
  table: Table,
  columns: KnownColumns,
  direction: SyncDirection,
  memory: TableMemory,
) {
  const then = (of: SyncDirection) => memory[of].columns;
  // The owner of the rows has nothing to fetch. D-11.9.
  const isOwner = table.direction === "push";
  const unfetched = isOwner ? [] : unfetchedColumns(then("pull"), columns);
  const added = addedColumns(then(direction), columns);
  const unsent = addedColumns(then("push"), columns);
  const names = unfetched.map((name) => `"${name}"`).join(", ");
  const text = `Columns of "${table.name}" are new here, and a push would empty them at the remote: ${names}`;
  const hint = "Pull the table first, or run both";
  const problem = new AppError("sync_failed", text, { hint });
  return {
    // No part of the last run in the direction: they are moved for all rows.
    added,
    // In these a null of the remote means nothing: they are added, or their values here never went there.
    silent: [...added, ...unsent],
    // Why a push would empty columns of the remote; null when it would not.
    pushProblem: unfetched.length === 0 ? null : problem,
  };
}

const LACKS: readonly (readonly [SyncExtension, string])[] = [
  ["conflict-newer", "newer rows there are looked for before each push"],
  ["schema", "registries are not compared and late rows there not noticed"],
  ["deletes", "deletes do not travel"],
];

/** The note about a remote that lacks extensions of this service; null when it has all. D-7.2. */
export function lacksText(handshake: Handshake): string | null {
  const lacks = LACKS.filter(([name]) => !hasExtension(handshake, name)).map(([, text]) => text);
  if (lacks.length === 0) return null;
  return `The remote does not know all that this service does: ${lacks.join("; ")}`;
}
