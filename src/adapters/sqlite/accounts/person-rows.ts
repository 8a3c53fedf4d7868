// A person's rows in the synchronized tables, whatever columns the registry gives them.
import type { JsonObject, JsonValue } from "../../../domain/shared/json.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteValue } from "../driver/driver.ts";
import { decodeRows, readExpression, valueEncoder } from "../tables/column-values.ts";
import { forgetTombstones, leaveNoTombstones } from "../tables/tombstone-writes.ts";

/** The rows of one table that belong to one username. */
export class PersonRows {
  readonly #database: SqliteDatabase;
  readonly #table: Table;
  readonly #select: string | null;

  constructor(database: SqliteDatabase, table: Table) {
    this.#database = database;
    this.#table = table;
    const columns = table.columns
      .map((column) => `${readExpression(column, database.cutsTextAtNul)} AS "${column.name}"`)
      .join(", ");
    const hasName = table.columns.some(({ name }) => name === "username");
    this.#select = hasName ? `SELECT ${columns} FROM "${table.name}" WHERE "username" = ?` : null;
  }

  get tableName(): string {
    return this.#table.name;
  }

  /** Every row of the person; none in a table that a registry gave no `username`. */
  read(username: string): JsonObject[] {
    if (this.#select === null) return [];
    return decodeRows(this.#database.all(this.#select, [username]), this.#table.columns);
  }

  /** Adds a row with the given fields, as far as the table has such columns. */
  insert(fields: Readonly<Record<string, JsonValue>>): void {
    const { names, values } = this.#bound(fields);
    const marks = names.map(() => "?").join(", ");
    this.#database.run(
      `INSERT INTO "${this.#table.name}" (${names.join(", ")}) VALUES (${marks})`,
      values,
    );
  }

  /** Changes the given fields of every row of the person, as far as the table has such columns. */
  update(username: string, fields: Readonly<Record<string, JsonValue>>): void {
    const { names, values } = this.#bound(fields);
    if (names.length === 0 || this.#select === null) return;
    const set = names.map((name) => `${name} = ?`).join(", ");
    const sql = `UPDATE "${this.#table.name}" SET ${set} WHERE "username" = ?`;
    this.#database.run(sql, [...values, username]);
  }

  /** Removes every row of the person, without a tombstone. D-7.6. */
  remove(username: string): void {
    if (this.#select === null) return;
    const remove = () =>
      this.#database.run(`DELETE FROM "${this.#table.name}" WHERE "username" = ?`, [username]);
    leaveNoTombstones(this.#database, this.#table, remove);
    forgetTombstones(this.#database, this.#table, "username", username);
  }

  #bound(fields: Readonly<Record<string, JsonValue>>) {
    const names: string[] = [];
    const values: SqliteValue[] = [];
    for (const column of this.#table.columns) {
      if (!Object.hasOwn(fields, column.name)) continue;
      names.push(`"${column.name}"`);
      values.push(valueEncoder(column)(fields[column.name] ?? null));
    }
    return { names, values };
  }
}
