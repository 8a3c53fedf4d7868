// Every write of rows here, by pushes, imports, runs and repairs: one commit of the rows, the notes of late rows, and the state
// that a run keeps with them. D-4.5, D-7.4, D-8.1.
import { AppError } from "../../../domain/shared/errors.ts";
import type { JsonValue } from "../../../domain/shared/json.ts";
import { meetPeople, peopleOf, tombstonesLeft } from "../../../domain/sync/people/arrivals.ts";
import { isOfPeople } from "../../../domain/sync/people/name-facts.ts";
import type { ConvertedRecord } from "../../../domain/sync/rows/convert.ts";
import type { RecordFailure } from "../../../domain/sync/rows/push-result.ts";
import { recordKey } from "../../../domain/sync/rows/row-key.ts";
import {
  aheadLimit,
  earliestTime,
  FIRST_STAMP,
  isTimeless,
  rowTime,
} from "../../../domain/sync/rows/row-time.ts";
import { tombstoneOf } from "../../../domain/sync/rows/tombstone.ts";
import { lateTimesOf } from "../../../domain/sync/run/late-rows.ts";
import {
  type AcceptedRecords,
  type NewRejection,
  namedPerson,
} from "../../../domain/sync/run/rejections.ts";
import type { MemoryChange } from "../../../domain/sync/run/remote-memory.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { type CallOptions, SYNC_CALLS, type Transaction } from "../../../ports/documents.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import type { RowWrite, WriteRule, WrittenRows } from "../../../ports/tables/table-writes.ts";
import type { Names } from "../../../repositories/accounts/names.ts";
import { fence, type LeaseClaim, leaseQueries } from "../../../repositories/leases.ts";
import { keepRejections } from "../../../repositories/rejected-records.ts";
import {
  forgetBlocks,
  keepMemory,
  lastBlockQuery,
  type MemoryOwner,
  memoryQuery,
} from "../../../repositories/remote-memory.ts";
import type { SyncDeps } from "./sync-deps.ts";

export type WriteRowsDeps = Pick<
  SyncDeps,
  "documents" | "tables" | "names" | "lateRows" | "exchanged"
>;

/** Rows, and tombstones that take effect before them; of a profile with an owner none does. D-8.1. */
export interface RowsToWrite extends WriteRule {
  readonly writes: readonly RowWrite[];
  /** True when a run of this deployment writes what it pulled: its late rows are noted for others only. D-7.4. */
  readonly isOwnRun?: boolean;
  /** True when the caller can write in parts: a commit that others disturb ends soon, with `batch_too_large`. D-11.10. */
  readonly isDivisible?: boolean;
}

/** State that a run commits with its rows. */
export interface CommitExtras {
  readonly memory?: MemoryChange;
  readonly rejected?: readonly NewRejection[];
  /** Records whose entries are dropped before `rejected` is noted. */
  readonly accepted?: AcceptedRecords;
  /** A block to add to the table's exchanged rows, after any that are removed. */
  readonly exchanged?: Uint8Array;
}

interface RunCommit {
  /** The lease under which it is made; null for none. */
  readonly claim: LeaseClaim | null;
  /** Null where the remote is unknown: then no memory is kept. */
  readonly owner: MemoryOwner | null;
  /** Called before each attempt to commit, with its outcome. Where it throws, nothing is written. */
  extrasOf(outcome: WriteOutcome): CommitExtras;
}

/** The result of a write, or of one about to be committed. */
export interface WriteOutcome extends WrittenRows {
  /** Positions of records that were left out, as the person whom they name is erased here. D-8.2. */
  readonly erased: readonly number[];
}

export const NOTHING_WRITTEN: WriteOutcome = {
  failures: [],
  kept: [],
  erased: [],
  changed: 0,
  deleted: 0,
};
/** Records after which others have their turn. */
const TURN_RECORDS = 200;
/** The most rows, and bytes of their JSON, that get their first stamps at once. */
const STAMPED_ROWS = 1_000;
const STAMPED_BYTES = 8 * 1024 * 1024;

