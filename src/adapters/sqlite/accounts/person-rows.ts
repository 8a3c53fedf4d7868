// A person's rows in the synchronized tables, whatever columns the registry gives them.
import type { JsonObject, JsonValue } from "../../../domain/shared/json.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { valueEncoder } from "../tables/column-values.ts";
import { changeRowsBy, readRowsBy, removeRowsBy } from "../tables/rows-by-value.ts";

/** The rows of one table that belong to one username. */
export class PersonRows {
  readonly #database: SqliteDatabase;
  readonly #table: Table;

  constructor(database: SqliteDatabase, table: Table) {
    this.#database = database;
    this.#table = table;
  }

  get tableName(): string {
    return this.#table.name;
  }

  /** Every row of the person; none in a table that a registry gave no `username`. */
  read(username: string): JsonObject[] {
    return readRowsBy(this.#database, this.#table, ["username", [username]]);
  }

  /** Adds a row with the given fields, as far as the table has such columns. */
  insert(fields: Readonly<Record<string, JsonValue>>): void {
    const given = this.#table.columns.filter(({ name }) => Object.hasOwn(fields, name));
    const names = given.map(({ name }) => `"${name}"`).join(", ");
    const marks = given.map(() => "?").join(", ");
    const values = given.map((column) => valueEncoder(column)(fields[column.name] ?? null));
    this.#database.run(`INSERT INTO "${this.#table.name}" (${names}) VALUES (${marks})`, values);
  }

  /** Changes the given fields of every row of the person, as far as the table has such columns. */
  update(username: string, fields: Readonly<Record<string, JsonValue>>): void {
    changeRowsBy(this.#database, this.#table, ["username", username], fields);
  }

  /** Removes every row of the person, without a tombstone. D-7.6. */
  remove(username: string): void {
    removeRowsBy(this.#database, this.#table, ["username", username]);
  }
}
