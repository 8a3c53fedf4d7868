// The rows of a push: read here, looked for at a remote that guards nothing, and sent. D-4.6, D-7.2.
import { AppError } from "../../../domain/shared/errors.ts";
import { MAX_PUSH_ERRORS } from "../../../domain/shared/limits.ts";
import {
  compareDateTimes,
  dateTimeMs,
  FIRST_TIME_MS,
  formatMs,
} from "../../../domain/shared/time.ts";
import { keyLabel, type PushResult } from "../../../domain/sync/rows/push-result.ts";
import { recordKey } from "../../../domain/sync/rows/row-key.ts";
import { NO_TIME } from "../../../domain/sync/rows/row-memory.ts";
import {
  aheadLimit,
  rowTime,
  rowTimeText,
  timeMicros,
} from "../../../domain/sync/rows/row-time.ts";
import {
  BatchSize,
  isTooLarge,
  isTooMuchAtOnce,
  rowsThatFit,
} from "../../../domain/sync/run/pacing.ts";
import type { RejectedRecord, Rejection } from "../../../domain/sync/run/rejections.ts";
import { RemoteRows } from "../../../domain/sync/run/remote-rows.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { type PushRequest, RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import type { RowsPage, RowsQuery, TableStore } from "../../../ports/tables/table-store.ts";
import { recordsFrom } from "../shared/remote-table.ts";
import { type MovedRecords, NOTHING_MOVED } from "../shared/run-context.ts";
import { changesOf } from "../shared/write-rows.ts";
import { hasExtension, type Transfer } from "./open-transfer.ts";
import { addUp, commitRows, inHalves } from "./transfer-commits.ts";

const FIRST_TIME = formatMs(FIRST_TIME_MS);

/**
 * Reads the rows of a push by position, never by offset, so that no row that moves is skipped: rows without a timestamp, which
 * match no marker, then those from `markerTime` on, which is canonical; all rows where it is null. `size`: the most rows of a
 * batch.
 */
export async function* readPush(
  tables: TableStore,
  table: Table,
  markerTime: string | null,
  size: BatchSize,
): AsyncGenerator<readonly Row[], void, undefined> {
  const isApart = markerTime !== null && (await hasTimeless(tables, table));
  for (const sinceTime of isApart ? [null, markerTime] : [markerTime]) {
    const isWanted = (row: Row) =>
      !isApart || sinceTime !== null || rowTimeText(table, row) === null;
    for (let after: Row | null = null, isEnd = false; !isEnd; ) {
      const limitRows = size.rows;
      const query: RowsQuery = { from: { after }, sinceTime, limitRows, columns: "sent" };
      const found: RowsPage = await tables.page(table, query);
      const wanted = found.rows.filter(isWanted);
      const rows = wanted.slice(0, rowsThatFit(wanted));
      if (rows.length > 0) yield rows;
      isEnd = rows.length === wanted.length && rows.length < limitRows;
      after = rows.at(-1) ?? null;
    }
  }
}

export async function countPush(
  tables: TableStore,
  table: Table,
  sinceTime: string | null,
): Promise<number> {
  const count = (since: string | null) => tables.count(table, { sinceTime: since, hasKey: true });
  const counted = await count(sinceTime);
  if (sinceTime === null || !(await hasTimeless(tables, table))) return counted;
  return counted + (await count(null)) - (await count(FIRST_TIME));
}

/** True where a table with timestamps has rows without one, which come first. */
async function hasTimeless(tables: TableStore, table: Table): Promise<boolean> {
  if (table.timestampColumn === null) return false;
  const { rows } = await tables.page(table, { from: { after: null }, limitRows: 1 });
  return rows.some((row) => rowTimeText(table, row) === null);
}

/** Finds the first of some rows, in order, that a push is going to send; null for none. */
type FindSent = (rows: readonly Row[]) => Promise<Row | null>;

/** The remote's rows that may be newer than those to send: from `start` on (canonical; null: all), and the rejected. */
export async function readFirst(
  transfer: Transfer,
  start: string | null,
  rejected: AsyncIterable<readonly RejectedRecord[]>,
  findSent: FindSent,
): Promise<RemoteRows> {
  const { deps, table, remote, handshake, firstRecord, report, last } = transfer;
  const { remoteTime } = handshake.clocks;
  const there = new RemoteRows(table, remoteTime);
  const limit = aheadLimit(dateTimeMs(remoteTime));
  const first = await firstSent(transfer, findSent, start);
  const ahead = await firstSent(transfer, findSent, limit);
  const times = [...first, ...ahead].map((row) => rowTime(table, row));
  for await (const part of rejected) {
    const keys = part.map(({ key }) => key);
    const rows = await deps.tables.byKeys(table, keys, "sent");
    times.push(...rows.map((row) => rowTime(table, row)));
  }
  if (times.length === 0) return there;
  // A row without a time, or too far ahead, ranks below all others: any row there may be newer.
  const isAll = times.some((time) => time === null || compareDateTimes(time, limit) > 0);
  const [earliest = null] = isAll
    ? []
    : times.filter((time) => time !== null).sort(compareDateTimes);
  const fromMicros = earliest === null ? NO_TIME : timeMicros(earliest);
  // A time as the remote writes it, which it can read.
  const sampleTime = rowTimeText(table, firstRecord ?? {}) || last.pull.marker || null;
  for await (const pulled of recordsFrom(remote, fromMicros, sampleTime)) {
    report.addBytes(pulled);
    for (const record of pulled.records) there.note(record);
  }
  return there;
}

