// Compares with another deployment of this service: ranges whose digests are equal need no further look. D-4.10.
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
  compareUpsertKeys,
  convertPosition,
  keyOf,
  keyRow,
  recordKey,
  type UpsertKey,
} from "../../../domain/sync/rows/row-key.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { differenceOf, type RowPair } from "../../../domain/sync/run/compare-events.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import type { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { digestRange, rowsByKey } from "../pages/digest-table.ts";
import { type Comparison, isYoung, MAX_YOUNG_ROWS, SECOND_LOOK_MS } from "./comparison.ts";

/** Rows of the short segments that a long one which differs is cut into. */
const SHORT_SEGMENT_ROWS = 64;
/** Short segments of a long one that may differ before all rows of the long one are fetched. */
const MAX_SHORT_SEGMENTS = 8;

/** A range that has young rows which differ, by their keys. */
interface YoungRange {
  readonly range: DigestRange;
  readonly keys: ReadonlySet<string>;
}

export class DigestComparison {
  readonly #comparison: Comparison;
  /** Ranges that are left for a second look, and the number of rows that this is about. */
  #young: YoungRange[] = [];
  #youngRows = 0;

  constructor(comparison: Comparison) {
    this.#comparison = comparison;
  }

  /**
   * Resolves to false when the remote's digests are not like ours, and throws its `RemotePeerError` when it has none;
   * both before anything was counted.
   */
  async run(): Promise<boolean> {
    const { run, table } = this.#comparison.remote;
    const columns = table.movedColumns.map(({ name }) => name);
    let after: UpsertKey | null = null;
    let asked = askDigest(this.#comparison, null, hasNoDigests);
    for (let pages = 0; ; pages++) {
      const page: DigestPage = await asked;
      const isAlike = page.format === DIGEST_FORMAT && page.columns.join() === columns.join();
      if (!isAlike && pages === 0) return false;
      if (!isAlike) throw unusable("has begun to digest other columns");
      const end = page.segments.at(-1)?.through ?? null;
      if (page.hasMore) asked = askDigest(this.#comparison, end);
      for (const segment of page.segments) {
        await this.#compareSegment({ after, through: segment.through }, segment);
        after = segment.through;
        // A long table must not keep the event loop from other work.
        await run.deps.timer.sleep(0);
      }
      if (!page.hasMore) break;
    }
    await this.#lookAgain();
    return true;
  }

  /** Compares a long segment by its digest; where that differs by short ones, and the rows of those that differ. */
  async #compareSegment(range: DigestRange, segment: DigestSegment): Promise<void> {
    const { findings } = this.#comparison;
    checkRange(this.#comparison, range);
    if (await this.#isEqual(range, segment)) {
      findings.match(segment.count);
      return;
    }
    const different: DigestRange[] = [];
    let matched = 0;
    let { after } = range;
    for (let hasMore = true; hasMore; ) {
      const query = { after, through: range.through, segmentRows: SHORT_SEGMENT_ROWS };
      const page = await readDigest(this.#comparison, { ...query, withRecords: false });
      for (const short of page.segments) {
        const part: DigestRange = { after, through: short.through };
        checkRange(this.#comparison, part);
        if (await this.#isEqual(part, short)) matched += short.count;
        else different.push(part);
        after = short.through;
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
    const { run, table } = this.#comparison.remote;
    const own = await digestRange(run.deps, table, range);
    return own.count === segment.count && own.digest === segment.digest;
  }

  /** Compares the rows of a range one by one. Young ones that differ are left for a second look. */
  async #compareRows(range: DigestRange): Promise<void> {
    const { remote, findings } = this.#comparison;
    const { table } = remote;
    let { after } = range;
    let keys = new Set<string>();
    const leave = (through: UpsertKey | null) => {
      if (keys.size > 0) this.#young.push({ range: { after, through }, keys });
      this.#youngRows += keys.size;
      keys = new Set();
      after = through;
    };
    for await (const pair of pairsByKey(this.#comparison, range)) {
      const row = pair.here ?? pair.there ?? {};
      const difference = differenceOf(table, pair.here, pair.there);
      if (difference === null) findings.match(1);
      else if (isYoung(this.#comparison, pair.here) || isYoung(this.#comparison, pair.there)) {
        keys.add(keyText(table, row));
      } else await findings.differ(difference, pair, recordKey(table, row));
      if (this.#youngRows + keys.size < MAX_YOUNG_ROWS) continue;
      leave(keyOf(table, row));
      await this.#lookAgain();
    }
    leave(range.through);
  }

  /** Looks at young rows that differed once more: a change that was on its way may have arrived. */
  async #lookAgain(): Promise<void> {
    const { remote, findings } = this.#comparison;
    const { run, table, signal } = remote;
    const young = this.#young;
    if (young.length === 0) return;
    this.#young = [];
    this.#youngRows = 0;
    await run.deps.timer.sleep(SECOND_LOOK_MS, signal);
    for (const { range, keys } of young) {
      for await (const pair of pairsByKey(this.#comparison, range)) {
        const row = pair.here ?? pair.there ?? {};
        if (!keys.has(keyText(table, row))) continue;
        const difference = differenceOf(table, pair.here, pair.there);
        if (difference === null) findings.match(1);
        else await findings.differ(difference, pair, recordKey(table, row));
      }
    }
  }
}

/** True for the answers of servers without this path: the sync document has none. */
function hasNoDigests({ kind, reason }: RemotePeerError): boolean {
  return kind === "invalid_reply" || reason === "not_found" || reason === "refused";
}

/** Asks for the next digests while the last ones are compared. A failure waits until they are looked at. */
function askDigest(
  comparison: Comparison,
  after: UpsertKey | null,
  passes?: (error: RemotePeerError) => boolean,
): Promise<DigestPage> {
  const query = {
    after,
    through: null,
    segmentRows: DIGEST_SEGMENT_ROWS,
    withRecords: false,
  };
  const asked = readDigest(comparison, query, passes);
  asked.catch(() => {});
  return asked;
}

/** Refuses a range that does not lead forward: the comparison would never end. */
function checkRange({ remote: { table } }: Comparison, { after, through }: DigestRange): void {
  if (through === null) return;
  if (convertPosition(table, keyRow(table, through)) === null) {
    throw unusable("sent keys that do not fit this table");
  }
  const isForward = after === null || compareUpsertKeys(table, after, through) < 0;
  if (!isForward) throw unusable("sent keys that are not in their order");
}

/** The last range must reach the end of the query: rows behind it would not be compared. */
function checkEnd(
  { remote: { table } }: Comparison,
  page: DigestPage,
  { through }: DigestRange,
): void {
  const end = page.segments.at(-1)?.through;
  const isWhole =
    end === through ||
    (end && through && compareUpsertKeys(table, end, through) === 0) ||
    page.hasMore;
  if (end === undefined || !isWhole) throw unusable("sent digests of another range");
}

function unusable(problem: string): AppError {
  return new AppError("remote_invalid", `The remote ${problem}; its digests cannot be compared`);
}

/** The rows of a range at both ends, side by side, in the order of the key. */
async function* pairsByKey(
  comparison: Comparison,
  range: DigestRange,
): AsyncGenerator<RowPair, void, undefined> {
  const { run, table } = comparison.remote;
  const own = rowsByKey(run.deps, table, range);
  const remote = remoteRows(comparison, range);
  let here = await own.next();
  let there = await remote.next();
  while (!here.done || !there.done) {
    const order = here.done ? 1 : there.done ? -1 : orderOf(comparison, here.value, there.value);
    yield {
      here: order <= 0 ? (here.value ?? null) : null,
      there: order >= 0 ? (there.value ?? null) : null,
    };
    if (order <= 0) here = await own.next();
    if (order >= 0) there = await remote.next();
  }
}

async function* remoteRows(
  comparison: Comparison,
  range: DigestRange,
): AsyncGenerator<Row, void, undefined> {
  let { after } = range;
  for (;;) {
    const query = { after, through: range.through, segmentRows: 1, withRecords: true };
    const { records = [], hasMore } = await readDigest(comparison, query);
    yield* records;
    const last = records.at(-1);
    if (!hasMore || last === undefined) return;
    const through = keyOf(comparison.remote.table, last);
    checkRange(comparison, { after, through });
    after = through;
  }
}

function orderOf({ remote: { table } }: Comparison, here: Row, there: Row): number {
  return compareUpsertKeys(table, keyOf(table, here), keyOf(table, there));
}

async function readDigest(
  comparison: Comparison,
  query: DigestQuery,
  passes?: (error: RemotePeerError) => boolean,
): Promise<DigestPage> {
  const page = await comparison.remote.readDigest(query, passes);
  checkEnd(comparison, page, query);
  return page;
}
