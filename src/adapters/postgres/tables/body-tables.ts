// The rows that one body reads and writes. A write finds what is there, has the domain decide, and sends what is to be done;
// where the server refuses records, all of it is decided and done again without them.
import { fieldOf } from "../../../domain/shared/json.ts";
import { isOfPeople, personOf } from "../../../domain/sync/people/owned-row.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { earliestTime, rowTime } from "../../../domain/sync/rows/row-time.ts";
import {
  decideWrite,
  type FoundByKey,
  type FoundRow,
  type WriteDecision,
} from "../../../domain/sync/rows/write-decision.ts";
import {
  type ColumnValue,
  columnOf,
  type Row,
  type Table,
} from "../../../domain/sync/table/table.ts";
import type {
  RowWrite,
  TableWrites,
  WriteFailure,
  WriteRule,
  Written,
} from "../../../ports/tables/table-writes.ts";
import { Failure, isRefusal, refusalText } from "../driver/errors.ts";
import { lockNames, TAKE_TOLD, TELL } from "../driver/schema.ts";
import { literal, quoted, textList } from "../driver/sql.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { castType, held, refusalOf, shortDecimal, timeOf } from "./columns.ts";
import { type Layout, rowAt } from "./layout.ts";
import type { PostgresTables } from "./postgres-tables.ts";
import { heldTexts, inParts, RowStatements } from "./row-statements.ts";
import { tombstonesWith } from "./tombstone-places.ts";

interface ArrivingRecord extends RowWrite {
  readonly keyText: string;
  readonly time: string | null;
}

type Decided = WriteDecision<ArrivingRecord>;

/** A write whose rows are to be sent. */
interface Sending {
  readonly layout: Layout;
  /** The `keyText` of rows that are there. */
  readonly there: ReadonlySet<string>;
  readonly found: FoundByKey;
  readonly decided: Decided;
}

export class BodyTables implements TableWrites {
  readonly #tx: ServerTransaction;
  readonly #tables: PostgresTables;
  readonly #now: () => number;
  readonly #rows: RowStatements;
  excludesPushes = false;

  constructor(tx: ServerTransaction, tables: PostgresTables, now: () => number) {
    this.#tx = tx;
    this.#tables = tables;
    this.#now = now;
    this.#rows = new RowStatements(tx, now);
  }

