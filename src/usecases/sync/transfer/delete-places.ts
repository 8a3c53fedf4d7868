// Places up to which deletes were moved, gaps in the record of deletes, and its pages at both ends. D-7.6.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { dateTimeMs, parseDateTime } from "../../../domain/shared/time.ts";
import { isEndless } from "../../../domain/sync/pull/pull-group.ts";
import { RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import {
  type DeletePlace,
  isPlaceTooOld,
  type MemoryChange,
} from "../../../domain/sync/run/remote-memory.ts";
import type { SyncDirection } from "../../../domain/sync/run/run.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { type DeletedReply, RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import type { TombstonePage } from "../../../ports/tables/table-store.ts";
import { type Handshake, hasExtension, type Transfer } from "./open-transfer.ts";

export const TOMBSTONES_AT_ONCE = 1_000;
/** The status of a cursor that was never given. */
const BAD_REQUEST = 400;
/** The same place is kept again after this time, not with every run. */
const KEEP_AGAIN_MS = 3_600_000;

/** True when both ends apply each other's deletes. */
export function doDeletesTravel(table: Table, handshake: Handshake): boolean {
  return table.deletes && hasExtension(handshake, "deletes") && handshake.schema?.deletes === true;
}

/** The place kept last; null when there is none. */
export function placeOf(transfer: Transfer, direction: SyncDirection): DeletePlace | null {
  return transfer.last[direction].deletes ?? null;
}

/** The change to commit once deletes were moved up to a place; empty where that place was kept recently. */
export function movedPlace(
  transfer: Transfer,
  cursor: string | null,
  givenAt: string,
): MemoryChange {
  const kept = placeOf(transfer, transfer.direction);
  const isSame = kept !== null && kept.cursor === cursor;
  if (isSame && dateTimeMs(givenAt) - dateTimeMs(kept.givenAt) < KEEP_AGAIN_MS) return {};
  return { [transfer.direction]: { deletes: { cursor, givenAt } } };
}

/** Throws `sync_failed` when deletes here behind the place kept may not be on record: rows would come back. */
export async function requireKnownHere(transfer: Transfer): Promise<void> {
  const place = placeOf(transfer, "push");
  // Without a place, too: to list waits until all deletes before now are on record.
  const { earliestAvailable } = await listOwn(transfer, place?.cursor ?? null, 1);
  if (place !== null && isPlaceTooOld(place, earliestAvailable)) {
    throw mayBeMissed(transfer.table, "here");
  }
}

/**
 * Throws `sync_failed` when deletes of the remote behind the place kept may not be on record. A remote whose deletes were never
 * fetched is not asked. A run that also pulls keeps the page for its pull.
 */
export async function requireKnownThere(transfer: Transfer): Promise<void> {
  const { run, readAhead } = transfer;
  const place = placeOf(transfer, "pull");
  if (place === null) return;
  if (!run.directions.includes("pull")) await readDeletedPage(transfer, place.cursor, 1);
  else readAhead.set(place.cursor, await readDeletedPage(transfer, place.cursor));
}

/** False when deletes may have been missed at an end: then a missing row tells nothing. */
export async function areDeletesKnown(transfer: Transfer): Promise<boolean> {
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

/** Reads own tombstones. Throws `sync_failed` for a place that the store no longer knows. */
export async function listOwn(
  { deps, table }: Transfer,
  after: string | null,
  limitRows: number,
): Promise<TombstonePage> {
  try {
    return await deps.tombstones.list(table, { after, sinceTime: null, limitRows });
  } catch (error) {
    if (isAppError(error, "invalid_request")) throw mayBeMissed(table, "here");
    throw error;
  }
}

/** Throws `sync_failed` where the remote does not know the place any more, or has forgotten tombstones behind it. */
export async function readDeletedPage(
  transfer: Transfer,
  cursor: string | null,
  limit = TOMBSTONES_AT_ONCE,
): Promise<DeletedReply> {
  const { table, remote, report } = transfer;
  const isUnknown = ({ status }: RemotePeerError) => cursor !== null && status === BAD_REQUEST;
  try {
    const page = await remote.readDeleted({ cursor, limit }, isUnknown);
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
 * The places of both directions for a repair that makes one end like the other; to be read before it compares. Deletes of the end
 * that rows come from move again from the first tombstone on; present deletes of the other end move no more.
 */
export async function placesNow(transfer: Transfer): Promise<MemoryChange> {
  const { deps, table, remote, handshake, direction } = transfer;
  if (!doDeletesTravel(table, handshake)) return {};
  const { ownTime, remoteTime } = handshake.clocks;
  const here = direction === "push" ? null : await deps.tombstones.end(table);
  let there: string | null = null;
  if (direction === "push") {
    const read = (cursor: string | null) => remote.readDeleted({ cursor });
    for await (const page of pagesFrom(await read(null), read)) there = page.cursor;
  }
  return {
    push: { deletes: { cursor: here, givenAt: ownTime } },
    pull: { deletes: { cursor: there, givenAt: remoteTime } },
  };
}

/** A page and those behind it. Throws `remote_invalid` for pages without end, which repeat a cursor or the same deletes. */
export async function* pagesFrom(
  first: DeletedReply,
  read: (cursor: string) => Promise<DeletedReply>,
): AsyncGenerator<DeletedReply, void, undefined> {
  const given = new Set<string>();
  const known = new RowMemory();
  let listed = 0;
  for (let page = first; ; ) {
    yield page;
    const { items, nextCursor } = page;
    if (nextCursor === null) return;
    for (const item of items) known.note({ key: JSON.stringify(item) }, 1);
    listed += items.length;
    // A tombstone that keeps a row out may be listed anew meanwhile.
    if (given.has(nextCursor) || isEndless(listed, known.size)) {
      throw new AppError("remote_invalid", "The remote lists the same deletes again and again");
    }
    given.add(nextCursor);
    page = await read(nextCursor);
  }
}

function mayBeMissed(table: Table, where: "here" | "there"): AppError {
  const text = `Deletes of "${table.name}" may have been missed: the record of them ${where} has a gap since the last run`;
  const hint = "Compare the table and repair it by push or pull";
  return new AppError("sync_failed", text, { hint });
}