/** The first row at or after a canonical time, or without a time, that is going to be sent. */
async function firstSent(
  { deps, table }: Transfer,
  findSent: FindSent,
  sinceTime: string | null,
): Promise<readonly Row[]> {
  const { tables, maxPageRows } = deps;
  for await (const rows of readPush(tables, table, sinceTime, new BatchSize(maxPageRows))) {
    const sent = await findSent(rows);
    if (sent !== null) return [sent];
  }
  return [];
}

interface SentRows extends MovedRecords {
  readonly accepted: readonly Row[];
}

const NOTHING: SentRows = { ...NOTHING_MOVED, accepted: [] };

/**
 * Sends rows until each is written there or rejected: a batch that is too much at once is halved, and so are rows of which more
 * failed than the reply names. Sending a row again does no harm. Only a guarded push tells kept rows; it and an overwriting push
 * tell changed rows. D-4.6, D-7.11.
 */
export async function sendRows(
  transfer: Transfer,
  size: BatchSize,
  rows: readonly Row[],
): Promise<SentRows> {
  if (rows.length === 0) return NOTHING;
  if (transfer.conflict === "overwrite") await forgetDeletes(transfer, rows);
  const reply = await pushAtOnce(transfer, requestOf(transfer, rows), rows.length);
  const inParts = (parts: readonly Row[]) =>
    inHalves(parts, (half) => sendRows(transfer, size, half));
  if (reply instanceof RemotePeerError) {
    const { message } = reply;
    if (rows.length === 1)
      return { ...NOTHING, rejected: rows.map((record) => ({ record, message })) };
    if (isTooLarge(reply)) size.limit(rows.length);
    else size.shrink(rows.length);
    return await inParts(rows);
  }
  checkResult(transfer, reply, rows.length);
  const { errorCount = 0, kept = 0, erased = 0 } = reply;
  const { changed = rows.length - errorCount } = reply;
  if (errorCount === 0) return { accepted: rows, rejected: [], kept, erased, changed };
  const rejected = namedRejections(transfer.table, rows, reply);
  const named = new Set<unknown>(rejected.map(({ record }) => record));
  const others = rows.filter((row) => !named.has(row));
  if (named.size === errorCount) return { accepted: others, rejected, kept, erased, changed };
  // Rows that did not fail are written: sent again, they count as changed only where the reply did not tell.
  const before = { ...NOTHING, rejected, changed: reply.changed ?? 0 };
  return addUp(before, await inParts(others));
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

/** Forgets tombstones beside rows here: a repair or forced run that sends the rows says that they are right. D-7.6.9. */
async function forgetDeletes(transfer: Transfer, rows: readonly Row[]): Promise<void> {
  const { deps, table } = transfer;
  if (!table.deletes) return;
  const keys = rows.map((row) => recordKey(table, row));
  const found = await deps.tombstones.byKeys(table, keys);
  // Of the keys alone: the other columns may have changed since the rows were read.
  const writes = changesOf(found.map(({ key }) => key));
  if (writes.length > 0) await commitRows(transfer, { writes, conflict: "restore" });
}

export function requestOf(transfer: Transfer, rows: readonly Row[]): PushRequest {
  const request = { records: rows, syncTimestamp: transfer.run.startedAt };
  if (isGuarded(transfer)) return { ...request, isGuarded: true };
  // A remote whose schema has a conflict rule knows the header, and tells the rows that it wrote.
  const isKnown = (transfer.handshake.schema?.conflict ?? null) !== null;
  return isKnown && transfer.conflict === "overwrite" ? { ...request, isForced: true } : request;
}

/** True when the remote leaves newer rows as they are, and tells so. D-7.2. */
export function isGuarded({ conflict, handshake }: Transfer): boolean {
  return conflict === "newer" && hasExtension(handshake, "conflict-newer");
}

/** Throws `remote_invalid` for a reply that leaves records out, or did not verify the checksum. */
function checkResult(transfer: Transfer, result: PushResult, sent: number): void {
  const { upserted, errorCount = 0, erased = 0, integrity, kept, changed } = result;
  if (result.error !== undefined || upserted + errorCount + erased !== sent) {
    const text = `The remote reports ${upserted} written and ${errorCount} failed of ${sent} records`;
    const reason = result.error === undefined ? "" : `: ${result.error}`;
    throw new AppError("remote_invalid", text + reason);
  }
  if (integrity !== "verified") {
    const text = `The remote did not verify the checksum of a batch: integrity is "${integrity ?? ""}"`;
    throw new AppError("remote_invalid", text);
  }
  if (!isGuarded(transfer) || (kept !== undefined && changed !== undefined)) return;
  const text =
    "The remote lists the extension conflict-newer and does not tell kept and changed rows";
  throw new AppError("remote_invalid", text);
}

/**
 * The failed rows by the entries of `errors`. An entry counts where its key is that of one row alone. Where all rows failed and
 * each has an entry, the entries are in the order of the rows. S-2.4.
 */
function namedRejections(
  table: Table,
  rows: readonly Row[],
  { errors = [], errorCount }: PushResult,
): readonly Rejection[] {
  const prefixed = rows.map((record) => ({ record, prefix: `${keyLabel(table, record)}: ` }));
  const isEach = errorCount === rows.length && (errors.length === errorCount || errorCount === 1);
  if (isEach) {
    return prefixed.map(({ record, prefix }, i) => {
      const { [i]: entry = "Refused without a reason" } = errors;
      return { record, message: entry.startsWith(prefix) ? entry.slice(prefix.length) : entry };
    });
  }
  const named = errors.slice(0, MAX_PUSH_ERRORS).flatMap((entry) => {
    const [first, ...more] = prefixed.filter(({ prefix }) => entry.startsWith(prefix));
    if (first === undefined || more.length > 0) return [];
    return [[first.record, entry.slice(first.prefix.length)] as const];
  });
  return [...new Map(named)].map(([record, message]) => ({ record, message }));
}
