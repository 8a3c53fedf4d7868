// Up to where deletes were moved, and whether all of them behind that are still on record. D-7.6.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { dateTimeMs, parseDateTime } from "../../../domain/shared/time.ts";
import { type DeletePlace, isPlaceTooOld } from "../../../domain/sync/run/delete-place.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type { MemoryChange } from "../../../domain/sync/run/remote-memory.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { type DeletedReply, RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import type { TombstonePage } from "../../../ports/tables/tombstones.ts";
import { type Handshake, hasExtension } from "../shared/handshake.ts";
import type { TableTransfer } from "./begin-transfer.ts";
import { commitExtras } from "./commit.ts";

/** Tombstones of one request or commit. */
export const TOMBSTONES_AT_ONCE = 1_000;
/** The status of a cursor that was never given. */
const BAD_REQUEST = 400;
/** An idle schedule does not keep the same place with every run. */
const KEEP_AGAIN_MS = 3_600_000;

/** True when both ends delete rows of the table that were deleted at the other. */
export function doDeletesTravel(table: Table, handshake: Handshake): boolean {
  return table.deletes && hasExtension(handshake, "deletes") && handshake.schema?.deletes === true;
}

/** The place kept last; null when there is none. */
export function placeOf(transfer: TableTransfer, direction: SyncDirection): DeletePlace | null {
  return transfer.last[direction].deletes ?? null;
}

/** What to commit once deletes were moved up to a place; empty when that is kept, and not long ago. */
export function movedPlace(
  transfer: TableTransfer,
  cursor: string | null,
  givenAt: string,
): MemoryChange {
  const kept = placeOf(transfer, transfer.direction);
  const isSame = kept !== null && kept.cursor === cursor;
  if (isSame && dateTimeMs(givenAt) - dateTimeMs(kept.givenAt) < KEEP_AGAIN_MS) return {};
  return { [transfer.direction]: { deletes: { cursor, givenAt } } };
}

/** Throws `sync_failed` when deletes here behind the place kept may not be on record: rows would come back. */
export async function requireKnownHere(transfer: TableTransfer): Promise<void> {
  const place = placeOf(transfer, "push");
  if (place === null) return;
  const { earliestAvailable } = await listOwn(transfer, place.cursor, 1);
  if (isPlaceTooOld(place, earliestAvailable)) throw mayBeMissed(transfer.table, "here");
}

/**
 * The same of the remote's deletes. It is asked only where some were fetched before; in a run that fetches them later, for
 * the whole page that it will need then.
 */
export async function requireKnownThere(transfer: TableTransfer): Promise<void> {
  const { run, readAhead } = transfer;
  const place = placeOf(transfer, "pull");
  if (place === null) return;
  if (!run.directions.includes("pull")) await readDeletedPage(transfer, place.cursor, 1);
  else readAhead.keep(place.cursor, await readDeletedPage(transfer, place.cursor));
}

/** False when deletes may have been missed at an end, so that it is not known why a row is missing. */
export async function areDeletesKnown(transfer: TableTransfer): Promise<boolean> {
  if (!doDeletesTravel(transfer.table, transfer.handshake)) return true;
  try {
    await requireKnownHere(transfer);
    await requireKnownThere(transfer);
    return true;
  } catch (error) {
    if (isAppError(error, "sync_failed")) return false;
    throw error;
  }
}

/** Reads own tombstones. Throws `sync_failed` for a place that is none here any more. */
export async function listOwn(
  { run, table }: TableTransfer,
  after: string | null,
  limitRows = TOMBSTONES_AT_ONCE,
): Promise<TombstonePage> {
  try {
    return await run.deps.tombstones.list(table, { after, sinceTime: null, limitRows });
  } catch (error) {
    if (isAppError(error, "invalid_request")) throw mayBeMissed(table, "here");
    throw error;
  }
}

/**
 * Reads tombstones of the remote. Throws `sync_failed` for a place that is none there any more, and when the place kept last
 * is too old.
 */
export async function readDeletedPage(
  transfer: TableTransfer,
  cursor: string | null,
  limit = TOMBSTONES_AT_ONCE,
): Promise<DeletedReply> {
  const { run, table, calls, report } = transfer;
  const isUnknown = ({ status }: RemotePeerError) => cursor !== null && status === BAD_REQUEST;
  try {
    const page = await calls.call(
      (signal) => run.remote.peer.readDeleted(table.name, { cursor, limit, signal }),
      isUnknown,
    );
    report.addBytes(page);
    const place = placeOf(transfer, "pull");
    const earliest = parseDateTime(page.earliestAvailable) ?? "";
    if (place === null || !isPlaceTooOld(place, earliest)) return page;
  } catch (error) {
    if (!(error instanceof RemotePeerError)) throw error;
  }
  throw mayBeMissed(table, "there");
}

/**
 * Sets the places of both directions anew once a repair has made one end like the other. What was deleted where the rows
 * came from is moved again from the first tombstone on; what was deleted at the other end so far is not moved any more.
 */
export class DeletePlacesNow {
  readonly #transfer: TableTransfer;
  readonly #memory: MemoryChange;

  private constructor(transfer: TableTransfer, memory: MemoryChange) {
    this.#transfer = transfer;
    this.#memory = memory;
  }

  /** Call it before the ends are compared. */
  static async read(transfer: TableTransfer): Promise<DeletePlacesNow> {
    const { run, table, handshake, direction } = transfer;
    if (!doDeletesTravel(table, handshake)) return new DeletePlacesNow(transfer, {});
    const { ownTime, remoteTime } = handshake.clocks;
    const isPush = direction === "push";
    const own = isPush ? null : await run.deps.tombstones.end(table);
    const remote = isPush ? await endThere(transfer) : null;
    return new DeletePlacesNow(transfer, {
      push: { deletes: { cursor: own, givenAt: ownTime } },
      pull: { deletes: { cursor: remote, givenAt: remoteTime } },
    });
  }

  /** Call it once they are alike. */
  async keep(): Promise<void> {
    await commitExtras(this.#transfer, { memory: this.#memory });
  }
}

/** The place behind the remote's last tombstone. */
async function endThere({ run, table, calls }: TableTransfer): Promise<string> {
  const read = (cursor: string | null) =>
    calls.call((signal) => run.remote.peer.readDeleted(table.name, { cursor, signal }));
  let page = await read(null);
  while (page.nextCursor !== null) page = await read(page.nextCursor);
  return page.cursor;
}

function mayBeMissed(table: Table, where: "here" | "there"): AppError {
  const text = `Deletes of "${table.name}" may have been missed: the record of them ${where} has a gap since the last run`;
  const hint = "Compare the table and repair it by push or pull";
  return new AppError("sync_failed", text, { hint });
}
