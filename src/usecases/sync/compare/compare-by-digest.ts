// Compares with another deployment of this service: ranges whose digests are equal need no further look. D-4.10.

import { AppError } from "../../../domain/shared/errors.ts";
import { DIGEST_SEGMENT_ROWS } from "../../../domain/shared/limits.ts";
import type { DigestPage, DigestQuery, KeyRange } from "../../../domain/sync/digest/digest-page.ts";
import { DIGEST_FORMAT } from "../../../domain/sync/digest/row-digest.ts";
import {
  compareKeys,
  convertPosition,
  keyOf,
  keyRow,
  recordKey,
  type UpsertKey,
} from "../../../domain/sync/rows/row-key.ts";
import { comparedColumns, keyText } from "../../../domain/sync/rows/row-text.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import type { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { digestRange, rowsByKey } from "../pages/digest-table.ts";
import {
  type Comparison,
  differenceOf,
  isYoung,
  MAX_YOUNG_ROWS,
  type RowPair,
  SECOND_LOOK_MS,
} from "./comparison.ts";

/** Rows of the short segments that a long one which differs is cut into. */
const SHORT_SEGMENT_ROWS = 64;
/** When more short segments of a long one differ, all rows of the long one are fetched. */
const MAX_SHORT_SEGMENTS = 8;

/** A range that has young rows which differ, by their keys. */
interface YoungRange {
  readonly span: KeyRange;
  readonly keys: ReadonlySet<string>;
}

/** Ranges that are left for a second look. */
interface YoungRanges {
  ranges: YoungRange[];
  rows: number;
}

/**
 * Compares by digests. Resolves to false when the remote's are not like ours, and throws its `RemotePeerError` when it
 * has none; both before anything was counted.
 */
export async function compareByDigest(comparison: Comparison): Promise<boolean> {
  const { run, table, findings } = comparison;
  const columns = comparedColumns(table).map(({ name }) => name);
  const young: YoungRanges = { ranges: [], rows: 0 };
  let after: UpsertKey | null = null;
  let asked = askDigest(comparison, null, hasNoDigests);
  for (let pages = 0; ; pages++) {
    const page: DigestPage = await asked;
    const isAlike = page.format === DIGEST_FORMAT && page.columns.join() === columns.join();
    if (!isAlike && pages === 0) return false;
    if (!isAlike) throw unusable("has begun to digest other columns");
    const end = page.segments.at(-1)?.through ?? null;
    if (page.hasMore) asked = askDigest(comparison, end);
    for (const { through, count, digest } of page.segments) {
      const span: KeyRange = { after, through };
      checkSpan(comparison, span);
      const own = await digestRange(run.deps, table, span);
      const isEqual = own.count === count && own.digest === digest;
      if (isEqual) findings.match(count);
      else await compareSegment(comparison, span, young);
      after = through;
      // A long table must not keep the event loop from other work.
      await run.deps.timer.sleep(0);
    }
    if (!page.hasMore) break;
  }
  await lookAgain(comparison, young);
  return true;
}

/** True for the answers of servers without this path: the sync document has none. */
function hasNoDigests({ kind, status }: RemotePeerError): boolean {
  return kind === "invalid_reply" || [400, 404, 405, 501].includes(status ?? 0);
}

/** Asks for the next digests while the last ones are compared. A failure waits until they are looked at. */
function askDigest(
  comparison: Comparison,
  after: UpsertKey | null,
  passes?: (error: RemotePeerError) => boolean,
): Promise<DigestPage> {
  const range = { after, through: null };
  const query = { ...range, segmentRows: DIGEST_SEGMENT_ROWS, withRecords: false };
  const asked = readDigest(comparison, query, passes);
  asked.catch(() => {});
  return asked;
}

/** Refuses a range that does not lead forward: the comparison would never end. */
function checkSpan({ table }: Comparison, { after, through }: KeyRange): void {
  if (through === null) return;
  if (convertPosition(table, keyRow(table, through)) === null) {
    throw unusable("sent keys that are none of this table");
  }
  const isForward = after === null || compareKeys(table, after, through) < 0;
  if (!isForward) throw unusable("sent keys that are not in their order");
}

/** The last range must reach the end of the query: rows behind it would not be compared. */
function checkEnd({ table }: Comparison, page: DigestPage, { through }: KeyRange): void {
  const end = page.segments.at(-1)?.through;
  const isWhole =
    end === through || (end && through && compareKeys(table, end, through) === 0) || page.hasMore;
  if (end === undefined || !isWhole) throw unusable("sent digests of another range");
}

