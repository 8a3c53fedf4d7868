// What becomes of each record of a push, where that depends on the rows that are there. Reading times before plain upserts
// costs a twentieth of a push, an update that compares in the server a fifth. A row that is kept, or is as it should be, is not
// written; any other change meanwhile is a write conflict, after which the push runs again.
import type { ClientSession } from "mongodb";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import { rankTimes } from "../../../domain/sync/rows/time-rank.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { Turns } from "../../../ports/runtime/turns.ts";
import type { WriteFailure } from "../../../ports/tables/table-writes.ts";
import type { StoredRows } from "./stored-rows.ts";
import type { Upsert } from "./upserts.ts";

/** What becomes of the records; those in no list would change nothing. */
export interface PushDecision {
  /** The upserts that insert or change a row, in their order. */
  readonly sent: readonly Upsert[];
  /** The canonical times that their rows will have; null for a row without one. */
  readonly sentTimes: readonly (string | null)[];
  /** Positions of the records that rank below the row here, and the canonical times of those rows. */
  readonly kept: readonly number[];
  readonly keptTimes: readonly string[];
  readonly failures: readonly WriteFailure[];
}

/** A row that is there: of most only the time is known. */
interface KnownRow {
  /** Canonical. */
  readonly time: string | null;
  readonly row: Row | null;
}

interface DecisionOptions {
  /** That of the guard; null where there is none. */
  readonly aheadLimit: string | null;
  readonly tx: ClientSession;
  readonly turns: Turns;
}

/**
 * Decides by the snapshot of the transaction, record by record. Whoever changes a row meanwhile that is not sent has done
 * it after this push.
 */
export async function decidePush(
  stored: StoredRows,
  upserts: readonly Upsert[],
  options: DecisionOptions,
): Promise<PushDecision> {
  const { table } = stored;
  const { aheadLimit, turns } = options;
  const rows =
    aheadLimit === null
      ? await readWhole(stored, upserts, options)
      : await readBriefly(stored, upserts, options);
  const decision = {
    sent: [] as Upsert[],
    sentTimes: [] as (string | null)[],
    kept: [] as number[],
    keptTimes: [] as string[],
    failures: [] as WriteFailure[],
  };
  for (const upsert of upserts) {
    if (turns.isOver) await turns.next();
    const { index, keyText, time, refusedIfNew } = upsert;
    const known = rows.get(keyText) ?? null;
    if (known === null && refusedIfNew !== undefined) {
      decision.failures.push({ index, message: refusedIfNew });
    } else if (isKept(time, known, aheadLimit)) {
      decision.kept.push(index);
      decision.keptTimes.push(known.time);
    } else {
      const written =
        known === null ? insertedRow(table, upsert) : updatedRow(table, known, upsert);
      if (written === known) continue;
      rows.set(keyText, written);
      decision.sent.push(upsert);
      decision.sentTimes.push(written.time);
    }
  }
  return decision;
}

async function readWhole(
  stored: StoredRows,
  upserts: readonly Upsert[],
  { tx, turns }: DecisionOptions,
): Promise<Map<string, KnownRow>> {
  const known = new Map<string, KnownRow>();
  for (const [key, row] of await stored.readRows(upserts, tx)) {
    if (turns.isOver) await turns.next();
    known.set(key, { time: rowTime(stored.table, row), row });
  }
  return known;
}

/** Reads times; more only of rows with the time of their record, which may be the same, and of keys that come twice. */
async function readBriefly(
  stored: StoredRows,
  upserts: readonly Upsert[],
  { tx, turns }: DecisionOptions,
): Promise<Map<string, KnownRow>> {
  const times = await stored.readTimes(upserts, tx);
  const seen = new Set<string>();
  const unclear: Upsert[] = [];
  for (const upsert of upserts) {
    if (turns.isOver) await turns.next();
    const { keyText, time } = upsert;
    if (seen.has(keyText) || times.get(keyText) === time) unclear.push(upsert);
    seen.add(keyText);
  }
  const rows = await stored.readRows(unclear, tx);
  const known = new Map<string, KnownRow>();
  for (const [key, time] of times) {
    if (turns.isOver) await turns.next();
    known.set(key, { time, row: rows.get(key) ?? null });
  }
  return known;
}

function isKept(
  time: string | null,
  known: KnownRow | null,
  aheadLimit: string | null,
): known is KnownRow & { readonly time: string } {
  return known !== null && aheadLimit !== null && rankTimes(time, known.time, aheadLimit) < 0;
}

function insertedRow(table: Table, { row, time }: Upsert): KnownRow {
  const columns = table.pushColumns.map(({ name }) => [name, row[name] ?? null] as const);
  return { time, row: Object.fromEntries(columns) };
}

/** The row after an update; the same object when nothing changes. */
function updatedRow(table: Table, known: KnownRow, { row, time }: Upsert): KnownRow {
  const { timestampColumn, updateColumns } = table;
  const isTimed = timestampColumn !== null && Object.hasOwn(row, timestampColumn);
  const hasTime = isTimed && updateColumns.some(({ name }) => name === timestampColumn);
  const written = { time: hasTime ? time : known.time, row: known.row };
  if (known.row === null) return written;
  const given = updateColumns.filter(({ name }) => Object.hasOwn(row, name));
  const isSame = ({ name }: { readonly name: string }) =>
    JSON.stringify(row[name]) === JSON.stringify(known.row?.[name]);
  if (given.every(isSame)) return known;
  const changes = Object.fromEntries(given.map(({ name }) => [name, row[name] ?? null]));
  return { ...written, row: { ...known.row, ...changes } };
}
