// Tables as an application makes them.
import { declaredType } from "../../../src/adapters/sqlite/tables/column-values.ts";
import type { Table } from "../../../src/domain/sync/table/table.ts";

/** A table that fits the registry's, unless there is one: with types in an application's words, and no order column. */
export function createTableSql(table: Table): string {
  const columns = table.columns.map((column) => {
    const isNumbered = column.autoIncrement && !column.isKey;
    const type = { TEXT: "VARCHAR(40)", INTEGER: "INTEGER", REAL: "DOUBLE" }[declaredType(column)];
    return `"${column.name}" ${type}${isNumbered ? " PRIMARY KEY" : ""}`;
  });
  const key = table.keyColumns.map(({ name }) => `"${name}"`).toReversed();
  return `CREATE TABLE IF NOT EXISTS "${table.name}" (${columns.join(", ")}, UNIQUE (${key.join(", ")}))`;
}