function unusable(problem: string): AppError {
  return new AppError("remote_invalid", `The remote ${problem}; its digests cannot be compared`);
}

/** Finds the parts of a long segment that differ, and compares their rows. */
async function compareSegment(
  comparison: Comparison,
  span: KeyRange,
  young: YoungRanges,
): Promise<void> {
  const { run, table, findings } = comparison;
  const different: KeyRange[] = [];
  let matched = 0;
  let { after } = span;
  for (;;) {
    const query = { after, through: span.through, segmentRows: SHORT_SEGMENT_ROWS };
    const page = await readDigest(comparison, { ...query, withRecords: false });
    for (const { through, count, digest } of page.segments) {
      const part: KeyRange = { after, through };
      checkSpan(comparison, part);
      const own = await digestRange(run.deps, table, part);
      if (own.count === count && own.digest === digest) matched += count;
      else different.push(part);
      after = through;
    }
    if (!page.hasMore) break;
  }
  if (different.length > MAX_SHORT_SEGMENTS) {
    await compareRows(comparison, span, young);
    return;
  }
  findings.match(matched);
  for (const part of different) await compareRows(comparison, part, young);
}

/** Compares the rows of a range one by one. Young ones that differ are left for a second look. */
async function compareRows(
  comparison: Comparison,
  span: KeyRange,
  young: YoungRanges,
): Promise<void> {
  const { table, findings } = comparison;
  let { after } = span;
  let keys = new Set<string>();
  const leave = (through: UpsertKey | null) => {
    if (keys.size > 0) young.ranges.push({ span: { after, through }, keys });
    young.rows += keys.size;
    keys = new Set();
    after = through;
  };
  for await (const pair of pairsByKey(comparison, span)) {
    const row = pair.here ?? pair.there ?? {};
    const difference = differenceOf(table, pair.here, pair.there);
    if (difference === null) findings.match(1);
    else if (isYoung(comparison, pair.here) || isYoung(comparison, pair.there))
      keys.add(keyText(table, row));
    else await findings.differ(difference, pair, recordKey(table, row));
    if (young.rows + keys.size < MAX_YOUNG_ROWS) continue;
    leave(keyOf(table, row));
    await lookAgain(comparison, young);
  }
  leave(span.through);
}

/** Looks at young rows that differed once more: a change that was on its way may have arrived. */
async function lookAgain(comparison: Comparison, young: YoungRanges): Promise<void> {
  const { run, table, findings, signal } = comparison;
  const { ranges } = young;
  if (ranges.length === 0) return;
  young.ranges = [];
  young.rows = 0;
  await run.deps.timer.sleep(SECOND_LOOK_MS, signal);
  for (const { span, keys } of ranges) {
    for await (const pair of pairsByKey(comparison, span)) {
      const row = pair.here ?? pair.there ?? {};
      if (!keys.has(keyText(table, row))) continue;
      const difference = differenceOf(table, pair.here, pair.there);
      if (difference === null) findings.match(1);
      else await findings.differ(difference, pair, recordKey(table, row));
    }
  }
}

/** The rows of a range at both ends, side by side, in the order of the key. */
async function* pairsByKey(
  comparison: Comparison,
  span: KeyRange,
): AsyncGenerator<RowPair, void, undefined> {
  const { run, table } = comparison;
  const own = rowsByKey(run.deps, table, span);
  const remote = remoteRows(comparison, span);
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
  span: KeyRange,
): AsyncGenerator<Row, void, undefined> {
  let { after } = span;
  for (;;) {
    const query = { after, through: span.through, segmentRows: 1, withRecords: true };
    const { records = [], hasMore } = await readDigest(comparison, query);
    yield* records;
    const last = records.at(-1);
    if (!hasMore || last === undefined) return;
    const through = keyOf(comparison.table, last);
    checkSpan(comparison, { after, through });
    after = through;
  }
}

function orderOf({ table }: Comparison, here: Row, there: Row): number {
  return compareKeys(table, keyOf(table, here), keyOf(table, there));
}

async function readDigest(
  comparison: Comparison,
  query: DigestQuery,
  passes: (error: RemotePeerError) => boolean = () => false,
): Promise<DigestPage> {
  const { run, table, calls } = comparison;
  const read = (signal: AbortSignal) => run.remote.peer.readDigest(table.name, query, { signal });
  const { page } = await calls.call(read, passes);
  checkEnd(comparison, page, query);
  return page;
}
