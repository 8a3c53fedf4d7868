import { AppError } from "../../../domain/shared/errors.ts";
import { columnOf, type Row, type Table } from "../../../domain/sync/table/table.ts";
import type {
  RowWrite,
  TableWrites,
  WriteRule,
  Written,
} from "../../../ports/tables/table-writes.ts";
import type { SqliteValue } from "../driver/connection.ts";
import type { SqliteBody } from "../driver/run-body.ts";
import { boundValues, valueEncoder } from "./column-values.ts";
import { RowBinder } from "./row-binder.ts";
import { isValue, readRowsBy } from "./statements.ts";
import { TableWrite } from "./table-write.ts";
import { TombstoneNames } from "./tombstone-sql.ts";
import { forgetReplaced } from "./tombstones.ts";

/** Triggers raise versions, and one body writes at a time. */
export class BodyTables implements TableWrites {
  readonly #body: SqliteBody;
  readonly #binders: WeakMap<Table, RowBinder>;

  /** `binders` may hold those of earlier bodies. */
  constructor(body: SqliteBody, binders: WeakMap<Table, RowBinder>) {
    this.#body = body;
    this.#binders = binders;
  }

  async write(table: Table, writes: readonly RowWrite[], rule: WriteRule = {}): Promise<Written> {
    const { conflict = table.conflict, deleted = [], stamps } = rule;
    const makeBinder = () => new RowBinder(table, this.#body.foreignTables);
    const binder = this.#binders.getOrInsertComputed(table, makeBinder);
    this.#body.beginRows();
    const write = new TableWrite(this.#body, table, { conflict, stamps }, binder);
    await this.#body.inSteps(write.all(deleted, writes));
    const { written } = write;
    if (written.changed + written.deleted > 0) this.#body.noteChanged(table.name);
    return written;
  }

  /** Changes those of the fields that the table has. */
  async change(table: Table, columnName: string, value: string, fields: Row | null): Promise<void> {
    this.#body.beginRows();
    this.#body.noteChanged(table.name);
    const column = columnOf(table, columnName);
    if (column === null) return;
    const bound = valueEncoder(column)(value);
    if (fields === null) {
      const rows = readRowsBy(this.#body, table, [columnName, [value]]);
      return this.#remove(table, [columnName, bound], rows);
    }
    const given = table.columns.filter(({ name }) => Object.hasOwn(fields, name));
    if (given.length === 0) return;
    const set = given.map(({ name }, i) => `"${name}" = ?${i + 2}`).join(", ");
    const sql = `UPDATE "${table.name}" SET ${set} WHERE ${isValue(columnName)}`;
    try {
      this.#body.run(sql, [bound, ...boundValues(given, fields)]);
    } catch (error) {
      const message = this.#body.recordReason(error);
      throw message === null ? error : new AppError("invalid_request", message);
    }
  }

  async excludePushes(): Promise<void> {}

  /**
   * Removes the rows with a value in a column without tombstones; what a rule of the table deletes because of them leaves its own. Where
   * the column is part of the key, earlier tombstones with the value go too. The list may be there while deletes are off. D-7.6, D-8.2.
   */
  #remove(
    table: Table,
    [columnName, value]: readonly [string, SqliteValue],
    rows: readonly Row[],
  ): void {
    const body = this.#body;
    const sql = `DELETE FROM "${table.name}" WHERE ${isValue(columnName)}`;
    const names = new TombstoneNames(table);
    const { list } = names;
    const columns = body.all("SELECT name FROM pragma_table_info(?)", [list.slice(1, -1)]);
    if (columns.length === 0) {
      body.run(sql, [value]);
      return;
    }
    forgetReplaced(body, names);
    const [end] = body.all(`SELECT coalesce(max(repsync_place), 0) AS place FROM ${list}`);
    body.run(sql, [value]);
    const forget = `DELETE FROM ${list} WHERE repsync_place > ? AND ${names.isKey(list)}`;
    for (const row of rows) {
      body.run(forget, [Number(end?.["place"]), ...boundValues(table.keyColumns, row)]);
    }
    if (!columns.some(({ name }) => name === columnName)) return;
    body.run(`DELETE FROM ${list} WHERE "${columnName}" = ?`, [value]);
  }
}