/** Converts records, with turns for others in between. D-7.9. */
export async function planWrites<Sent extends JsonValue>(
  { clock, timer }: Pick<SyncDeps, "clock" | "timer">,
  records: readonly Sent[],
  convert: (record: Sent) => ConvertedRecord,
) {
  const turns = new Turns(clock, () => timer.sleep(0));
  const writes: RowWrite[] = [];
  const failures: (RecordFailure & { readonly record: Sent })[] = [];
  for (const [index, record] of records.entries()) {
    if (turns.isOver) await turns.next();
    const converted = convert(record);
    if (converted.row === null) failures.push({ index, message: converted.problem, record });
    else writes.push({ index, ...converted });
  }
  return { writes, failures };
}

/** Writes that change rows and make no new ones: a row that is not here any more was deleted. */
export function changesOf(rows: readonly Row[]): readonly RowWrite[] {
  return rows.map((row, index) => ({ index, row, refusedIfNew: "It was deleted" }));
}

/**
 * Upserts records in their order, in one commit of all but the failed ones, or of none (S-4.2.9 to S-4.2.11). A row for an erased
 * name is left out and counts as erased (`isLeftOut`, D-8.2). `ownedRow` says what is written of a profile with an owner; a
 * record of which nothing is written counts as kept (D-8.1). Rows that changed late, were kept or were merged are noted
 * (`LateRows`, D-7.4). Resolves once the commit is durable; with `run` it commits without rows, too. Throws `commit_failed` when
 * nothing was written, `batch_too_large` when it can only be written in parts, `lease_lost` when the run's lease is lost, and
 * `store_unavailable` when the outcome is unknown.
 */
export async function writeRows(
  deps: WriteRowsDeps,
  table: Table,
  rows: RowsToWrite,
  run: RunCommit | null = null,
): Promise<WriteOutcome> {
  const { writes, deleted = [], conflict = table.conflict, isDivisible = false } = rows;
  if (writes.length + deleted.length === 0 && run === null) return NOTHING_WRITTEN;
  const looksAtDeletes =
    conflict !== "overwrite" || deleted.length > 0 || rows.stamps !== undefined;
  const options = {
    name: "rows.write",
    limit: SYNC_CALLS,
    isDivisible: isDivisible && writes.length > 1,
    looksAtDeletes,
  };
  return await transactRows(deps, table, options, (tx) =>
    writeWithin(deps, tx, { table, ...rows }, run),
  );
}

/** Runs a body that writes rows of a table; `looksAtDeletes` where its tombstones matter. */
export async function transactRows<T>(
  { tables, documents, lateRows }: WriteRowsDeps,
  table: Table,
  { looksAtDeletes, ...options }: CallOptions & { readonly looksAtDeletes: boolean },
  body: (tx: Transaction) => Promise<T>,
): Promise<T> {
  if (table.deletes && looksAtDeletes) await tables.settled(table);
  const done = await documents.transact(options, body);
  await lateRows.tidy(table);
  return done;
}

/** Removes a row within a body, with a tombstone where its table keeps them. Throws `conflict` where the store refuses. */
export async function removeWithin(
  deps: WriteRowsDeps,
  tx: Transaction,
  table: Table,
  row: Row,
): Promise<void> {
  const deleted = [{ index: 0, ...tombstoneOf(table, row, tx.nowMs) }];
  const { refusedDeletes = [] } = await writeWithin(deps, tx, { table, writes: [], deleted });
  const [refused] = refusedDeletes;
  if (refused !== undefined) throw new AppError("conflict", `The row stays: ${refused.message}`);
}

interface TableRows extends RowsToWrite {
  readonly table: Table;
}

