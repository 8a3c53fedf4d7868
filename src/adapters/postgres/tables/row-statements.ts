// Statements that write rows and tombstones, and read rows, many at once.

import { AppError } from "../../../domain/shared/errors.ts";
import { fieldOf } from "../../../domain/shared/json.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { aheadLimit, earliestTime, outlives, rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import { type Column, columnOf, type Row } from "../../../domain/sync/table/table.ts";
import type { Turns } from "../../../ports/runtime/turns.ts";
import { isRefusal, passedOver, refusalText } from "../driver/errors.ts";
import { TELL, WRITES_OWN } from "../driver/schema.ts";
import { inParts, nameText, quoted, textList } from "../driver/sql.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { castType, held } from "./columns.ts";
import { type Layout, rowAt } from "./layout.ts";
import { tombstonesWith } from "./tombstones.ts";
import { IS_OWN_TRIGGER } from "./triggers.ts";
import { locks, movedFrom } from "./write-steps.ts";

/** True when something beside repsync may refuse a row of a table. `$2` are the columns of its key. */
const HAS_RULES = `
select exists (select from pg_constraint where conrelid = t.oid and contype <> 'n')
  or exists (select from pg_trigger where tgrelid = t.oid and not tgisinternal and not ${IS_OWN_TRIGGER})
  or exists (select from pg_index as i join pg_class as c on c.oid = i.indexrelid where i.indrelid = t.oid and c.relname not like 'repsync\\_%')
  or exists (select from pg_attribute where attrelid = t.oid and attnum > 0 and not attisdropped and (attnotnull and attname <> all($2::text[]) or attgenerated <> ''))
from pg_class as t where t.oid = to_regclass($1::text)`;

export class RowStatements {
  readonly #tx: ServerTransaction;

  constructor(tx: ServerTransaction) {
    this.#tx = tx;
  }

  /** Resolves to the number of rows that are there with the keys that they were sent with. */
  async insert(layout: Layout, rows: readonly Row[], columns: readonly Column[]): Promise<number> {
    const { name, table } = layout;
    const names = nameText(columns);
    const keys = nameText(table.keyColumns);
    const sent = `select * from unnest(${layout.casts(columns).join(", ")}) as s(${names})`;
    // The key was free in the snapshot. When it has been taken since, the server fails with a conflict.
    const text = `insert into ${name} (${names}) select * from sent on conflict (${keys}) do nothing returning ${keys}`;
    // A trigger may have given a row another key: the one that was sent is not there then. Asking takes a tenth of the time.
    const found = layout.hasSetters ? `done join sent using (${keys})` : "done";
    const counted = `with sent as (${sent}), done as (${text}) select count(*) from ${found}`;
    return await this.#write(layout, counted, layout.lists(columns, rows));
  }

  /** Sets the `updateColumns` of existing rows, and resolves to their number. */
  async update(layout: Layout, rows: readonly Row[]): Promise<number> {
    const { name, table } = layout;
    const changed = table.updateColumns.filter(({ isKey }) => !isKey);
    const columns = [...table.keyColumns, ...changed];
    const sets = changed.map((column) => `${quoted(column.name)} = s.${quoted(column.name)}`);
    const text = `update ${name} as t set ${sets.join(", ")} from unnest(${layout.casts(columns).join(", ")}) as s(${nameText(columns)}) where ${layout.sameKey("t", "s")}`;
    return await this.#count(layout, text, layout.lists(columns, rows));
  }

  /** True when additions of another program to the table may refuse a record. */
  async hasRules({ name, table }: Layout): Promise<boolean> {
    const keys = textList(table.keyColumns.map((column) => column.name));
    return (await this.#tx.first(HAS_RULES, [name, keys])) === true;
  }

  /** Resolves to the number of removed rows. `also` is a further condition. */
  async remove(layout: Layout, name: string, keys: readonly Row[], also = ""): Promise<number> {
    let removed = 0;
    for (const some of inParts(keys)) {
      const found = layout.byKeys("t.repsync_ctid", name);
      const text = `delete from ${name} where ctid = any(array(${found})) ${also}`;
      removed += await this.#count(layout, text, layout.keyLists(some));
    }
    return removed;
  }

  /** Puts tombstones at the end of the list, and removes earlier ones of their keys; a later one stays. */
  async list(layout: Layout, listed: readonly Tombstone[]): Promise<void> {
    const columns = layout.table.keyColumns;
    const names = nameText(columns);
    const lists = layout.casts(columns);
    const at = columns.length;
    for (const some of inParts(listed)) {
      const text = `insert into ${layout.deleted} as d (${names}, deleted_at, taken_ms)
        select ${names}, deleted_at, $${at + 2}::int8 from unnest(${lists.join(", ")}, $${at + 1}::text[]::timestamptz[]) with ordinality as l(${names}, deleted_at, place) order by place
        on conflict (${names}) do update set deleted_at = excluded.deleted_at, taken_ms = excluded.taken_ms, repsync_xact = null, place = null, made = default
        where d.deleted_at <= excluded.deleted_at`;
      await this.#tx.query(text, [
        ...layout.keyLists(some.map(({ key }) => key)),
        textList(some.map(({ deletedAt }) => deletedAt)),
        String(this.#tx.nowMs),
      ]);
    }
  }