  async write(table: Table, writes: readonly RowWrite[], rule: WriteRule = {}): Promise<Written> {
    const layout = this.#tables.layout(table);
    const { conflict = table.conflict, stamps } = rule;
    const deleted = (rule.deleted ?? []).filter(({ key }) => layout.holdsKey(key));
    const failures: WriteFailure[] = [];
    const arriving = this.#arriving(table, writes, failures);
    await this.#tx.begin();
    const nowMs = this.#now();
    const known = await this.#find(layout, [
      ...arriving.map(({ row }) => row),
      ...deleted.map(({ key }) => key),
    ]);
    let records = arriving;
    for (;;) {
      const found = { rows: new Map(known.rows), tombstones: new Map(known.tombstones) };
      const rules = { conflict, nowMs, stamps };
      const deciding = decideWrite(table, { deleted, records }, found, rules);
      const decided = await this.#tables.turns().run(deciding);
      const there = new Set(known.rows.keys()).difference(new Set(decided.removed.keys()));
      const refused = await this.#send({ layout, there, found, decided });
      if (refused.length === 0) return outcomeOf(decided, failures, nowMs);
      failures.push(...refused);
      const without = new Set(refused.map(({ index }) => index));
      records = records.filter(({ index }) => !without.has(index));
    }
  }

  async change(table: Table, column: string, value: string, fields: Row | null): Promise<number> {
    const layout = this.#tables.layout(table);
    const rows = await this.rowsOf(table, [column, [value]]);
    const given = Object.entries(fields ?? {}).filter(([name]) =>
      table.columns.some((known) => known.name === name),
    );
    if (fields === null) await this.#rows.forgetOf(layout, column, value);
    if (rows.length === 0) return 0;
    this.#tx.writesRows();
    const changed =
      fields === null ? [] : rows.map((row) => ({ ...row, ...Object.fromEntries(given) }));
    await this.#meet(layout, [...rows, ...changed]);
    await this.#rows.remove(layout, layout.name, rows);
    if (changed.length > 0) {
      await this.#rows.forgetOutlived(layout, changed);
      await this.#rows.put(layout, changed, { columns: table.columns, isWhole: true });
    }
    const isTimed = given.some(([name]) => name === table.timestampColumn);
    const at = isTimed ? earliestTime(changed.map((row) => rowTime(table, row))) : null;
    if (at !== null) await this.#tx.query(TELL, [String(layout.slot), at]);
    return rows.length;
  }

  async takeCommitted(table: Table): Promise<string | null> {
    const { slot } = this.#tables.layout(table);
    const [[at] = []] = await this.#tx.query(TAKE_TOLD, [String(slot)]);
    return typeof at === "string" ? timeOf(at) : null;
  }

  excludePushes(): void {
    this.excludesPushes = true;
  }

  /** Every column of the rows with one of these values in a column. */
  async rowsOf(
    table: Table,
    [column, values]: readonly [column: string, values: readonly string[]],
  ): Promise<readonly Row[]> {
    const layout = this.#tables.layout(table);
    const found = columnOf(table, column);
    const texts = found === null ? [] : heldTexts(found, values);
    if (found === null || texts.length === 0) {
      await this.#tx.begin();
      return [];
    }
    const text = `select ${layout.shown(table.columns)} from ${layout.name} as t where t.${quoted(column)} = any($1::text[]::${castType(found)}[])`;
    const lines = await this.#tx.query(text, [textList(texts)]);
    return lines.map((line) => rowAt(table.columns, line));
  }

  /** Every column of the rows with these keys. */
  async rowsWith(table: Table, keys: readonly Row[]): Promise<readonly Row[]> {
    const layout = this.#tables.layout(table);
    const distinct = new Map(
      keys.filter((key) => layout.holdsKey(key)).map((key) => [keyText(table, key), key]),
    );
    await this.#tx.begin();
    if (distinct.size === 0) return [];
    const text = layout.byKeys(layout.shown(table.columns));
    const lines = await this.#tx.query(text, layout.keyLists([...distinct.values()]));
    return lines.map((line) => rowAt(table.columns, line));
  }

  /** Records as they would be read again; those that the columns cannot hold fail. */
  #arriving(table: Table, writes: readonly RowWrite[], failures: WriteFailure[]) {
    return writes.flatMap((write): ArrivingRecord[] => {
      const problem = problemOf(table, write.row);
      if (problem !== null) {
        failures.push({ index: write.index, message: problem });
        return [];
      }
      const row = asRead(table, write.row);
      return [{ ...write, row, keyText: keyText(table, row), time: rowTime(table, row) }];
    });
  }

  /** Locks what the rows may share with other writes, beside themselves, and finds what is there. */
  async #find(layout: Layout, keys: readonly Row[]): Promise<FoundByKey> {
    const { table } = layout;
    const found: FoundByKey = { rows: new Map(), tombstones: new Map() };
    const distinct = [...new Map(keys.map((key) => [keyText(table, key), key])).values()];
    const columns = table.pushColumns;
    const work: Promise<unknown>[] = [this.#meet(layout, distinct)];
    for (const some of inParts(distinct)) {
      const lists = layout.keyLists(some);
      work.push(
        this.#tx.query(layout.byKeys(layout.shown(columns)), lists).then((lines) => {
          for (const line of lines) {
            const row = rowAt(columns, line);
            found.rows.set(keyText(table, row), { row, time: rowTime(table, row) } as FoundRow);
          }
        }),
      );
      if (!table.deletes) continue;
      work.push(
        tombstonesWith(this.#tx, layout, lists).then((tombstones) => {
          for (const { key, deletedAt } of tombstones) {
            found.tombstones.set(keyText(table, key), deletedAt);
          }
        }),
      );
    }
    await Promise.all(work);
    return found;
  }

  async #meet({ table }: Layout, keys: readonly Row[]): Promise<void> {
    const names = new Set<string>();
    if (table.deletes)
      for (const key of keys) names.add(`row ${table.name} ${keyText(table, key)}`);
    if (isOfPeople(table)) {
      for (const key of keys) if (personOf(key) !== null) names.add(`person ${personOf(key)}`);
    }
    await Promise.all(this.#tx.send(lockNames([...names])));
  }

  /** Does what was decided, or nothing of it: gives the records that the server refuses. */
  async #send(sending: Sending): Promise<readonly WriteFailure[]> {
    const { layout, found, decided } = sending;
    const rows = sentRows(decided, found);
    if (rows.size + decided.removed.size + decided.forgotten.size + decided.listed.length === 0) {
      return [];
    }
    this.#tx.writesRows();
    const numbers = await this.#numbers(layout, decided);
    const withNumbers = [...rows].map(([text, row]) => numbered(layout, row, numbers.get(text)));
    let refused: readonly WriteFailure[] = [];
    const opening = async () => {
      await this.#rows.remove(layout, layout.name, [...decided.removed.values()]);
      await this.#forget(layout, [...decided.forgotten], found, decided);
      await this.#rows.list(layout, decided.listed);
    };
    try {
      await this.#tx.attempt(async () => {
        await opening();
        await this.#putAll(sending, withNumbers);
      });
    } catch (error) {
      if (!(error instanceof Failure) || !isRefusal(error)) throw error;
      await this.#tx
        .attempt(async () => {
          await opening();
          refused = await this.#findRefused(sending, withNumbers);
          throw UNDONE;
        })
        .catch((thrown) => {
          if (thrown !== UNDONE) throw thrown;
        });
    }
    return refused;
  }

  /** Halves what is refused until each refused row is found; the others are written meanwhile, as rules may be about several. */
  async #findRefused(sending: Sending, rows: readonly Row[]): Promise<readonly WriteFailure[]> {
    const { layout, decided } = sending;
    const refused: WriteFailure[] = [];
    const place = async (some: readonly Row[]): Promise<void> => {
      try {
        await this.#tx.attempt(() => this.#putAll(sending, some));
      } catch (error) {
        if (!(error instanceof Failure) || !isRefusal(error)) throw error;
        if (some.length > 1) {
          const half = some.length >> 1;
          await place(some.slice(0, half));
          await place(some.slice(half));
          return;
        }
        const text = keyText(layout.table, some[0] ?? {});
        const last = decided.sent.findLast((record) => record.keyText === text);
        if (last !== undefined) refused.push({ index: last.index, message: refusalText(error) });
      }
    };
    await place(rows);
    return refused;
  }

  /** Next numbers for rows that are new, in the order of their records. */
  async #numbers(layout: Layout, decided: Decided): Promise<ReadonlyMap<string, ColumnValue>> {
    const texts = [...new Set(decided.added.map((record) => record.keyText))];
    if (layout.numbered === null || texts.length === 0) return new Map();
    const text = `select nextval(${literal(layout.numbers)}::regclass) from generate_series(1, $1::int4)`;
    const lines = await this.#tx.query(text, [String(texts.length)]);
    return new Map(texts.map((one, i) => [one, Number(lines[i]?.[0])]));
  }

  async #putAll({ layout, there }: Sending, rows: readonly Row[]): Promise<void> {
    const { numbered: number, table } = layout;
    const columns = number === null ? table.pushColumns : [...table.pushColumns, number];
    for (const some of inParts(rows)) {
      const newRows = some.filter((row) => !there.has(keyText(table, row))).length;
      await this.#rows.put(layout, some, { columns, newRows });
    }
  }

  async #forget(
    layout: Layout,
    texts: readonly string[],
    found: FoundByKey,
    decided: Decided,
  ): Promise<void> {
    if (texts.length === 0) return;
    const keys = new Map<string, Row>();
    for (const { keyText: text, row } of decided.sent) keys.set(text, row);
    for (const [text, { row }] of found.rows) if (row !== null) keys.set(text, row);
    const gone = texts.flatMap((text) => {
      const key = keys.get(text);
      return key === undefined ? [] : [key];
    });
    await this.#rows.remove(layout, layout.deleted, gone);
  }
}

