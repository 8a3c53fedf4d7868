// The opening of a transfer: the check of the remote before a table moves, once for all directions of a run, with its clock, its
// extensions, its schema and how both registries differ; then the state of one direction. D-4.8, D-7.2 to D-7.4.
import { REFUSALS } from "../../../domain/shared/error-kinds.ts";
import { AppError, assert } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { formatMs, parseDateTime } from "../../../domain/shared/time.ts";
import {
  addedColumns,
  columnsNow,
  compareSchemas,
  differencesOfRecord,
  type KnownColumns,
  requireMoved,
  unfetchedColumns,
} from "../../../domain/sync/run/compare-schemas.ts";
import type { RemoteIdentity, TableMemory } from "../../../domain/sync/run/remote-memory.ts";
import { rowsIn, type SyncDirection } from "../../../domain/sync/run/run.ts";
import { compareDirections, type OwnerProblem } from "../../../domain/sync/run/table-owner.ts";
import type { Clocks } from "../../../domain/sync/run/transfer-markers.ts";
import type { ConflictRule, Table } from "../../../domain/sync/table/table.ts";
import type { SyncExtension, TableSchema } from "../../../domain/sync/table/table-schema.ts";
import type { DeletedReply } from "../../../ports/tables/remote-peer.ts";
import type { RunLease } from "../shared/hold-lease.ts";
import type { RemoteTable } from "../shared/remote-table.ts";
import type { RunContext, TransferReport } from "../shared/run-context.ts";
import { requireOther, type SyncDeps } from "../shared/sync-deps.ts";

