// A push: rows from the marker on, batch by batch, without those that went or came as they are. D-4.6, D-7.1.
import { compareDateTimes, parseDateTime } from "../../../domain/shared/time.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { rowTimeText } from "../../../domain/sync/rows/row-time.ts";
import { addedColumns, requireMoved } from "../../../domain/sync/run/compare-schemas.ts";
import { ExchangedRows } from "../../../domain/sync/run/exchanged-rows.ts";
import { type BatchSize, rowsThatFit } from "../../../domain/sync/run/pacing.ts";
import type { RejectedRecord } from "../../../domain/sync/run/rejections.ts";
import { bothChanges } from "../../../domain/sync/run/remote-memory.ts";
import type { RemoteRows } from "../../../domain/sync/run/remote-rows.ts";
import type { TransferMarkers } from "../../../domain/sync/run/transfer-markers.ts";
import { isVersioned, type Row } from "../../../domain/sync/table/table.ts";
import type { Transfer } from "./open-transfer.ts";
import { countPush, isGuarded, readFirst, readPush, requestOf, sendRows } from "./push-rows.ts";
import { TableRejections } from "./table-rejections.ts";
import {
  beginning,
  commitExtras,
  openMarkers,
  type ReadExchanged,
  readExchanged,
  replaceExchanged,
} from "./transfer-commits.ts";

/** A push ends after this many times the rows of its table, as rows may be written faster than they go. */
const MAX_GROWTH = 4;

interface Push {
  readonly transfer: Transfer;
  readonly markers: TransferMarkers;
  readonly rejections: TableRejections;
  /** Rows that need not go. */
  readonly exchanged: ReadExchanged;
  readonly size: BatchSize;
  /** The remote's rows, where it does not guard them and is not to be overwritten; else null. */
  there: RemoteRows | null;
  /** True once rows stayed here as their times are too far ahead for an unguarded remote: the next push meets them again. */
  isLeftOver: boolean;
}

/**
 * Pushes one table from its marker on: batch by batch, with the marker behind each acknowledged one, while the next is read.
 * D-4.6. Throws `AppError`; acknowledged batches stay, and the next run goes on behind them. A dry run sends and writes nothing.
 */
export async function pushTable(transfer: Transfer): Promise<void> {
  const { deps, table, report, handshake } = transfer;
  const push = await beginPush(transfer);
  const { markers, size } = push;
  const sinceTime = startTime(markers);
  const totalRows = await countPush(deps.tables, table, sinceTime);
  report.start(totalRows + push.rejections.waiting);
  await commitExtras(transfer, { memory: beginning(transfer, markers, false) });
  await pushRejected(push);
  const reader = readPush(deps.tables, table, sinceTime, size);
  let sentRows = 0;
  for (let reading = readAhead(transfer, reader); ; ) {
    const batch = await reading;
    if (batch === null) break;
    const readUpTo = rowTimeText(table, batch.at(-1) ?? {});
    const pushing = tracedBatch(push, batch, readUpTo);
    reading = readAhead(transfer, reader);
    await pushing;
    sentRows += batch.length;
    const isMuch = sentRows > MAX_GROWTH * totalRows;
    if (isMuch && isAfter(readUpTo, handshake.clocks.ownTime)) break;
  }
  report.addRejected(-push.rejections.replaced);
  if (!push.isLeftOver) await commitExtras(transfer, { memory: markers.finish() });
  await replaceExchanged(transfer, transfer.lease, push.exchanged, markers.current);
}

/** Sends one rejected record again, as the table has it now. Otherwise as `pushTable`. */
export async function pushAgain(transfer: Transfer, entry: RejectedRecord): Promise<void> {
  await pushRejected(await beginPush(transfer, entry));
}

