// Statements that write the rows and tombstones of a table, some of each at once.
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { aheadLimit, rowTime } from "../../../domain/sync/rows/row-time.ts";
import { outlives, type Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Column, Row } from "../../../domain/sync/table/table.ts";
import { meeting } from "../driver/errors.ts";
import { inParts, nameText, quoted, textList } from "../driver/sql.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { castType, held } from "./columns.ts";
import type { Layout } from "./layout.ts";
import { tombstonesWith } from "./tombstone-places.ts";

interface PutOptions {
  readonly columns: readonly Column[];
  /** How many of the rows are not there; absent: all. */
  readonly newRows?: number;
  /** True sets every column in a row that is there; absent: the table's `updateColumns`. */
  readonly isWhole?: boolean;
}

/** Whether a table has anything that may refuse a row, beside what repsync makes: the columns of its key are `$2`. */
const HAS_RULES = `
select exists (select from pg_constraint where conrelid = t.oid and contype <> 'n')
  or exists (select from pg_trigger where tgrelid = t.oid and not tgisinternal and tgname not like 'repsync\\_%')
  or exists (select from pg_index as i join pg_class as c on c.oid = i.indexrelid where i.indrelid = t.oid and c.relname not like 'repsync\\_%')
  or exists (select from pg_rewrite where ev_class = t.oid)
  or exists (select from pg_attribute where attrelid = t.oid and attnum > 0 and not attisdropped and (attnotnull and attname <> all($2::text[])
    or atttypmod <> -1 or atttypid <> all('{text,int8,numeric,float8,bool,date,timestamptz,json}'::regtype[])))
from pg_class as t where t.oid = to_regclass($1::text)`;

export class RowStatements {
  readonly #tx: ServerTransaction;
  readonly #now: () => number;

  constructor(tx: ServerTransaction, now: () => number) {
    this.#tx = tx;
    this.#now = now;
  }

  /**
   * Inserts rows, or changes those that are there. Throws as for a meeting where more of them are new than is known: somebody
   * has removed a row that was found.
   */
  async put(
    layout: Layout,
    rows: readonly Row[],
    { columns, newRows = rows.length, isWhole = false }: PutOptions,
  ): Promise<void> {
    const { name, table } = layout;
    const keys = nameText(table.keyColumns);
    const names = nameText(columns);
    const lists = layout.casts(columns);
    const changes = (isWhole ? columns : table.updateColumns).map(
      (column) => `${quoted(column.name)} = excluded.${quoted(column.name)}`,
    );
    const known = changes.length === 0 ? "nothing" : `update set ${changes.join(", ")}`;
    const put = `insert into ${name} (${names}) select * from unnest(${lists.join(", ")}) on conflict (${keys}) do ${known} returning xmax = 0 as is_new`;
    const text = `with put as (${put}) select count(*) filter (where is_new) from put`;
    const [[inserted] = []] = await this.#tx.query(text, layout.lists(columns, rows));
    if (Number(inserted) > newRows) throw meeting("A row that was found has been removed since");
  }

  /** Whether a record may be refused by what another program has added to the table. */
  async hasRules({ name, table }: Layout): Promise<boolean> {
    const keys = textList(table.keyColumns.map((column) => column.name));
    const [[has] = []] = await this.#tx.query(HAS_RULES, [name, keys]);
    return has === true;
  }

  async remove(layout: Layout, name: string, keys: readonly Row[]): Promise<void> {
    for (const some of inParts(keys)) {
      const found = layout.byKeys("t.repsync_ctid", name);
      const text = `delete from ${name} where ctid = any(array(${found}))`;
      await this.#tx.query(text, layout.keyLists(some));
    }
  }

  /** At the end of the list, in the place of what their keys had. */
  async list(layout: Layout, listed: readonly Tombstone[]): Promise<void> {
    const columns = layout.table.keyColumns;
    const names = nameText(columns);
    const lists = layout.casts(columns);
    const at = columns.length;
    const keys = columns.map((_, i) => `l.k${i}`).join(", ");
    for (const some of inParts(listed)) {
      const text = `insert into ${layout.deleted} (${names}, deleted_at, taken_ms)
        select ${keys}, l.deleted_at, $${at + 2}::int8 from unnest(${lists.join(", ")}, $${at + 1}::text[]::timestamptz[]) with ordinality as l(${columns.map((_, i) => `k${i}`).join(", ")}, deleted_at, place) order by l.place
        on conflict (${names}) do update set deleted_at = excluded.deleted_at, taken_ms = excluded.taken_ms, place = null, made = default`;
      await this.#tx.query(text, [
        ...layout.keyLists(some.map(({ key }) => key)),
        textList(some.map(({ deletedAt }) => deletedAt)),
        String(this.#now()),
      ]);
    }
  }

  /** Tombstones of keys with a value. */
  async forgetOf({ deleted, table }: Layout, column: string, value: string): Promise<void> {
    const key = table.keyColumns.find(({ name }) => name === column);
    const [text] = key === undefined ? [] : heldTexts(key, [value]);
    if (key === undefined || text === undefined || !table.deletes) return;
    const where = `${quoted(column)} = $1::text::${castType(key)}`;
    await this.#tx.query(`delete from ${deleted} where ${where}`, [text]);
  }

  /** Tombstones that rows outlive go, as when another program puts them. */
  async forgetOutlived(layout: Layout, rows: readonly Row[]): Promise<void> {
    const { deleted, table } = layout;
    if (!table.deletes) return;
    const limit = aheadLimit(this.#now());
    const found = await tombstonesWith(this.#tx, layout, layout.keyLists(rows));
    const times = new Map(rows.map((row) => [keyText(table, row), rowTime(table, row)]));
    const gone = found.flatMap(({ key, deletedAt }) => {
      const time = times.get(keyText(table, key)) ?? null;
      return outlives(time, deletedAt, limit) ? [key] : [];
    });
    await this.remove(layout, deleted, gone);
  }
}

/** Those of the values that a column holds. */
export function heldTexts(column: Column, values: readonly string[]): readonly string[] {
  return values.flatMap((value) => held(column, value)?.text ?? []);
}
