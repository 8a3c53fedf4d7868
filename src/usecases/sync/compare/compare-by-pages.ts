// Compares with a deployment that has no digests: every row is pulled and looked up. D-4.10.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import { type RowKey, recordKey, rowKey } from "../../../domain/sync/rows/row-key.ts";
import { RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { formatLike, rowTimeText } from "../../../domain/sync/rows/row-time.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { pullRecords } from "../transfer/remote-pages.ts";
import { type Comparison, isYoung, MAX_YOUNG_ROWS, SECOND_LOOK_MS } from "./comparison.ts";
import { type Difference, differenceOf, type RowPair } from "./row-pair.ts";

const SCAN_ROWS = 4_096;

/** What a key can be counted as; `RowMemory` notes the place in this list, from 1. */
const NOTES = ["matched", "different", "missingHere", "missingThere", "young"] as const;
type Note = (typeof NOTES)[number];

interface RemoteRow {
  readonly record: JsonObject;
  readonly key: RowKey;
  /** The row it makes here; null when it cannot be one. */
  readonly row: Row | null;
}

export class PageComparison {
  readonly #comparison: Comparison;
  /** Keys with what they were counted as. */
  readonly #seen = new RowMemory();
  /** Rows that are looked at twice, by key: the first look. */
  readonly #young = new Map<string, RowPair>();
  /** A timestamp in the notation of the remote; null until one has come. */
  #sampleTime: string | null = null;

  constructor(comparison: Comparison) {
    this.#comparison = comparison;
  }

  async run(): Promise<void> {
    const { run, table } = this.#comparison;
    const cursor = PullCursor.begin(table, null, run.deps.maxPageRows);
    for await (const pulled of pullRecords(this.#comparison, cursor)) {
      const rows = pulled.records.map((record) => remoteRow(table, record));
      const here = await this.#readHere(rows);
      for (const { record, key, row } of rows) {
        this.#sampleTime ??= rowTimeText(table, record);
        const pair = { here: here.get(key.text) ?? null, there: record };
        await this.#count(pair, key.columns, row);
      }
    }
    await this.#scanHere();
    await this.#lookAgain();
  }

  async #scanHere(): Promise<void> {
    const { run, table } = this.#comparison;
    for (let after: Row | null = null; ; ) {
      const query = { after, sinceTime: null, limitRows: SCAN_ROWS };
      const rows: readonly Row[] = await run.deps.rows.readAfter(table, query);
      for (const row of rows) {
        if (this.#seen.find({ key: keyText(table, row) }).note > 0) continue;
        await this.#count({ here: row, there: null }, recordKey(table, row), row);
      }
      if (rows.length < SCAN_ROWS) return;
      after = rows.at(-1) ?? null;
    }
  }

  /** Counts a row, once: one that comes again, as it was changed meanwhile, counts as it came last. */
  async #count(pair: RowPair, key: JsonObject, row: Row | null): Promise<void> {
    const { table, findings } = this.#comparison;
    const text = keyText(table, key);
    const difference = differenceOfRow(table, pair, row);
    const isLeft =
      difference !== null &&
      (isYoung(this.#comparison, pair.here) || isYoung(this.#comparison, pair.there));
    const before = this.#noteAs(text, isLeft ? "young" : (difference ?? "matched"));
    if (before === "young") this.#young.delete(text);
    else if (before !== null) findings.takeBack(before, key);
    if (isLeft) this.#young.set(text, pair);
    else if (difference === null) findings.match(1);
    else await findings.differ(difference, pair, key);
    if (this.#young.size >= MAX_YOUNG_ROWS) await this.#lookAgain();
  }

  /** Notes what a row counts as, and returns what it counted as before. */
  #noteAs(key: string, note: Note): Note | null {
    const known = this.#seen.note({ key }, NOTES.indexOf(note) + 1).note;
    return NOTES[known - 1] ?? null;
  }

  /** Looks at young rows that differed once more: a change that was on its way may have arrived. */
  async #lookAgain(): Promise<void> {
    const { run, table, findings, signal } = this.#comparison;
    const first = new Map(this.#young);
    if (first.size === 0) return;
    this.#young.clear();
    await run.deps.timer.sleep(SECOND_LOOK_MS, signal);
    const there = await this.#readYoung(first);
    const rows = [...first.values()].map((pair) => pair.here ?? pair.there ?? {});
    const here = await this.#readHere(rows.map((row) => remoteRow(table, row)));
    for (const [text, remote] of there) {
      const pair = { here: here.get(text) ?? null, there: remote?.record ?? null };
      if (pair.here === null && pair.there === null) continue;
      const key = remote?.key.columns ?? recordKey(table, pair.here ?? {});
      const difference = differenceOfRow(table, pair, remote?.row ?? null);
      this.#noteAs(text, difference ?? "matched");
      if (difference === null) findings.match(1);
      else await findings.differ(difference, pair, key);
    }
  }

  /** The remote's rows with these keys as they are now; null for those it does not have. */
  async #readYoung(
    first: ReadonlyMap<string, RowPair>,
  ): Promise<ReadonlyMap<string, RemoteRow | null>> {
    const { run, table, clocks, youngFromMs } = this.#comparison;
    const latest = new Map<string, RemoteRow | null>();
    for (const [key, { there }] of first) {
      latest.set(key, there === null ? null : remoteRow(table, there));
    }
    const marker = formatLike(this.#sampleTime ?? clocks.remoteText, youngFromMs);
    const cursor = PullCursor.beginSince(table, marker, run.deps.maxPageRows);
    for await (const pulled of pullRecords(this.#comparison, cursor)) {
      for (const record of pulled.records) {
        const row = remoteRow(table, record);
        if (latest.has(row.key.text)) latest.set(row.key.text, row);
      }
    }
    return latest;
  }

  async #readHere(rows: readonly RemoteRow[]): Promise<ReadonlyMap<string, Row>> {
    const { run, table } = this.#comparison;
    const keys = rows.filter(({ key }) => key.isUsable).map(({ key }) => key.columns);
    const found = keys.length === 0 ? [] : await run.deps.rows.readByKeys(table, keys);
    return new Map(found.map((row) => [keyText(table, row), row]));
  }
}

function remoteRow(table: Table, record: JsonObject): RemoteRow {
  return { record, key: rowKey(table, record), row: convertRecord(table, record).row };
}

/** A record that cannot be a row here differs from whatever is here. Columns it does not have are not compared. */
function differenceOfRow(table: Table, pair: RowPair, row: Row | null): Difference | null {
  if (pair.there === null) return differenceOf(table, pair.here, null);
  if (pair.here === null) return "missingHere";
  // A column that the record lacks keeps its value here, as in a pull.
  const whole = row ?? convertRecord(table, { ...pair.here, ...pair.there }).row;
  if (whole === null) return "different";
  const sent = Object.entries(whole).filter(([name]) => Object.hasOwn(pair.there ?? {}, name));
  return differenceOf(table, pair.here, Object.fromEntries(sent));
}
