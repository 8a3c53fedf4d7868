// Tables for tests, made the way the service makes them.
import { readRegistry } from "../../../src/domain/sync/table/registry.ts";
import type { ColumnEntry, TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { Column, Registry, Table } from "../../../src/domain/sync/table/table.ts";

/** The table of the registry example in D-2.1. */
export const LISTINGS: TableEntry = {
  timestamp_column: "updated_at",
  upsert_key: ["shop", "sku"],
  update_columns: "__all__",
  columns: {
    id: { type: "integer", auto_increment: true },
    shop: { type: "text", nullable: false },
    sku: { type: "text", nullable: false },
    price: { type: "numeric" },
    views: { type: "bigint" },
    active: { type: "boolean" },
    listed_on: { type: "date" },
    updated_at: { type: "datetime" },
    extra: { type: "json" },
    secret: { type: "text", serialize: false },
  },
};

/** The registry with the given tables beside the built-in ones. Throws when an entry is refused. */
export function makeRegistry(tables: Readonly<Record<string, TableEntry>>): Registry {
  return readRegistry({ tables });
}

/** One table from its registry entry. Throws when the entry is refused. */
export function makeTable(entry: TableEntry, name = "items"): Table {
  return makeRegistry({ [name]: entry }).get(name) as Table;
}

/** The column `c` of a table keyed by the text column `k`. */
export function makeColumn(entry: ColumnEntry): Column {
  const table = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" }, c: entry } });
  return table.columns[1] as Column;
}

/** The column `c` of a table keyed by it. */
export function makeKeyColumn(entry: ColumnEntry): Column {
  return makeTable({ upsert_key: ["c"], columns: { c: entry } }).columns[0] as Column;
}
