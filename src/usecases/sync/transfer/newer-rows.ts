// Keeps a run in both directions from replacing a newer row by an older one: rows come again as they were when a marker
// is passed, and what was pulled goes back with the next push.

import type { JsonObject } from "../../../domain/shared/json.ts";
import {
  compareDateTimes,
  dateTimeMs,
  formatMs,
  parseDateTime,
} from "../../../domain/shared/time.ts";
import { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import { rowKey } from "../../../domain/sync/rows/row-key.ts";
import { RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import { keyText, rowText } from "../../../domain/sync/rows/row-text.ts";
import { markerName } from "../../../domain/sync/run/marker.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { askPage } from "./ask-page.ts";
import { readWaiting } from "./refusal-book.ts";
import { type Clocks, lagSecondsOf, type Transfer } from "./transfer.ts";

/** A timestamp this far ahead of its clock says nothing about what is newer. */
const MAX_AHEAD_MS = 300_000;

/** Rows that the remote has changed since they were last pulled. */
export interface RemoteChanges {
  /** True when the remote has this row as it is here, or with a later timestamp; none is before any other. */
  isThere(row: Row): boolean;
}

const NO_CHANGES: RemoteChanges = { isThere: () => false };

/**
 * Looks at what the remote has changed since the last pull, before rows are pushed over it; records that were refused
 * here count too. The first run has nothing to compare with: it pushes everything. Throws as a pull does.
 */
export async function lookForRemoteChanges(
  transfer: Transfer,
  clocks: Clocks,
): Promise<RemoteChanges> {
  const { deps, table, twoWay, isFull } = transfer;
  const isOneWay = twoWay === null || table.timestampColumn === null;
  if (isOneWay || isFull || table.updateColumns.length === 0) return NO_CHANGES;
  const marker = (await deps.markers.readAll()).get(markerName("pull", table.name)) ?? null;
  if (marker === null || parseDateTime(marker) === null) return NO_CHANGES;
  const known = new RowMemory();
  const times: number[] = [];
  const aheadFrom = formatMs(dateTimeMs(clocks.remoteTime) + MAX_AHEAD_MS);
  const note = (record: JsonObject) => {
    const time = timeOf(table, record);
    if (time === null || compareDateTimes(time, aheadFrom) > 0) return;
    times.push(microsOf(time));
    const { row } = convertRecord(table, record);
    const content = row === null ? {} : { content: rowText(table, row) };
    known.note({ key: rowKey(table, record).text, ...content }, times.length);
  };
  for (const { record } of await readWaiting(transfer, "pull")) note(record ?? {});
  const cursor = PullCursor.beginSince(table, marker, deps.maxPageRows);
  const size = new BatchSize(deps.maxPageRows, deps.maxPageRows);
  for (let isDone = false; !isDone; ) {
    const { page, ...bytes } = await askPage(transfer, { cursor, size });
    transfer.report.addBytes(bytes);
    const accepted = cursor.accept(page);
    for (const record of accepted.records) note(record);
    isDone = accepted.isDone;
  }
  return {
    isThere(row) {
      const { note: at, isSame } = known.find({
        key: keyText(table, row),
        content: rowText(table, row),
      });
      const time = timeOf(table, row);
      return at > 0 && (isSame || time === null || (times[at - 1] ?? 0) > microsOf(time));
    },
  };
}

/**
 * Leaves out pulled records that are older than what was written here since the rows were read for the push: the next
 * push sends that, as its timestamp is within the allowance for late commits.
 */
export async function withoutOlder(
  transfer: Transfer,
  records: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const { deps, table, twoWay } = transfer;
  const pushedAt = twoWay?.pushedAt ?? null;
  if (pushedAt === null || table.timestampColumn === null || records.length === 0) return records;
  const sinceTime = formatMs(dateTimeMs(pushedAt) - lagSecondsOf(transfer) * 1000);
  const recent = await deps.rows.readAfter(table, { after: null, sinceTime, limitRows: 1 });
  if (recent.length === 0) return records;
  const keys = records.map((record) => rowKey(table, record));
  const usable = keys.filter((key) => key.isUsable).map((key) => key.columns);
  const stored = await deps.rows.readByKeys(table, usable);
  const times = new Map(stored.map((row) => [keyText(table, row), timeOf(table, row)]));
  const aheadFrom = formatMs(deps.clock.nowMs() + MAX_AHEAD_MS);
  return records.filter((record, i) => {
    const own = times.get(keys[i]?.text ?? "") ?? null;
    const sent = timeOf(table, record);
    if (own === null) return true;
    const isOwnNew = compareDateTimes(own, sinceTime) >= 0 && compareDateTimes(own, aheadFrom) <= 0;
    return !isOwnNew || (sent !== null && compareDateTimes(own, sent) <= 0);
  });
}

/** A row's canonical time; null when it has none that can be parsed. */
function timeOf(table: Table, row: JsonObject): string | null {
  const value = table.timestampColumn === null ? null : row[table.timestampColumn];
  return typeof value === "string" ? parseDateTime(value) : null;
}

/** Microseconds since 1970 of a canonical time; exact for the years that computers know, and in order for all. */
function microsOf(time: string): number {
  const micros = /\.\d{3}(\d{3})Z$/.exec(time)?.[1] ?? "0";
  return dateTimeMs(time) * 1000 + Number(micros);
}
