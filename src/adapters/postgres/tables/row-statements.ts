// Statements that write rows and tombstones, many at once.
import { fieldOf } from "../../../domain/shared/json.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { aheadLimit, outlives, rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Column, Row } from "../../../domain/sync/table/table.ts";
import { WRITES_OWN } from "../driver/schema.ts";
import { inParts, nameText, quoted, textList } from "../driver/sql.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { castType, held } from "./columns.ts";
import type { Layout } from "./layout.ts";
import { tombstonesWith } from "./tombstone-places.ts";

/** True when something beside repsync may refuse a row of a table. `$2` are the columns of its key. */
const HAS_RULES = `
select exists (select from pg_constraint where conrelid = t.oid and contype <> 'n')
  or exists (select from pg_trigger where tgrelid = t.oid and not tgisinternal and tgname not like 'repsync\\_%')
  or exists (select from pg_index as i join pg_class as c on c.oid = i.indexrelid where i.indrelid = t.oid and c.relname not like 'repsync\\_%')
  or exists (select from pg_attribute where attrelid = t.oid and attnum > 0 and not attisdropped and (attnotnull and attname <> all($2::text[]) or attgenerated <> ''))
from pg_class as t where t.oid = to_regclass($1::text)`;

export class RowStatements {
  readonly #tx: ServerTransaction;

  constructor(tx: ServerTransaction) {
    this.#tx = tx;
  }

  /** Resolves to the number of inserted rows. */
  async insert(layout: Layout, rows: readonly Row[], columns: readonly Column[]): Promise<number> {
    const { name, table } = layout;
    const lists = layout.casts(columns).join(", ");
    const keys = nameText(table.keyColumns);
    // The key was free in the snapshot. When it has been taken since, the server fails with a conflict.
    const text = `insert into ${name} (${nameText(columns)}) select * from unnest(${lists}) on conflict (${keys}) do nothing`;
    return await this.#count(layout, text, layout.lists(columns, rows));
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

  async #count(
    { slot }: Layout,
    text: string,
    parameters: readonly (string | null)[],
  ): Promise<number> {
    const counted = `with done as (${text} returning 1) select count(*) from done`;
    const [, count] = await Promise.all([
      this.#tx.query(WRITES_OWN, [String(slot)]),
      this.#tx.first(counted, parameters),
    ]);
    return Number(count);
  }

  /** True when additions of another program to the table may refuse a record. */
  async hasRules({ name, table }: Layout): Promise<boolean> {
    const keys = textList(table.keyColumns.map((column) => column.name));
    return (await this.#tx.first(HAS_RULES, [name, keys])) === true;
  }

  /** Sets fields of rows by the value of a column, and resolves to the number of rows. */
  async set(
    layout: Layout,
    [by, value]: readonly [by: Column, text: string],
    [columns, fields]: readonly [columns: readonly Column[], fields: Row],
  ): Promise<number> {
    const sets = columns.map((one, i) => `${quoted(one.name)} = $${i + 2}::text::${castType(one)}`);
    const text = `update ${layout.name} set ${sets.join(", ")} where ${quoted(by.name)} = $1::text::${castType(by)}`;
    const values = columns.map((one) => held(one, fieldOf(fields, one.name)) ?? null);
    return await this.#count(layout, text, [value, ...values]);
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

  /** Forgets the tombstones of removed rows, and of keys with their value in a column, also where the table no longer has deletes. */
  async forgetOf(
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
  async forgetOutlived(layout: Layout, rows: readonly Row[]): Promise<void> {
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
}
