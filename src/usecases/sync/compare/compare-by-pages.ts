// Compares with a deployment that has no digests: every row is pulled and looked up. D-4.10.

import type { JsonObject } from "../../../domain/shared/json.ts";
import { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import { convertKey, recordKey, rowKey } from "../../../domain/sync/rows/row-key.ts";
import { RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { formatLike } from "../../../domain/sync/rows/row-time.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import { askPage } from "../transfer/ask-page.ts";
import { type Difference, differenceOf, type RowPair } from "./compare-findings.ts";
import { type Comparison, MAX_YOUNG_ROWS, SECOND_LOOK_MS } from "./comparison.ts";

/** A row of the remote. */
interface RemoteRow {
  readonly record: JsonObject;
  /** The key columns as they are kept here. */
  readonly key: Row;
  /** The row it makes here; null when it cannot be one. */
  readonly row: Row | null;
}

/** What a key was counted as, in the order of their notes, from 1. */
const NOTES = ["matched", "different", "missingHere", "missingThere", "young"] as const;
type Note = (typeof NOTES)[number];

/** What is known of the rows so far. */
interface Looked {
  /** Keys with what they were counted as. */
  readonly seen: RowMemory;
  /** Rows that are looked at twice, by key: the first look. */
  readonly young: Map<string, RowPair>;
  /** A timestamp as the remote writes it; null while none has come. */
  sampleTime: string | null;
}

/** Rows of the local table that are read at once. */
const SCAN_ROWS = 4_096;

/** Compares row by row. */
export async function compareByPages(comparison: Comparison): Promise<void> {
  const looked: Looked = { seen: new RowMemory(), young: new Map(), sampleTime: null };
  const { table, deps } = comparison;
  const whole = PullCursor.begin(table, null, deps.maxPageRows);
  await pullAll(comparison, whole, async (rows) => {
    const here = await readHere(comparison, rows);
    for (const { record, key, row } of rows) {
      looked.sampleTime ??= timeTextOf(comparison, record);
      const pair = { here: here.get(keyText(table, key)) ?? null, there: record };
      await count(comparison, looked, { pair, key, row });
    }
  });
  await scanHere(comparison, looked);
  await lookAgain(comparison, looked);
}

/** Counts a row, once: one that comes again, as it was changed meanwhile, counts as it came last. */
async function count(
  comparison: Comparison,
  looked: Looked,
  { pair, key, row }: { readonly pair: RowPair; readonly key: Row; readonly row: Row | null },
): Promise<void> {
  const { table, findings, isYoung } = comparison;
  const text = keyText(table, key);
  const difference = differenceOfRow(comparison, pair, row);
  const isLeft = difference !== null && (isYoung(pair.here) || isYoung(pair.there));
  const note: Note = isLeft ? "young" : (difference ?? "matched");
  const before = noteAs(looked, text, note);
  if (before === "young") looked.young.delete(text);
  else if (before !== null) findings.takeBack(before, key);
  if (isLeft) looked.young.set(text, pair);
  else if (difference === null) findings.match(1);
  else await findings.differ(difference, { ...pair, key });
  if (looked.young.size >= MAX_YOUNG_ROWS) await lookAgain(comparison, looked);
}

/** Notes what a row counts as, and tells what it counted as before. */
function noteAs({ seen }: Looked, key: string, note: Note): Note | null {
  const known = seen.note({ key }, NOTES.indexOf(note) + 1).note;
  return NOTES[known - 1] ?? null;
}

/** Rows that the remote has not sent. */
async function scanHere(comparison: Comparison, looked: Looked): Promise<void> {
  const { deps, table } = comparison;
  for (let after: Row | null = null; ; ) {
    const query = { after, sinceTime: null, limitRows: SCAN_ROWS };
    const rows: readonly Row[] = await deps.rows.readAfter(table, query);
    for (const row of rows) {
      if (looked.seen.find({ key: keyText(table, row) }).note > 0) continue;
      const key = recordKey(table, row);
      await count(comparison, looked, { pair: { here: row, there: null }, key, row });
    }
    if (rows.length < SCAN_ROWS) return;
    after = rows.at(-1) ?? null;
  }
}

/** What was on its way at the first look may have arrived. */
async function lookAgain(comparison: Comparison, looked: Looked): Promise<void> {
  const { deps, table, findings, signal } = comparison;
  const first = new Map(looked.young);
  if (first.size === 0) return;
  looked.young.clear();
  await deps.timer.sleep(SECOND_LOOK_MS, signal);
  const there = await readYoung(comparison, looked, first);
  const rows = [...first.values()].map((pair) => pair.here ?? pair.there ?? {});
  const here = await readHere(
    comparison,
    rows.map((row) => toRemoteRow(comparison, row)),
  );
  for (const [text, remote] of there) {
    const pair = { here: here.get(text) ?? null, there: remote?.record ?? null };
    if (pair.here === null && pair.there === null) continue;
    const key = remote?.key ?? recordKey(table, pair.here ?? {});
    const difference = differenceOfRow(comparison, pair, remote?.row ?? null);
    noteAs(looked, text, difference ?? "matched");
    if (difference === null) findings.match(1);
    else await findings.differ(difference, { ...pair, key });
  }
}

/** The remote's rows with these keys as they are now; null for those it does not have. */
async function readYoung(
  comparison: Comparison,
  { sampleTime }: Looked,
  first: ReadonlyMap<string, RowPair>,
): Promise<ReadonlyMap<string, RemoteRow | null>> {
  const { deps, table, clocks, youngFromMs } = comparison;
  const latest = new Map<string, RemoteRow | null>();
  for (const [key, { there }] of first) {
    latest.set(key, there === null ? null : toRemoteRow(comparison, there));
  }
  const marker = formatLike(sampleTime ?? clocks.remoteText, youngFromMs);
  const young = PullCursor.beginSince(table, marker, deps.maxPageRows);
  await pullAll(comparison, young, async (rows) => {
    for (const row of rows) {
      const key = keyText(table, row.key);
      if (latest.has(key)) latest.set(key, row);
    }
  });
  return latest;
}

/** Pulls what a cursor asks for, and hands it over page by page. */
async function pullAll(
  comparison: Comparison,
  cursor: PullCursor,
  take: (rows: readonly RemoteRow[]) => Promise<void>,
): Promise<void> {
  const { deps, table } = comparison;
  const size = new BatchSize(deps.maxPageRows, deps.maxPageRows);
  for (let isDone = false; !isDone; ) {
    const { page } = await askPage(comparison, { cursor, size });
    const accepted = cursor.accept(page);
    await take(accepted.records.map((record) => toRemoteRow({ table }, record)));
    isDone = accepted.isDone;
  }
}

function toRemoteRow({ table }: Pick<Comparison, "table">, record: JsonObject): RemoteRow {
  return { record, key: rowKey(table, record).columns, row: convertRecord(table, record).row };
}

function timeTextOf({ table }: Comparison, record: JsonObject): string | null {
  const time = table.timestampColumn === null ? null : record[table.timestampColumn];
  return typeof time === "string" ? time : null;
}

/** A record that cannot be a row here differs from whatever is here. Columns it does not have are not compared. */
function differenceOfRow({ table }: Comparison, pair: RowPair, row: Row | null): Difference | null {
  if (pair.there === null) return differenceOf(table, pair.here, null);
  if (pair.here === null) return "missingHere";
  // What it lacks is of the row here, as a pull would have it.
  const whole = row ?? convertRecord(table, { ...pair.here, ...pair.there }).row;
  if (whole === null) return "different";
  const sent = Object.entries(whole).filter(([name]) => Object.hasOwn(pair.there ?? {}, name));
  return differenceOf(table, pair.here, Object.fromEntries(sent));
}

/** The local rows with the same keys, by key. */
async function readHere(
  { deps, table }: Comparison,
  rows: readonly RemoteRow[],
): Promise<ReadonlyMap<string, Row>> {
  const keys = rows.map(({ key }) => key).filter((key) => convertKey(table, key) !== null);
  const found = keys.length === 0 ? [] : await deps.rows.readByKeys(table, keys);
  return new Map(found.map((row) => [keyText(table, row), row]));
}