export interface Handshake {
  readonly clocks: Clocks;
  readonly extensions: ReadonlySet<string>;
  /** The id of its deployment; null of a remote that tells none. */
  readonly remoteId: string | null;
  /** The table as the remote has it, and its late rows since a mark; null of a remote without `schema`. */
  readonly schema: TableSchema | null;
  /** The remote's rows of the table; null when it does not know. */
  readonly countThere: number | null;
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
  /** A row of a remote that tells no schema; null when it has none, and where nothing is pushed. */
  readonly firstRecord: JsonObject | null;
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

/** The memory that a table has of its remote. D-11.10. */
export interface TransferMemory {
  readonly remote: RemoteIdentity;
  /** True when what was kept is another remote's. */
  readonly isOther: boolean;
  /** The memory as it was kept; empty where it is another remote's. */
  readonly kept: TableMemory;
}

/** The state for writing here; the retry of a pulled record has no more. */
export interface OwnTransfer {
  readonly deps: SyncDeps;
  readonly table: Table;
  readonly direction: SyncDirection;
  /** A dry run's lease has no claim, so nothing is committed. */
  readonly lease: RunLease;
  /** The table's memory; null where the remote of a record is unknown. */
  readonly memory: TransferMemory | null;
  /** The conflict rule of the receiving end: `newer` in a run, `overwrite` with `force`, null for the table's own. D-7.1. */
  readonly conflict: ConflictRule | null;
  /** The columns that take part. */
  readonly columns: KnownColumns;
  /** Columns that took no part before: all rows are moved for them. */
  readonly added: readonly string[];
  /** Columns in which a null of the remote empties nothing here. */
  readonly silent: readonly string[];
}

export interface Transfer extends OwnTransfer, RemoteCheck {
  readonly run: RunContext;
  readonly report: TransferReport;
  readonly memory: TransferMemory;
  /** The memory at the beginning. */
  readonly last: TableMemory;
}

/** Throws `sync_failed` when the table cannot move in any direction, and as `shakeHands`. `isPushed`: rows are going to be sent. */
export async function checkRemote(remote: RemoteTable, isPushed: boolean): Promise<RemoteCheck> {
  const { run, table } = remote;
  const { pull, nowMs } = await run.deps.memory.read(table.name);
  const lateAfter = run.isFull ? null : (pull.lateMark ?? null);
  const handshake = await shakeHands(remote, lateAfter, formatMs(nowMs));
  const { schema } = handshake;
  const firstRecord = isPushed && schema === null ? await readFirstRecord(remote) : null;
  const memory = await readMemory(remote, handshake);
  const { problem, pushProblem, leftOut, ...differences } =
    schema === null ? differencesOfRecord(table, firstRecord) : compareSchemas(table, schema);
  if (problem !== null) throw problem;
  const directions = compareDirections(table, schema, run.deps.deploymentId);
  const others = memory.isOther ? [otherRemoteText(table)] : [];
  return {
    remote,
    handshake,
    firstRecord,
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
async function shakeHands(
  remote: RemoteTable,
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
  return {
    clocks: { remoteTime, ownTime },
    extensions: new Set(status.extensions),
    remoteId: status.deploymentId ?? null,
    schema: tellsSchema ? await remote.readSchema(lateAfter) : null,
    countThere: rowsIn(status.tableCounts, table.name),
  };
}

async function readFirstRecord(remote: RemoteTable): Promise<JsonObject | null> {
  const { page } = await remote.pullPage({ since: null, offset: 0, limit: 1 });
  return page.records[0] ?? null;
}

export function hasExtension({ extensions }: Handshake, name: SyncExtension): boolean {
  return extensions.has(name);
}

async function readMemory(
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

/** A transfer without added columns, as a repair needs it. */
export function transferOf(
  check: RemoteCheck,
  lease: RunLease,
  report: TransferReport,
  conflict: ConflictRule | null,
): Transfer {
  const { run, table } = check.remote;
  const { direction } = report;
  const own = { deps: run.deps, table, direction, lease, conflict, added: [], silent: [] };
  return { ...check, ...own, run, report, last: check.memory.kept };
}

/** Opens a transfer by the memory as it is under the lease. Throws `sync_failed` when a pull has to come first. */
export async function openTransfer(
  check: RemoteCheck,
  remote: RemoteTable,
  lease: RunLease,
  report: TransferReport,
): Promise<Transfer> {
  const { run, table } = remote;
  const { direction } = report;
  assert(run.isDryRun || lease.claim !== null, "Only a dry run goes without a lease");
  const memory = await readMemory(remote, check.handshake);
  const { kept } = memory;
  const added = addedColumns(kept[direction].columns, check.columns);
  const isBoth = run.directions.length > 1;
  // A dry run of both counts as if its pull were done.
  if (direction === "push" && !(isBoth && run.isDryRun)) {
    requirePulled(table, check.columns, kept.pull.columns);
    // In a run of both the pull came first, unless another run has left a column out since the check.
    if (isBoth) requireMoved(table.name, check.columns, [], kept.pull.columns);
  }
  const { marker: _, lateMark: __, ...anew } = kept[direction];
  const lateAfter = run.isFull ? null : (kept.pull.lateMark ?? null);
  const isAskedAgain = direction === "pull" && !isToDate(run, check, lateAfter);
  return {
    ...transferOf(check, lease, report, run.isForced ? "overwrite" : "newer"),
    remote,
    handshake: isAskedAgain
      ? await shakeHands(remote, lateAfter, check.handshake.clocks.ownTime)
      : check.handshake,
    memory,
    last: added.length === 0 ? kept : { ...kept, [direction]: anew },
    added,
    silent: silentColumns(check.columns, direction, kept),
  };
}

/**
 * True when a pull can use the late rows that the check asked for. False when another run has kept a mark since. False, too, when
 * all rows are read after a push of this run: with a mark from before that push, the next pull would read the pushed rows again.
 */
function isToDate(run: RunContext, check: RemoteCheck, lateAfter: string | null): boolean {
  const isPushedBefore = run.directions.length > 1 && check.handshake.schema !== null;
  return lateAfter === check.lateAfter && (lateAfter !== null || !isPushedBefore);
}

/** Columns that the remote may not know, as they are new or were never sent: its null in them means nothing. */
export function silentColumns(
  columns: KnownColumns,
  direction: SyncDirection,
  memory: TableMemory,
): readonly string[] {
  return [memory[direction], memory.push].flatMap((then) => addedColumns(then.columns, columns));
}

/** Throws `sync_failed` where a push would empty columns. The owner of the rows has nothing to fetch. D-11.9. */
function requirePulled(table: Table, now: KnownColumns, pulled: KnownColumns | undefined): void {
  const unfetched = table.direction === "push" ? [] : unfetchedColumns(pulled, now);
  if (unfetched.length === 0) return;
  const names = unfetched.map((name) => `"${name}"`).join(", ");
  const text = `Columns of "${table.name}" are new here, and a push would empty them at the remote: ${names}`;
  throw new AppError("sync_failed", text, { hint: "Pull the table first, or run both" });
}
