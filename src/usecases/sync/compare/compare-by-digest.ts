// Compares with a deployment of this service: ranges with equal digests need no further look. D-4.10.
import { AppError } from "../../../domain/shared/errors.ts";
import { DIGEST_SEGMENT_ROWS } from "../../../domain/shared/limits.ts";
import {
  DIGEST_FORMAT,
  type DigestPage,
  type DigestQuery,
  type DigestRange,
  type DigestSegment,
} from "../../../domain/sync/digest/digest-page.ts";
import {
  compareKeys,
  convertPosition,
  keyOf,
  keyRow,
  keyText,
  recordKey,
  type UpsertKey,
} from "../../../domain/sync/rows/row-key.ts";
import { differenceOf, type RowPair } from "../../../domain/sync/run/compare-events.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { digestRange, rowsByKey } from "../pages/table-pages.ts";
import type { PassesFailure, RemoteTable } from "../shared/remote-table.ts";
import { type Comparison, isYoung, SECOND_LOOK_MS } from "./comparison.ts";

/** Rows of the short segments into which a long one that differs is cut. */
const SHORT_SEGMENT_ROWS = 64;
/** The most short segments that may differ before all rows of the long one are fetched. */
const MAX_SHORT_SEGMENTS = 8;
/** The most rows that wait for their second look: then they get it at once. */
const MAX_YOUNG_ROWS = 10_000;

/** A range with young rows that differ, and their keys. */
interface YoungRange {
  readonly range: DigestRange;
  readonly keys: ReadonlySet<string>;
}

export class DigestComparison {
  readonly #comparison: Comparison;
  readonly #remote: RemoteTable;
  readonly #table: Table;
  /** Ranges that wait for a second look, and the number of their young rows. */
  #young: YoungRange[] = [];
  #youngRows = 0;

  constructor(comparison: Comparison) {
    this.#comparison = comparison;
    this.#remote = comparison.remote;
    this.#table = comparison.remote.table;
  }

  /** False for digests of another form. Throws the `RemotePeerError` of a remote that has none. Neither has counted anything. */
  async run(): Promise<boolean> {
    const columns = this.#table.movedColumns.map(({ name }) => name);
    let after: Row | null = null;
    let asked = this.#ask(null, hasNoDigests);
    for (let pages = 0; ; pages++) {
      const page: DigestPage = await asked;
      const isAlike = page.format === DIGEST_FORMAT && page.columns.join() === columns.join();
      if (!isAlike && pages === 0) return false;
      if (!isAlike) throw unusable("has begun to digest other columns");
      const end = page.segments.at(-1)?.through ?? null;
      if (page.hasMore) asked = this.#ask(end && keyRow(this.#table, end));
      for (const segment of page.segments) {
        const range = this.#rangeFrom(after, segment.through);
        await this.#compareSegment(range, segment);
        after = range.through;
        // A long table must not keep the event loop from other work.
        await this.#remote.run.deps.timer.sleep(0);
      }
      if (!page.hasMore) break;
    }
    await this.#lookAgain();
    return true;
  }

  /** Compares a long segment by its digest; where that differs, by short segments, and the rows of those that differ. */
  async #compareSegment(range: DigestRange, segment: DigestSegment): Promise<void> {
    const { findings } = this.#comparison;
    if (await this.#isEqual(range, segment)) {
      findings.match(segment.count);
      return;
    }
    const different: DigestRange[] = [];
    let matched = 0;
    let { after } = range;
    for (let hasMore = true; hasMore; ) {
      const query = { after, through: range.through, segmentRows: SHORT_SEGMENT_ROWS };
      const page = await this.#read({ ...query, withRecords: false });
      for (const short of page.segments) {
        const part = this.#rangeFrom(after, short.through);
        if (await this.#isEqual(part, short)) matched += short.count;
        else different.push(part);
        after = part.through;
      }
      hasMore = page.hasMore;
    }
    if (different.length > MAX_SHORT_SEGMENTS) {
      await this.#compareRows(range);
      return;
    }
    findings.match(matched);
    for (const part of different) await this.#compareRows(part);
  }

  async #isEqual(range: DigestRange, segment: DigestSegment): Promise<boolean> {
    const own = await digestRange(this.#remote.run.deps, this.#table, range);
    return own.count === segment.count && own.digest === segment.digest;
  }