/** `only`: the one rejected record to try again; null for all. */
async function beginPush(transfer: Transfer, only: RejectedRecord | null = null): Promise<Push> {
  const { deps, run, table, remote, last } = transfer;
  const lateAfter = run.isFull ? null : (last.push.lateMark ?? null);
  // Before any row is read: rows that come late during the run are for the next one.
  const late = await deps.lateRows.read(table, { lateAfter, isForOwnPush: true });
  const markers = openMarkers(transfer, late);
  const push: Push = {
    transfer,
    markers,
    rejections: await TableRejections.open(transfer, only),
    exchanged: await openExchanged(transfer, markers),
    size: remote.firstSize("batch"),
    there: null,
    isLeftOver: false,
  };
  if (transfer.conflict !== "newer" || isGuarded(transfer)) return push;
  const findSent = async (rows: readonly Row[]) => {
    await readExchangedFor(push, rows);
    return rows.find((row) => !push.rejections.isSettled(row) && !isExchanged(push, row)) ?? null;
  };
  const waiting = push.rejections.waitingParts();
  push.there = await readFirst(transfer, startTime(markers), waiting, findSent);
  return push;
}

/** No rows with `force`, which sends all; nor where late rows are unknown: then exchanged rows are forgotten. */
async function openExchanged(
  transfer: Transfer,
  { lateFrom }: TransferMarkers,
): Promise<ReadExchanged> {
  const { deps, table, lease, memory, conflict } = transfer;
  const isUnknown = lateFrom === "";
  // Those of another remote go with its memory.
  if (isUnknown && !memory.isOther && lease.claim !== null) {
    lease.assertHeld();
    await deps.exchanged.clear([table.name]);
  }
  if (!isUnknown && conflict === "newer") return await readExchanged(transfer);
  return { rows: new ExchangedRows(table), keys: [], versions: 0 };
}

/** To be called before `isExchanged` of these rows. Others have their turn after each block. */
async function readExchangedFor(
  { transfer, exchanged }: Push,
  rows: readonly Row[],
): Promise<void> {
  const { deps, lease } = transfer;
  for (const _ of exchanged.rows.readFor(rows)) await deps.timer.sleep(0, lease.signal);
}

/** True for a row that is as it last went or came, and was not noted as late since. */
function isExchanged({ markers, exchanged }: Push, row: Row): boolean {
  return !markers.isLate(row) && exchanged.rows.has(row);
}

function startTime({ start }: TransferMarkers): string | null {
  return start === null ? null : parseDateTime(start);
}

/**
 * Reads and encodes the next rows, null at the end, once the batch under way is on the wire: a store may keep the event loop busy
 * while it reads. Awaiting the rows throws a failure.
 */
function readAhead(
  transfer: Transfer,
  reader: ReturnType<typeof readPush>,
): Promise<readonly Row[] | null> {
  const { deps, remote, lease } = transfer;
  const read = async () => {
    await deps.timer.sleep(0, lease.signal);
    const { value: rows = null } = await reader.next();
    if (rows !== null) remote.prepareBatch(requestOf(transfer, rows));
    return rows;
  };
  const reading = read();
  reading.catch(() => {});
  return reading;
}

/** True for rows written after the run began: a table that is written to all the time is left to the next run. */
function isAfter(readUpTo: string | null, time: string): boolean {
  const readTime = readUpTo === null ? null : parseDateTime(readUpTo);
  return readTime !== null && compareDateTimes(readTime, time) > 0;
}

/** Sends rejected rows again, as the table has them now. */
async function pushRejected(push: Push): Promise<void> {
  const { transfer, rejections, size } = push;
  const { deps, table, report } = transfer;
  for await (const part of rejections.waitingParts()) {
    const keys = part.map(({ key }) => key);
    const rows = await deps.tables.byKeys(table, keys, "sent");
    const found = new Set(rows.map((row) => keyText(table, row)));
    const gone = keys.filter((key) => !found.has(keyText(table, key)));
    await rejections.commit([], gone);
    report.skip(gone.length, 0);
    for (let from = 0; from < rows.length; ) {
      const fitting = Math.min(size.rows, rowsThatFit(rows.slice(from)));
      await tracedBatch(push, rows.slice(from, from + fitting), null);
      from += fitting;
    }
  }
}

