// Which of two rows is newer: the guard of runs in both directions, which pass some rows twice. Rows come again as they
// were when a marker is passed, and what was pulled goes back with the next push. D-4.7.
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
import { rowTime, timeMicros } from "../../../domain/sync/rows/row-time.ts";
import { markerName } from "../../../domain/sync/run/marker.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { type Clocks, lagSecondsOf, type TableTransfer } from "./begin-transfer.ts";
import { pullRecords } from "./remote-pages.ts";
import { readWaiting } from "./table-rejections.ts";

/** A timestamp further ahead of the clock than this does not make a row newer. */
const MAX_AHEAD_MS = 300_000;

/** Rows that the remote has changed since they were last pulled. */
export class RemoteChanges {
  readonly #table: Table;
  /** Canonical; a row with a later time is not compared. */
  readonly #aheadFrom: string;
  /** Rows with the place of their time in `#times`, counted from 1. */
  readonly #known = new RowMemory();
  /** In microseconds since 1970. */
  readonly #times: number[] = [];

  constructor(table: Table, aheadFrom: string) {
    this.#table = table;
    this.#aheadFrom = aheadFrom;
  }

  note(record: JsonObject): void {
    const table = this.#table;
    const time = rowTime(table, record);
    if (time === null || compareDateTimes(time, this.#aheadFrom) > 0) return;
    this.#times.push(timeMicros(time));
    const { row } = convertRecord(table, record);
    const key = rowKey(table, record).text;
    const noted = row === null ? { key } : { key, content: rowText(table, row) };
    this.#known.note(noted, this.#times.length);
  }

  /** True when the remote has this row as it is here, or with a later timestamp. */
  isThere(row: Row): boolean {
    if (this.#known.size === 0) return false;
    const table = this.#table;
    const known = this.#known.find({ key: keyText(table, row), content: rowText(table, row) });
    if (known.note === 0) return false;
    const time = rowTime(table, row);
    const thereMicros = this.#times[known.note - 1] ?? 0;
    return known.isSame || time === null || thereMicros > timeMicros(time);
  }
}

/**
 * Looks at what the remote has changed since the last pull, before rows are pushed over it; records that were rejected
 * here count too. The first run has nothing to compare with: it pushes everything. Throws as a pull does.
 */
export async function lookForRemoteChanges(
  transfer: TableTransfer,
  clocks: Clocks,
): Promise<RemoteChanges> {
  const { run, table, twoWay } = transfer;
  const changes = new RemoteChanges(table, formatMs(dateTimeMs(clocks.remoteTime) + MAX_AHEAD_MS));
  const isOneWay = twoWay === null || table.timestampColumn === null;
  if (isOneWay || run.isFull || table.updateColumns.length === 0) return changes;
  const marker = (await run.deps.markers.readAll()).get(markerName("pull", table.name)) ?? null;
  if (marker === null || parseDateTime(marker) === null) return changes;
  for (const { record } of await readWaiting(transfer, "pull")) changes.note(record ?? {});
  const cursor = PullCursor.beginSince(table, marker, run.deps.maxPageRows);
  for await (const pulled of pullRecords(transfer, cursor)) {
    transfer.report.addBytes(pulled);
    for (const record of pulled.records) changes.note(record);
  }
  return changes;
}

/**
 * Leaves out pulled records that are older than what was written here since the rows were read for the push: the next
 * push sends that, as its timestamp is within the allowance for late commits.
 */
export async function withoutOlder(
  { run, table, twoWay }: TableTransfer,
  records: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const { deps } = run;
  const pushedAt = twoWay?.pushedAt ?? null;
  if (pushedAt === null || table.timestampColumn === null || records.length === 0) return records;
  const sinceTime = formatMs(dateTimeMs(pushedAt) - lagSecondsOf(deps, table) * 1000);
  const recent = await deps.rows.readAfter(table, { after: null, sinceTime, limitRows: 1 });
  if (recent.length === 0) return records;
  const keys = records.map((record) => rowKey(table, record));
  const usable = keys.filter((key) => key.isUsable).map((key) => key.columns);
  const stored = await deps.rows.readByKeys(table, usable);
  const times = new Map(stored.map((row) => [keyText(table, row), rowTime(table, row)]));
  const aheadFrom = formatMs(deps.clock.nowMs() + MAX_AHEAD_MS);
  return records.filter((record, i) => {
    const own = times.get(keys[i]?.text ?? "") ?? null;
    if (own === null) return true;
    const isOwnNew = compareDateTimes(own, sinceTime) >= 0 && compareDateTimes(own, aheadFrom) <= 0;
    const sent = rowTime(table, record);
    return !isOwnNew || (sent !== null && compareDateTimes(own, sent) <= 0);
  });
}
