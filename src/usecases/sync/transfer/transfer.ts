// The transfer of a table in one direction: its state, its beginning, and the commits of its parts here. D-4.5, D-4.6, D-4.8,
// D-7.4.
import type { Key } from "../../../domain/shared/document-key.ts";
import { assert, isAppError } from "../../../domain/shared/errors.ts";
import type { PushResult } from "../../../domain/sync/rows/push-result.ts";
import {
  addedColumns,
  type KnownColumns,
  leavingOut,
  requireMoved,
} from "../../../domain/sync/run/compare-schemas.ts";
import { countBlock, ExchangedRows } from "../../../domain/sync/run/exchanged-rows.ts";
import { halves, isTooLarge, isTooMuchAtOnce } from "../../../domain/sync/run/pacing.ts";
import {
  isNoChange,
  type MemoryChange,
  NO_MEMORY,
  type TableMemory,
} from "../../../domain/sync/run/remote-memory.ts";
import type { SyncDirection } from "../../../domain/sync/run/run.ts";
import { TransferMarkers } from "../../../domain/sync/run/transfer-markers.ts";
import type { ConflictRule, Table } from "../../../domain/sync/table/table.ts";
import type { LateRowsTold } from "../../../domain/sync/table/table-schema.ts";
import { type PushRequest, RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import type { RunLease } from "../shared/hold-lease.ts";
import type { RemoteTable } from "../shared/remote-table.ts";
import type { RunContext, TransferReport } from "../shared/run-context.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import {
  type CommitExtras,
  NOTHING_WRITTEN,
  type RowsToWrite,
  type WriteOutcome,
  writeRows,
} from "../shared/write-rows.ts";
import {
  columnHistory,
  type RemoteCheck,
  readMemory,
  shakeHands,
  type TransferMemory,
} from "./remote-check.ts";

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
  const { added, silent, pushProblem } = columnHistory(table, check.columns, direction, kept);
  if (direction === "push") {
    const isBoth = run.directions.includes("pull");
    // A dry run of both counts as if its pull were done.
    if (pushProblem !== null && !(isBoth && run.isDryRun)) throw pushProblem;
    // In a run of both the pull came first, unless another run has left a column out since the check.
    if (isBoth && !run.isDryRun) requireMoved(table.name, check.columns, [], kept.pull.columns);
  }
  const { marker: _, lateMark: __, ...anew } = kept[direction];
  const lateAfter = run.isFull ? null : (kept.pull.lateMark ?? null);
  const isAskedAgain = direction === "pull" && !isToDate(run, check, lateAfter);
  return {
    ...transferOf(check, lease, report, run.isForced ? "overwrite" : "newer"),
    remote,
    handshake: isAskedAgain
      ? await shakeHands(remote, false, lateAfter, check.handshake.clocks.ownTime)
      : check.handshake,
    memory,
    last: added.length === 0 ? kept : { ...kept, [direction]: anew },
    added,
    silent,
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

/**
 * Opens the markers of a transfer. `late`: late rows at its source since the mark kept last; null for a remote that tells none.
 * Throws `sync_failed` when a clock by which markers of the run's directions were made has been set back.
 */
export function openMarkers(transfer: Transfer, late: LateRowsTold | null): TransferMarkers {
  const { deps, run, table, direction, handshake, last, columns, added } = transfer;
  const pushed = last.push.columns;
  const lagThere = handshake.schema?.lagSeconds;
  const greaterLag = Math.max(table.lagSeconds, lagThere ?? 0);
  const lagAtSource = direction === "push" ? deps.lateRows.lagSeconds(table) : lagThere;
  const options = {
    // A full run cleared them, but another run may have kept its own since.
    kept: run.isFull ? NO_MEMORY : last,
    table,
    columns,
    clocks: handshake.clocks,
    // The remote lacks values that a pull leaves here in added columns: the next push begins anew. D-7.3.
    pushedAnew: direction === "push" || pushed === undefined ? null : leavingOut(pushed, added),
    lagSeconds: lagAtSource === 0 ? 0 : greaterLag,
    clockLagSeconds: greaterLag,
    tellsOfLateRows: handshake.schema !== null,
  };
  // All directions first: a marker that cannot be trusted fails the table before any row moves.
  for (const one of run.directions) new TransferMarkers({ ...options, direction: one, late: null });
  return new TransferMarkers({ ...options, direction, late });
}

/** Makes the state to commit with rows from their outcome. Called before each attempt to commit. */
type ExtrasOf = (outcome: WriteOutcome) => CommitExtras;

/**
 * Writes rows and extras in one commit under the lease; a dry run writes nothing. Late rows are noted as those of an own run,
 * unless `isOwnRun` is false. Throws the lease's reason when it is lost, and as `writeRows`.
 */
export async function commitRows(
  transfer: OwnTransfer,
  rows: RowsToWrite,
  extrasOf: ExtrasOf = () => ({}),
): Promise<WriteOutcome> {
  const { deps, table, lease, memory } = transfer;
  if (lease.claim === null) return NOTHING_WRITTEN;
  lease.assertHeld();
  const commit = {
    claim: lease.claim,
    owner: memory === null ? null : ownerOf(transfer, memory),
    extrasOf: (outcome: WriteOutcome) => {
      lease.assertHeld();
      return extrasOf(outcome);
    },
  };
  try {
    return await writeRows(deps, table, { isOwnRun: true, ...rows }, commit);
  } catch (error) {
    if (isAppError(error, "lease_lost")) {
      lease.lose();
      lease.assertHeld();
    }
    throw error;
  }
}

function ownerOf({ table, direction, columns, added }: OwnTransfer, memory: TransferMemory) {
  const other = direction === "pull" ? "push" : "pull";
  const before = addedColumns(memory.kept[other].columns, columns);
  // A pull counts its added columns as left out of the last push when it ends.
  const known = direction === "pull" ? [...before, ...added] : before;
  return { table: table.name, direction, remote: memory.remote, columns, known };
}

/** As `commitRows`, without rows; commits nothing for empty extras. */
export async function commitExtras(transfer: OwnTransfer, extras: CommitExtras): Promise<void> {
  const { memory = {}, rejected = [], accepted, exchanged } = extras;
  const isEmpty = isNoChange(memory) && rejected.length + (accepted?.keys.length ?? 0) === 0;
  if (!isEmpty || exchanged !== undefined) await commitRows(transfer, { writes: [] }, () => extras);
}

/** The memory change to commit before the first rows, or with them (`isMoved`). Added columns count as moved at the end only. */
export function beginning(
  { added, memory }: Transfer,
  markers: TransferMarkers,
  isMoved: boolean,
): MemoryChange {
  // Another remote's memory stays until a row has gone to this one.
  return added.length === 0 ? markers.begin(isMoved || !memory.isOther) : {};
}

/** Resolves to the failure when so many rows or tombstones are too much at once, or a single one is too large. */
export async function pushAtOnce(
  { remote, lease, report }: Transfer,
  request: PushRequest,
  members: number,
): Promise<PushResult | RemotePeerError> {
  try {
    const passes = members === 1 ? isTooLarge : isTooMuchAtOnce;
    const pushed = await remote.pushBatch(request, lease, passes);
    report.addBytes(pushed);
    return pushed.result;
  } catch (error) {
    if (!(error instanceof RemotePeerError)) throw error;
    if (members > 1 && isTooLarge(error)) remote.learnTooMany("batch", members);
    return error;
  }
}

type Summable<Of> = { readonly [Name in keyof Of]: number | readonly unknown[] };

/** Works on both halves of a batch in turn, and adds up their results. */
export async function inHalves<Item, Of extends Summable<Of>>(
  batch: readonly Item[],
  work: (half: readonly Item[], isLast: boolean) => Promise<Of>,
): Promise<Of> {
  const [first, second] = halves(batch);
  const before = await work(first, false);
  return addUp(before, await work(second, true));
}

export function addUp<Of extends Summable<Of>>(before: Of, after: Of): Of {
  const others: Readonly<Record<string, unknown>> = after;
  const sums = Object.entries<number | readonly unknown[]>(before).map(([name, one]) => {
    const other = others[name];
    return [name, typeof one === "number" ? one + (other as number) : one.concat(other)] as const;
  });
  return Object.fromEntries(sums) as Of;
}

export interface ReadExchanged {
  readonly rows: ExchangedRows;
  /** The keys of the blocks that hold them. */
  readonly keys: readonly Key[];
  readonly versions: number;
}

export async function readExchanged({ deps, table }: Transfer): Promise<ReadExchanged> {
  const { blocks, keys } = await deps.exchanged.read(table.name);
  return { rows: new ExchangedRows(table, blocks), keys, versions: countAll(blocks) };
}

/** Replaces the blocks by as few as hold each of their rows once, without rows that no push from the marker on meets. */
export async function replaceExchanged(
  { deps, table }: Transfer,
  pushLease: RunLease,
  read: ReadExchanged,
  pushMarker: string | null,
): Promise<void> {
  const blocks = read.rows.blocks(pushMarker);
  if (blocks.length === read.keys.length && countAll(blocks) === read.versions) return;
  if (pushLease.claim === null) return;
  pushLease.assertHeld();
  await deps.exchanged.replace(table.name, read.keys, blocks);
}

function countAll(blocks: readonly Uint8Array[]): number {
  return blocks.reduce((sum, block) => sum + countBlock(block), 0);
}
