// The rows of a remote that tells no digests and guards nothing, as they were when they were read. D-4.10, D-7.2.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { compareDateTimes, dateTimeMs } from "../../../domain/shared/time.ts";
import { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import { convertPulled } from "../../../domain/sync/rows/convert.ts";
import { rowKey } from "../../../domain/sync/rows/row-key.ts";
import { hashRow, type RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import { rowText } from "../../../domain/sync/rows/row-text.ts";
import { rowTime, rowTimeText, timeMicros } from "../../../domain/sync/rows/row-time.ts";
import {
  microsOf,
  NO_TIME,
  RowVersions,
  versionOf,
} from "../../../domain/sync/rows/row-versions.ts";
import { aheadLimit } from "../../../domain/sync/rows/time-rank.ts";
import { timeLike } from "../../../domain/sync/run/marker.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import { isVersioned, type Row, type Table } from "../../../domain/sync/table/table.ts";
import type { RemoteTable } from "../shared/run-context.ts";
import type { TableTransfer } from "./begin-transfer.ts";
import { PushReader } from "./own-rows.ts";
import { type PulledRecords, pullRecords } from "./remote-pages.ts";

/** How the remote has a row: a version that is newer, the same one, another one or none. */
type RemoteVersion = "newer" | "same" | "other" | "absent";

export class RemoteRows {
  readonly #table: Table;
  readonly #aheadMicros: number;
  readonly #versions = new RowVersions();
  /** A timestamp in the notation of the remote; null until one has come. */
  sampleTime: string | null = null;

  /** `remoteTime` is canonical. */
  constructor(table: Table, remoteTime: string) {
    this.#table = table;
    this.#aheadMicros = timeMicros(aheadLimit(dateTimeMs(remoteTime)));
  }

  note(record: JsonObject): void {
    const table = this.#table;
    this.sampleTime ??= rowTimeText(table, record);
    const row = convertPulled(table, record).write?.row ?? null;
    const { text } = rowKey(table, record);
    // A record that can be no row here is another version of its key.
    this.#versions.note(
      row === null
        ? { ...hashRow({ key: text }), micros: microsOf(table, record) }
        : versionOf(table, row, rowText(table, row)),
    );
  }

  /** True when it had a row with this key, as `keyText` makes it. */
  knows(key: string): boolean {
    return this.#versions.find({ ...hashRow({ key }), micros: NO_TIME }) !== null;
  }

  /** How it has the row that is like this here. */
  versionThere(row: Row): RemoteVersion {
    const own = versionOf(this.#table, row, rowText(this.#table, row));
    const there = this.#versions.find(own);
    if (there?.isSame) return "same";
    if (there === null) return "absent";
    if (!isVersioned(this.#table)) return "other";
    return this.#ranksAbove(there.micros, own.micros) ? "newer" : "other";
  }

  /** How many of these rows it had otherwise, or not at all. */
  countOthers(rows: readonly Row[]): number {
    return rows.filter((row) => this.versionThere(row) !== "same").length;
  }

  /** The times, as in `RowVersion`, of the rows whose keys are not among others. */
  *timesBut(others: RowMemory): Generator<number, void, undefined> {
    for (const [version] of this.#versions.all()) {
      if (others.findHash(version).note === 0) yield version.micros;
    }
  }

  /** True for a row whose time ranks below all others by the remote's clock of now. */
  isTooFarAhead(row: Row): boolean {
    return microsOf(this.#table, row) > this.#aheadMicros;
  }

  /** As `rankTimes`. */
  #ranksAbove(a: number, b: number): boolean {
    if (a === NO_TIME || b === NO_TIME) return a !== NO_TIME && b === NO_TIME;
    const isAheadA = a > this.#aheadMicros;
    const isAheadB = b > this.#aheadMicros;
    return isAheadA === isAheadB ? a > b : isAheadB;
  }
}

/** What a push is going to send. */
interface PlannedPush {
  /** Canonical time that it begins at; null for the first row. */
  readonly start: string | null;
  /** The first of some rows, in order, that has to be sent; null for none. */
  firstSent(rows: readonly Row[]): Promise<Row | null>;
  /** Keys of rejected rows, which are sent whatever their time. */
  readonly waiting: readonly JsonObject[];
}

/** Reads all that may be newer there than what a push is going to send. */
export async function readFirst(transfer: TableTransfer, push: PlannedPush): Promise<RemoteRows> {
  const { run, table, handshake, report } = transfer;
  const { remoteTime } = handshake.clocks;
  const there = new RemoteRows(table, remoteTime);
  const limit = aheadLimit(dateTimeMs(remoteTime));
  const first = await firstSent(transfer, push, push.start);
  const ahead = await firstSent(transfer, push, limit);
  const waiting = await run.deps.tables.byKeys(table, push.waiting, "sent");
  const times = [...waiting, ...first, ...ahead].map((row) => rowTime(table, row));
  if (times.length === 0) return there;
  // Any row that has a time there may be newer than one without, and any that is not ahead than one that is.
  const isAll = times.some((time) => time === null || compareDateTimes(time, limit) > 0);
  const [earliest = null] = isAll
    ? []
    : times.filter((time) => time !== null).sort(compareDateTimes);
  const fromMicros = earliest === null ? NO_TIME : timeMicros(earliest);
  for await (const pulled of recordsFrom(transfer, fromMicros, sampleTime(transfer))) {
    report.addBytes(pulled);
    for (const record of pulled.records) there.note(record);
  }
  return there;
}

/**
 * The records of the remote from a time on, in microseconds, page by page: all of them where there is none, or it is not
 * known how the remote writes times.
 */
export function recordsFrom(
  source: RemoteTable,
  fromMicros: number,
  sampleTime: string | null,
): AsyncGenerator<PulledRecords, void, undefined> {
  const { run, table } = source;
  const { maxPageRows } = run.deps;
  const isAll = sampleTime === null || fromMicros === NO_TIME || table.timestampColumn === null;
  const cursor = isAll
    ? PullCursor.begin(table, null, maxPageRows)
    : PullCursor.beginSince(
        table,
        timeLike(table, sampleTime, Math.floor(fromMicros / 1_000)),
        maxPageRows,
      );
  return pullRecords(source, cursor);
}

/** The first row at or after a canonical time, or without a time, that is going to be sent. */
async function firstSent(
  { run, table }: TableTransfer,
  push: PlannedPush,
  sinceTime: string | null,
): Promise<readonly Row[]> {
  const { tables, maxPageRows } = run.deps;
  const reader = new PushReader(tables, table, sinceTime, new BatchSize(maxPageRows));
  for (;;) {
    const batch = await reader.read();
    const sent = await push.firstSent(batch.rows);
    if (sent !== null) return [sent];
    if (batch.isLast || batch.rows.length === 0) return [];
  }
}

/** A time as the remote writes it, which it can read; null when none is known. */
function sampleTime({ table, handshake, last }: TableTransfer): string | null {
  const { firstRecord } = handshake;
  const sample = firstRecord === null ? null : rowTimeText(table, firstRecord);
  return sample || last.pull.marker || null;
}
