import { AppError } from "../../../domain/shared/errors.ts";
import { keyLabel, type PushResult } from "../../../domain/sync/rows/push-result.ts";
import {
  type BatchSize,
  halves,
  isTooLarge,
  isTooMuchAtOnce,
} from "../../../domain/sync/run/pacing.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { type PushRequest, RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { hasExtension } from "../shared/handshake.ts";
import type { TableTransfer } from "./begin-transfer.ts";
import type { Rejection } from "./table-rejections.ts";

export interface SentRows {
  readonly accepted: readonly Row[];
  readonly rejected: readonly Rejection[];
  /** Of the accepted ones, those that stayed as they are there, being newer. Only a guarded push tells. */
  readonly kept: number;
  /** Of the accepted ones, those that were left out there, as the people whom they name were erased. D-8.2. */
  readonly erased: number;
  /** Rows really written there; all accepted ones where the remote does not tell. */
  readonly changed: number;
}

const NOTHING: SentRows = { accepted: [], rejected: [], kept: 0, erased: 0, changed: 0 };

/**
 * Sends rows until each is either written there or rejected alone: a batch that is too much at once, or of which some
 * records failed, is halved. Sending a row again does no harm. D-4.6.
 */
export async function sendRows(
  transfer: TableTransfer,
  size: BatchSize,
  rows: readonly Row[],
): Promise<SentRows> {
  if (rows.length === 0) return NOTHING;
  if (transfer.run.isDryRun) return { ...NOTHING, accepted: rows };
  const reply = await sendBatch(transfer, size, rows);
  if (reply === "too_much") return sendHalves(transfer, size, rows);
  if ("rejectedAlone" in reply) return { ...NOTHING, rejected: [reply.rejectedAlone] };
  const { errors = [], errorCount = 0, kept = 0, erased = 0 } = reply;
  const { changed = rows.length - errorCount } = reply;
  if (errorCount === 0) return { accepted: rows, rejected: [], kept, erased, changed };
  // Every record failed, and each has its message, in the order of the records.
  const isEachNamed = errorCount === rows.length && errors.length === rows.length;
  if (!isEachNamed && rows.length > 1) {
    // Those that did not fail are written by now: sent again they change nothing more.
    const parts = await sendHalves(transfer, size, rows);
    return isGuarded(transfer) ? { ...parts, changed: parts.changed + changed } : parts;
  }
  const rejected = rows.map((record, i) => rejection(transfer.table, record, errors[i]));
  return { ...NOTHING, rejected };
}

async function sendHalves(
  transfer: TableTransfer,
  size: BatchSize,
  rows: readonly Row[],
): Promise<SentRows> {
  const [first, second] = halves(rows);
  const before = await sendRows(transfer, size, first);
  const after = await sendRows(transfer, size, second);
  return {
    accepted: [...before.accepted, ...after.accepted],
    rejected: [...before.rejected, ...after.rejected],
    kept: before.kept + after.kept,
    erased: before.erased + after.erased,
    changed: before.changed + after.changed,
  };
}

async function sendBatch(
  transfer: TableTransfer,
  size: BatchSize,
  rows: readonly Row[],
): Promise<PushResult | "too_much" | { readonly rejectedAlone: Rejection }> {
  const { run, table, lease, calls, report } = transfer;
  const [only] = rows;
  const isAlone = rows.length === 1;
  try {
    const send = (signal: AbortSignal) => {
      lease.assertHeld();
      return run.remote.peer.pushBatch(table.name, { ...requestOf(transfer, rows), signal });
    };
    const pushed = await calls.call(send, isAlone ? isTooLarge : isTooMuchAtOnce);
    report.addBytes(pushed);
    checkResult(pushed.result, rows.length);
    if (isGuarded(transfer)) checkGuarded(pushed.result);
    return pushed.result;
  } catch (error) {
    if (!(error instanceof RemotePeerError)) throw error;
    if (isAlone && only !== undefined) {
      return { rejectedAlone: { record: only, message: error.message } };
    }
    if (isTooLarge(error)) {
      size.limit(rows.length);
      run.remote.learned.learn(run.remote.address, table.name, rows.length);
    } else size.shrink(rows.length);
    return "too_much";
  }
}

/** The request that sends rows, as the peer is to prepare it. */
export function requestOf(transfer: TableTransfer, rows: readonly Row[]): PushRequest {
  const request = { records: rows, syncTimestamp: transfer.run.startedAt };
  if (isGuarded(transfer)) return { ...request, isGuarded: true };
  const isKept = transfer.handshake.schema?.conflict === "newer";
  return isKept && transfer.conflict === "overwrite" ? { ...request, isForced: true } : request;
}

/** True when the remote leaves newer rows as they are, and tells so. D-7.2. */
export function isGuarded({ conflict, handshake }: TableTransfer): boolean {
  return conflict === "newer" && hasExtension(handshake, "conflict-newer");
}

/** A reply that does not account for every record, or that proves no integrity, is no acknowledgement. */
function checkResult(result: PushResult, sent: number): void {
  const { upserted, errorCount = 0, erased = 0, integrity } = result;
  if (result.error !== undefined || upserted + errorCount + erased !== sent) {
    const text = `The remote reports ${upserted} written and ${errorCount} failed of ${sent} records`;
    const reason = result.error === undefined ? "" : `: ${result.error}`;
    throw new AppError("remote_invalid", text + reason);
  }
  if (integrity === "verified") return;
  const text = `The remote did not verify the checksum of a batch: integrity is "${integrity ?? ""}"`;
  throw new AppError("remote_invalid", text);
}

function checkGuarded({ kept, changed }: PushResult): void {
  if (kept !== undefined && changed !== undefined) return;
  const text =
    "The remote lists the extension conflict-newer and does not tell kept and changed rows";
  throw new AppError("remote_invalid", text);
}

/** An entry of `errors` begins with the key, which a rejected record has beside its message. S-2.4. */
function rejection(table: Table, record: Row, entry = "Refused without a reason"): Rejection {
  const prefix = `${keyLabel(table, record)}: `;
  return { record, message: entry.startsWith(prefix) ? entry.slice(prefix.length) : entry };
}