/** As `writeRows`, within a body of `transactRows`. */
export async function writeWithin(
  deps: WriteRowsDeps,
  tx: Transaction,
  rows: TableRows,
  run: RunCommit | null = null,
): Promise<WriteOutcome> {
  const { table, stamps, isOwnRun = false, conflict = table.conflict } = rows;
  const before = run === null ? null : await begin(tx, table, run);
  const { records, deleted, mergedTimes, erased, ...met } = await meet(deps.names, tx, rows);
  const written = await tx.tables.write(table, records, {
    conflict,
    ...(deleted.length === 0 ? {} : { deleted }),
    ...(stamps === undefined ? {} : { stamps }),
  });
  const { earliestChanged, earliestKept, visibleMs, ...done } = written;
  const times = { earliestChanged, earliestKept: earliestTime([earliestKept, ...mergedTimes]) };
  deps.lateRows.note(tx, table, lateTimesOf(table, times, isOwnRun, visibleMs));
  const kept = [...done.kept, ...met.kept].sort((a, b) => a - b);
  const outcome = { ...done, kept, erased };
  if (run === null || before === null) return outcome;
  const { memory = {}, accepted, rejected = [], exchanged } = run.extrasOf(outcome);
  const isOther = run.owner !== null && keepMemory(tx, run.owner, before.memory, memory);
  const people = isOfPeople(table) ? rejected.flatMap((one) => namedPerson(one) ?? []) : [];
  const erasedNames = await deps.names.erasedAmong(people, tx);
  const noted = rejected.filter((one) => !erasedNames.has(namedPerson(one) ?? ""));
  await keepRejections(tx, accepted, noted);
  if (isOther) await forgetBlocks(tx, [table.name]);
  if (exchanged !== undefined) deps.exchanged.add(tx, table.name, exchanged, before.last);
  return outcome;
}

/** Reads lease, memory and last block in one message, and lets the commit fail once the lease is lost. */
async function begin(tx: Transaction, { name }: Table, { claim, owner }: RunCommit) {
  const [lease, turn, memory, last] = await tx.read(
    ...leaseQueries(claim?.name ?? null),
    memoryQuery(owner?.table ?? null),
    lastBlockQuery(name),
  );
  if (claim !== null) fence(tx, claim, [lease, turn]);
  return { memory, last };
}

/** Decides about rows of people of whom facts are known; all others stay as they arrived. */
async function meet(
  names: Names,
  tx: Transaction,
  { table, writes, deleted = [], conflict = table.conflict }: TableRows,
) {
  const asTheyCame = { records: writes, deleted, kept: [], erased: [], mergedTimes: [] };
  if (!isOfPeople(table)) return asTheyCame;
  const rows = [...writes.map(({ row }) => row), ...deleted.map(({ key }) => key)];
  const facts = await names.readFactsWithin(tx, peopleOf(rows));
  if (facts.size === 0) return asTheyCame;
  const [here] = await tx.read({ rowsOf: table, where: ["username", [...facts.keys()]] });
  const rules = { facts, here, aheadLimit: aheadLimit(tx.nowMs), conflict };
  const steps = meetPeople(table, writes, rules);
  let step = steps.next();
  for (let n = 1; !step.done; n++, step = steps.next()) {
    if (n % TURN_RECORDS === 0) await tx.turn();
  }
  return { ...step.value, deleted: tombstonesLeft(table, deleted, rules) };
}

/**
 * Gives each row without a time in a stamped table the first stamp, which is the same at all ends. Such rows come first in the
 * order of a table, so a table without any costs one page. Safe at each start, also of several instances at once: a time that a
 * row got meanwhile stays. Throws as `writeRows`. D-14.2.
 */
export async function beginStamps(deps: WriteRowsDeps, tables: Iterable<Table>): Promise<void> {
  for (const table of tables) if (table.stamped) await stampFirst(deps, table);
}

async function stampFirst(deps: WriteRowsDeps, table: Table): Promise<void> {
  const { timestampColumn, pushColumns } = table;
  // A stamp changes the time alone, even where `update_columns` leaves it out.
  const updateColumns = pushColumns.filter(({ name }) => name === timestampColumn);
  const timed = { ...table, updateColumns };
  const first = { [timestampColumn ?? ""]: FIRST_STAMP };
  const limits = { limitRows: STAMPED_ROWS, maxJsonBytes: STAMPED_BYTES, columns: "sent" } as const;
  for (let after: Row | null = null; ; ) {
    const { rows }: { readonly rows: readonly Row[] } = await deps.tables.page(table, {
      ...limits,
      from: { after },
    });
    const timeless = rows.filter((row) => isTimeless(table, row));
    const writes = changesOf(timeless.map((row) => ({ ...recordKey(table, row), ...first })));
    await writeRows(deps, timed, { writes, conflict: "newer" });
    after = rows.at(-1) ?? null;
    // A row with a time ends the search; a row whose time cannot be read stays as it is.
    if (after === null || rowTime(table, after) !== null) return;
  }
}