/** As `pushBatch`, with a span of its own. D-10.9. */
function tracedBatch(push: Push, batch: readonly Row[], readUpTo: string | null): Promise<void> {
  const { tracing } = push.transfer.deps;
  const fields = { "repsync.rows": batch.length };
  return tracing.inSpan("pushBatch", () => pushBatch(push, batch, readUpTo), { fields });
}

/** Sends the rows that need to go. One commit keeps the rejected ones, those that need not go again, and the marker. */
async function pushBatch(
  push: Push,
  batch: readonly Row[],
  readUpTo: string | null,
): Promise<void> {
  const { transfer, markers, rejections, size } = push;
  await readExchangedFor(push, batch);
  const { wanted, newerThere, exchanged, sameThere } = sortRows(push, batch);
  const { clock } = transfer.deps;
  if (wanted.length > 0) await requireFetched(transfer);
  const beganMs = clock.monotonicMs();
  const sent = await sendRows(transfer, size, wanted);
  const tookMs = clock.monotonicMs() - beganMs;
  const done = [...sent.accepted, ...newerThere, ...sameThere, ...exchanged];
  const settled = newerThere.filter((row) => !push.there?.isTooFarAhead(row));
  if (settled.length < newerThere.length) push.isLeftOver = true;
  const begun = beginning(transfer, markers, true);
  const memory = bothChanges(begun, markers.advance(readUpTo));
  // The remote does not tell which rows of erased people it left out: all are sent again while the allowance lasts. D-8.2.
  const arrived = sent.erased > 0 ? [] : sent.accepted;
  const alike = [...arrived, ...settled, ...sameThere];
  const block = push.exchanged.rows.note(alike, markers.current);
  const extras = block === null ? { memory } : { memory, exchanged: block };
  await rejections.commit(sent.rejected, done, extras);
  size.grow(tookMs);
  transfer.report.skip(batch.length - wanted.length, newerThere.length);
  if (wanted.length === 0) return;
  transfer.report.batch({
    ...sent,
    changed: push.there?.countOthers(sent.accepted) ?? sent.changed,
    rows: wanted.length,
    batchRows: size.rows,
  });
}

/** Asked between reading and sending rows, as a pull may have left a column out since the check. Throws as `requireMoved`. */
async function requireFetched({ deps, table, columns, memory }: Transfer): Promise<void> {
  const { pull } = await deps.memory.read(table.name, memory.remote);
  const before = addedColumns(memory.kept.pull.columns, columns);
  requireMoved(table.name, columns, before, pull.columns);
}

/** Sorts rows by whether they need to go; those that this transfer has tried are left out. */
function sortRows(push: Push, batch: readonly Row[]) {
  const { run, last, table } = push.transfer;
  // The first exchange with a remote, and a full one, send all rows.
  const isLater = !run.isFull && Boolean(last.push.marker || last.pull.marker);
  const passesSame = isLater && isVersioned(table);
  const rows = Map.groupBy(batch, (row) => {
    if (push.rejections.isSettled(row)) return "settled";
    if (isExchanged(push, row)) return "exchanged";
    const there = push.there?.versionThere(row);
    if (there === "newer") return "newer";
    return there === "same" && passesSame ? "same" : "wanted";
  });
  const wanted = rows.get("wanted") ?? [];
  return {
    // The same array where possible: it is encoded already.
    wanted: wanted.length === batch.length ? batch : wanted,
    newerThere: rows.get("newer") ?? [],
    // Rows that such a remote has as they are here: sent again, they would undo later writes there.
    sameThere: rows.get("same") ?? [],
    exchanged: rows.get("exchanged") ?? [],
  };
}