const UNDONE = new Error("Nothing of an attempt stays");

/** The rows that records leave, by key, once each: they are there when all are done. */
function sentRows(decided: Decided, found: FoundByKey): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  for (const { keyText: text } of decided.sent) {
    const row = found.rows.get(text)?.row;
    if (row !== undefined && row !== null) rows.set(text, row);
  }
  return rows;
}

function numbered({ numbered: column }: Layout, row: Row, number: ColumnValue | undefined): Row {
  return column === null ? row : { ...row, [column.name]: number ?? null };
}

function outcomeOf(
  decided: Decided,
  failures: readonly WriteFailure[],
  visibleMs: number,
): Written {
  return {
    failures: [...failures, ...decided.failures].sort((a, b) => a.index - b.index),
    kept: decided.kept,
    ...(decided.buried.length === 0 ? {} : { buried: decided.buried }),
    changed: decided.sent.length,
    deleted: decided.removed.size,
    earliestChanged: decided.earliestChanged,
    earliestKept: decided.earliestKept,
    visibleMs,
  };
}

function problemOf(table: Table, row: Row): string | null {
  for (const column of table.pushColumns) {
    const value = fieldOf(row, column.name);
    if (held(column, value) === null) return refusalOf(column, value);
  }
  return null;
}

/** A row whose decimals are written as they would be read. */
function asRead(table: Table, row: Row): Row {
  let changed: Record<string, ColumnValue> | null = null;
  for (const { name, type } of table.pushColumns) {
    if (type !== "numeric" && type !== "bigint") continue;
    const value = fieldOf(row, name);
    if (typeof value !== "string") continue;
    const short = shortDecimal(value);
    if (short !== value) changed = { ...(changed ?? row), [name]: short };
  }
  return changed ?? row;
}
