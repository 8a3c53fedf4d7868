// What a transfer keeps here: its markers, the commits of its parts, and the rows that both ends exchanged. D-4.5, D-4.6, D-4.8,
// D-7.4.
import type { Key } from "../../../domain/shared/document-key.ts";
import { isAppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { convertPulled } from "../../../domain/sync/rows/convert.ts";
import { keyText, recordKey } from "../../../domain/sync/rows/row-key.ts";
import { addedColumns, leavingOut } from "../../../domain/sync/run/compare-schemas.ts";
import {
  countBlock,
  ExchangedRows,
  exchangedBlock,
} from "../../../domain/sync/run/exchanged-rows.ts";
import { halves } from "../../../domain/sync/run/pacing.ts";
import {
  bothChanges,
  isNoChange,
  type MemoryChange,
  NO_MEMORY,
} from "../../../domain/sync/run/remote-memory.ts";
import { TransferMarkers } from "../../../domain/sync/run/transfer-markers.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import type { LateRowsTold } from "../../../domain/sync/table/table-schema.ts";
import { type RunLease, transferLeaseName, tryLease } from "../shared/hold-lease.ts";
import {
  type CommitExtras,
  changesOf,
  NOTHING_WRITTEN,
  type RowsToWrite,
  type WriteOutcome,
  writeRows,
} from "../shared/write-rows.ts";
import type { OwnTransfer, Transfer, TransferMemory } from "./open-transfer.ts";

/** Attempts to fill a row that others write to. */
const MAX_TRIES = 3;
/** Versions that pulls add, beyond the rows of the table, before blocks are put together. */
const MIN_ADDED = 50_000;

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

/** The memory change to commit before the first rows, or with them (`isMoved`). Added columns count as moved at the end only. */
export function beginning(
  { added, memory }: Transfer,
  markers: TransferMarkers,
  isMoved: boolean,
): MemoryChange {
  // Another remote's memory stays until a row has gone to this one.
  return added.length === 0 ? markers.begin(isMoved || !memory.isOther) : {};
}

/**
 * Writes rows and extras in one commit under the lease; a dry run writes nothing. Late rows are noted as those of an own run,
 * unless `isOwnRun` is false. `extrasOf`: as in `RunCommit`. Throws the lease's reason when it is lost, and as `writeRows`.
 */
export async function commitRows(
  transfer: OwnTransfer,
  rows: RowsToWrite,
  extrasOf: (outcome: WriteOutcome) => CommitExtras = () => ({}),
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

/**
 * Fills added columns that are null in rows that stayed here, and changes nothing else. A row that changes meanwhile is looked at
 * again. Resolves to the number of rows changed. D-7.3.
 */
export async function fillColumns(
  transfer: OwnTransfer,
  stayed: readonly JsonObject[],
): Promise<number> {
  const { table, added } = transfer;
  const offered = new Map<string, Row>();
  for (const record of added.length === 0 ? [] : stayed) {
    const { row } = convertPulled(table, record);
    if (row !== null) offered.set(keyText(table, row), row);
  }
  let changed = 0;
  for (let tries = 0; tries < MAX_TRIES && offered.size > 0; tries++) {
    const rows = await filledRows(transfer, offered);
    if (rows.length === 0) break;
    const outcome = await commitRows(transfer, { writes: changesOf(rows), conflict: "newer" });
    changed += outcome.changed;
    const kept = new Set(outcome.kept);
    const left = new Set(rows.filter((_, i) => kept.has(i)).map((row) => keyText(table, row)));
    for (const key of offered.keys()) if (!left.has(key)) offered.delete(key);
  }
  return changed;
}

/** The rows with something to fill: their key and time here, and the columns to fill. */
async function filledRows(
  { deps, table, added }: OwnTransfer,
  offered: ReadonlyMap<string, Row>,
): Promise<Row[]> {
  const { timestampColumn } = table;
  const keys = [...offered.values()].map((row) => recordKey(table, row));
  const stored = await deps.tables.byKeys(table, keys, "sent");
  const isNull = (row: Row, name: string) => (row[name] ?? null) === null;
  return stored.flatMap((row) => {
    const there = offered.get(keyText(table, row)) ?? {};
    const filled = added.filter((name) => isNull(row, name) && !isNull(there, name));
    if (filled.length === 0) return [];
    const time =
      timestampColumn === null ? {} : { [timestampColumn]: row[timestampColumn] ?? null };
    const values = filled.map((name) => [name, there[name] ?? null] as const);
    return [{ ...recordKey(table, row), ...time, ...Object.fromEntries(values) }];
  });
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

/** The exchanged rows of a pull, to which each page adds. */
export async function openExchange(transfer: Transfer, markers: TransferMarkers) {
  const { deps, run, table, last, handshake } = transfer;
  // Rows that were here before may not be exchanged.
  const isFromStart = markers.start === null;
  const pushMarker = last.push.marker || null;
  // The first push goes by the own mark from before the first exchanged row; later pushes keep their own.
  const isKept = last.push.lateMark !== undefined || pushMarker !== null;
  const asked = { lateAfter: null, isForOwnPush: true };
  const lateMark = isKept ? null : (await deps.lateRows.read(table, asked)).mark;
  const mark = lateMark === null ? {} : { push: { lateMark } };
  const addedBefore = last.pull.added ?? 0;
  /** Versions added since blocks were put together, those of repeated attempts to commit too. */
  let added = addedBefore;
  return {
    /** The extras of one commit: the block of rows that are here as they came, and the memory behind them. */
    extras(here: readonly Row[], changed: number, passed: MemoryChange) {
      // Rows that come again unchanged would be added again with every run.
      const isKnown = changed === 0 && !isFromStart;
      const exchanged = isKnown ? null : exchangedBlock(table, here, pushMarker);
      if (exchanged === null) return { memory: passed };
      added += countBlock(exchanged);
      return { exchanged, memory: bothChanges(passed, { pull: { added }, ...mark }) };
    },

    /** Puts blocks together when they have grown, unless a push works with them. */
    async finish(): Promise<void> {
      if (added === addedBefore || added < MIN_ADDED) return;
      // Counting the table here would take most of the time of a small run.
      const rows = handshake.countThere ?? (await deps.tables.count(table, { hasKey: true }));
      if (added < MIN_ADDED + rows) return;
      const name = transferLeaseName("push", table.name);
      const taken = await tryLease(deps, name, run.runId, run.stop);
      if ("heldBy" in taken) return;
      await using lease = taken;
      await replaceExchanged(transfer, lease, await readExchanged(transfer), pushMarker);
      await commitExtras(transfer, { memory: { pull: { added: 0 } } });
    },
  };
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