  /** Compares the rows of a range one by one; young rows that differ wait for a second look. */
  async #compareRows(range: DigestRange): Promise<void> {
    let { after } = range;
    let keys = new Set<string>();
    const leave = (through: Row | null) => {
      if (keys.size > 0) this.#young.push({ range: { after, through }, keys });
      this.#youngRows += keys.size;
      keys = new Set();
      after = through;
    };
    for await (const pair of this.#pairs(range)) {
      const row = rowOf(pair);
      const isAnyYoung = [pair.here, pair.there].some((one) => isYoung(this.#comparison, one));
      if (isAnyYoung && differenceOf(this.#table, pair.here, pair.there) !== null) {
        keys.add(keyText(this.#table, row));
      } else await this.#count(pair);
      if (this.#youngRows + keys.size < MAX_YOUNG_ROWS) continue;
      leave(recordKey(this.#table, row));
      await this.#lookAgain();
    }
    leave(range.through);
  }

  async #count(pair: RowPair): Promise<void> {
    const { findings } = this.#comparison;
    const difference = differenceOf(this.#table, pair.here, pair.there);
    if (difference === null) findings.match(1);
    else await findings.differ(difference, pair, recordKey(this.#table, rowOf(pair)));
  }

  /** Compares the young rows that differed again: a change on its way may have arrived. */
  async #lookAgain(): Promise<void> {
    const { run, signal } = this.#remote;
    const young = this.#young;
    if (young.length === 0) return;
    this.#young = [];
    this.#youngRows = 0;
    await run.deps.timer.sleep(SECOND_LOOK_MS, signal);
    for (const { range, keys } of young) {
      for await (const pair of this.#pairs(range)) {
        if (keys.has(keyText(this.#table, rowOf(pair)))) await this.#count(pair);
      }
    }
  }

  /** The rows of a range at both ends, side by side, in the order of the key. */
  async *#pairs(range: DigestRange): AsyncGenerator<RowPair, void, undefined> {
    const table = this.#table;
    const own = inOrder(table, rowsByKey(this.#remote.run.deps, table, range), () => {
      const message = `The keys of "${table.name}" here are not in their order, as -infinity and years before 1 on PostgreSQL: its rows cannot be compared`;
      return new AppError("sync_failed", message);
    });
    const remote = inOrder(table, this.#rowsThere(range), unordered);
    let here = await own.next();
    let there = await remote.next();
    while (!here.done || !there.done) {
      const order = here.done ? 1 : there.done ? -1 : compareKeys(table, here.value, there.value);
      yield {
        here: order <= 0 ? (here.value ?? null) : null,
        there: order >= 0 ? (there.value ?? null) : null,
      };
      if (order <= 0) here = await own.next();
      if (order >= 0) there = await remote.next();
    }
  }

  async *#rowsThere({ after, through }: DigestRange): AsyncGenerator<Row, void, undefined> {
    for (let behind = after; ; ) {
      const query = { after: behind, through, segmentRows: 1, withRecords: true };
      const { records = [], hasMore } = await this.#read(query);
      yield* records;
      const last = records.at(-1);
      if (!hasMore || last === undefined) return;
      behind = this.#rangeFrom(behind, keyOf(this.#table, last)).through;
    }
  }

  /** Asks for digests while the last ones are compared. Awaiting them throws a failure. */
  #ask(after: Row | null, passes?: PassesFailure): Promise<DigestPage> {
    const query = { after, through: null, segmentRows: DIGEST_SEGMENT_ROWS, withRecords: false };
    const asked = this.#read(query, passes);
    asked.catch(() => {});
    return asked;
  }

  /** The last range must reach the end of the query: rows behind it would go uncompared. */
  async #read(query: DigestQuery, passes?: PassesFailure): Promise<DigestPage> {
    const table = this.#table;
    const { through } = query;
    const page = await this.#remote.readDigest(query, passes);
    const end = page.segments.at(-1)?.through;
    const isAtEnd =
      end && through ? compareKeys(table, keyRow(table, end), through) === 0 : end === through;
    const isWhole = end !== undefined && (isAtEnd || page.hasMore);
    if (!isWhole) throw unusable("sent digests of another range");
    return page;
  }

  /** In the form of the table here. Throws for a key that does not lead forward: the comparison would never end. */
  #rangeFrom(after: Row | null, sent: UpsertKey | null): DigestRange {
    if (sent === null) return { after, through: null };
    const table = this.#table;
    const through = convertPosition(table, keyRow(table, sent));
    if (through === null) throw unusable("sent keys that do not fit this table");
    const isForward = after === null || compareKeys(table, after, through) < 0;
    if (!isForward) throw unordered();
    return { after, through };
  }
}

/** Throws `error` where a row comes before the last one: its pair would count as missing, and a repair could delete it. */
async function* inOrder(
  table: Table,
  rows: AsyncIterable<Row>,
  error: () => AppError,
): AsyncGenerator<Row, void, undefined> {
  let last: Row | null = null;
  for await (const row of rows) {
    if (last !== null && compareKeys(table, last, row) > 0) throw error();
    last = row;
    yield row;
  }
}

function rowOf({ here, there }: RowPair): Row {
  return here ?? there ?? {};
}

/** True for the answers of servers that have no digests. */
function hasNoDigests({ kind, reason }: RemotePeerError): boolean {
  return kind === "invalid_reply" || reason === "not_found" || reason === "refused";
}

function unordered(): AppError {
  return unusable("sent keys that are not in their order");
}

function unusable(problem: string): AppError {
  return new AppError("remote_invalid", `The remote ${problem}; its digests cannot be compared`);
}