  /** Changes given fields of the rows with a value in a column, or removes the rows for null. */
  async change(
    layout: Layout,
    [columnName, value]: readonly [column: string, value: string],
    { fields, turns }: { readonly fields: Row | null; readonly turns: Turns },
  ): Promise<void> {
    const { name, slot, table } = layout;
    const tx = this.#tx;
    const rows = await readRowsBy(tx, layout, [columnName, [value]]);
    const given = table.columns.filter((column) => Object.hasOwn(fields ?? {}, column.name));
    const by = columnOf(table, columnName);
    const text = by && held(by, value);
    if (by === null || typeof text !== "string") return;
    const forget = async () => {
      if (fields === null) await this.#forgetOf(layout, [by, text], rows);
    };
    if (rows.length === 0 || (fields !== null && given.length === 0)) return await forget();
    tx.writesRows();
    const changed = fields === null ? [] : rows.map((row) => ({ ...row, ...fields }));
    const keys = [...rows, ...changed].map((row) => [keyText(table, row), row] as const);
    await Promise.all(tx.send(await turns.run(locks(table, keys))));
    const done =
      fields === null
        ? await this.remove(layout, name, rows)
        : await this.#set(layout, [by, text], [given, fields]);
    if (done < rows.length) throw passedOver();
    // Other programs lock a row, and their triggers then its tombstone: another order would meet deadlocks.
    await forget();
    await this.#forgetOutlived(layout, changed);
    await this.list(layout, movedFrom(table, rows, changed, tx.nowMs));
    const isTimed = given.some((column) => column.name === table.timestampColumn);
    const at = isTimed ? earliestTime(changed.map((row) => rowTime(table, row))) : null;
    if (at !== null) await tx.query(TELL, [String(slot), at]);
  }

  async #set(
    layout: Layout,
    [by, value]: readonly [by: Column, text: string],
    [columns, fields]: readonly [columns: readonly Column[], fields: Row],
  ): Promise<number> {
    const sets = columns.map((one, i) => `${quoted(one.name)} = $${i + 2}::text::${castType(one)}`);
    const text = `update ${layout.name} set ${sets.join(", ")} where ${quoted(by.name)} = $1::text::${castType(by)}`;
    const values = columns.map((one) => held(one, fieldOf(fields, one.name)) ?? null);
    return await this.#count(layout, text, [value, ...values]).catch((error) => {
      throw isRefusal(error) ? new AppError("invalid_request", refusalText(error)) : error;
    });
  }

  /** Forgets the tombstones of removed rows, and of keys with their value in a column, also where the table no longer has deletes. */
  async #forgetOf(
    layout: Layout,
    [by, text]: readonly [by: Column, value: string],
    rows: readonly Row[],
  ): Promise<void> {
    const { deleted, table } = layout;
    const find =
      "select attname from pg_attribute where attrelid = to_regclass($1::text) and not attisdropped";
    const names = (await this.#tx.query(find, [deleted])).flat();
    if (names.includes(by.name)) {
      const where = `${quoted(by.name)} = $1::text::${castType(by)}`;
      await this.#tx.query(`delete from ${deleted} where ${where}`, [text]);
    } else if (table.keyColumns.every(({ name }) => names.includes(name))) {
      await this.remove(layout, deleted, rows);
    }
  }

  /** Forgets tombstones that rows outlive, as rows of other programs may. */
  async #forgetOutlived(layout: Layout, rows: readonly Row[]): Promise<void> {
    const { deleted, table } = layout;
    if (!table.deletes) return;
    const limit = aheadLimit(this.#tx.nowMs);
    const found = await tombstonesWith(this.#tx, layout, rows);
    const times = new Map(rows.map((row) => [keyText(table, row), rowTime(table, row)]));
    const gone = found.flatMap(({ key, deletedAt }) => {
      const time = times.get(keyText(table, key)) ?? null;
      return outlives(time, deletedAt, limit) ? [key] : [];
    });
    await this.remove(layout, deleted, gone);
  }

  async #count(
    layout: Layout,
    text: string,
    parameters: readonly (string | null)[],
  ): Promise<number> {
    const counted = `with done as (${text} returning 1) select count(*) from done`;
    return await this.#write(layout, counted, parameters);
  }

  /** Resolves to the count that the statement selects. */
  async #write(
    { slot }: Layout,
    counted: string,
    parameters: readonly (string | null)[],
  ): Promise<number> {
    const [, count] = await Promise.all([
      this.#tx.query(WRITES_OWN, [String(slot)]),
      this.#tx.first(counted, parameters),
    ]);
    return Number(count);
  }
}

/** Whole rows with one of the values; none in a table without the column. */
export async function readRowsBy(
  tx: ServerTransaction,
  layout: Layout,
  [columnName, values]: readonly [column: string, values: readonly string[]],
): Promise<readonly Row[]> {
  const { name, table } = layout;
  const column = columnOf(table, columnName);
  const texts = column === null ? [] : values.flatMap((value) => held(column, value) ?? []);
  if (column === null || texts.length === 0) return [];
  const text = `select ${layout.shown(table.columns)} from ${name} as t where t.${quoted(columnName)} = any($1::text[]::${castType(column)}[])`;
  const lines = await tx.query(text, [textList(texts)]);
  return lines.map((line) => rowAt(table.columns, line));
}

/** Rows by keys that `holdsKey`. */
export async function findRows(
  tx: ServerTransaction,
  layout: Layout,
  keys: readonly Row[],
  columns: readonly Column[],
): Promise<readonly Row[]> {
  const text = layout.byKeys(layout.shown(columns));
  const rows: Row[] = [];
  for (const some of inParts(keys)) {
    const lines = await tx.query(text, layout.keyLists(some));
    for (const line of lines) rows.push(rowAt(columns, line));
  }
  return rows;
}
