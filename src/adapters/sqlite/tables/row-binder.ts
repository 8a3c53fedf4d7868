// Binds records to the statements that write them, and knows whether rules of other programs follow.
import type { Column, ConflictRule, Table } from "../../../domain/sync/table/table.ts";
import type { RowWrite } from "../../../ports/tables/table-writes.ts";
import type { SqliteValue } from "../driver/connection.ts";
import type { SqliteWork } from "../driver/run-body.ts";
import { schemaVersion } from "../driver/schema.ts";
import { valueEncoder } from "./column-values.ts";
import { type ForeignTables, rowOrder } from "./order-column.ts";

/** The columns of a record, and the SQL that writes them. Most records of a push have all columns. */
interface RowShape {
  /** Writes one row from the values of the columns. `newer` is for records with a time, and keeps a row whose `repsync_order` is no less. */
  upsert(conflict: ConflictRule): string;
  /** Places of the key among the values, in the order of `keyColumns`. */
  readonly keyPlaces: readonly number[];
  /** Reads `order` of the stored row, and `isChanged`: true when a column other than the time would change. */
  readonly stored: RowQuery;
  /** Place of the timestamp among the values; null without one. */
  readonly timePlace: number | null;
  /** True when a changed row always has the time of its record. */
  readonly writesTime: boolean;
}

interface RowQuery {
  readonly sql: string;
  /** Places of the bound values among those of the row. */
  readonly places: readonly number[];
}

export interface BoundWrite {
  readonly write: RowWrite;
  readonly shape: RowShape;
  readonly values: readonly SqliteValue[];
}

interface BoundColumn {
  readonly column: Column;
  readonly encode: ReturnType<typeof valueEncoder>;
}

/** Absent columns make many combinations. */
const MAX_SHAPES = 64;

const FOREIGN_TRIGGER = `SELECT 1 FROM sqlite_schema
  WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE AND name NOT GLOB 'repsync_*' LIMIT 1`;

export class RowBinder {
  readonly #table: Table;
  readonly #foreign: ForeignTables;
  readonly #columns: readonly BoundColumn[];
  readonly #whole: RowShape;
  /** By column names. */
  readonly #parts = new Map<string, RowShape>();
  #foreignTrigger = { version: -1, isThere: false };

  constructor(table: Table, foreign: ForeignTables) {
    this.#table = table;
    this.#foreign = foreign;
    this.#columns = table.pushColumns.map((column) => ({ column, encode: valueEncoder(column) }));
    this.#whole = this.#shape(table.pushColumns);
  }

  bind(write: RowWrite): BoundWrite {
    const { row } = write;
    const values: SqliteValue[] = [];
    for (const { column, encode } of this.#columns) {
      if (!Object.hasOwn(row, column.name)) return this.#bindPart(write);
      values.push(encode(row[column.name] ?? null));
    }
    return { write, shape: this.#whole, values };
  }

  /** True where another program has a trigger on the table. It is looked for anew once a schema has changed. */
  hasForeignTrigger(work: SqliteWork): boolean {
    const version = schemaVersion(work);
    if (version !== this.#foreignTrigger.version) {
      const isThere = work.all(FOREIGN_TRIGGER, [this.#table.name]).length > 0;
      this.#foreignTrigger = { version, isThere };
    }
    return this.#foreignTrigger.isThere;
  }

  #bindPart(write: RowWrite): BoundWrite {
    const { row } = write;
    const present = this.#columns.filter(({ column }) => Object.hasOwn(row, column.name));
    const values = present.map(({ column, encode }) => encode(row[column.name] ?? null));
    const columns = present.map(({ column }) => column);
    const id = columns.map(({ name }) => name).join(" ");
    const shape = this.#parts.get(id) ?? this.#shape(columns);
    if (this.#parts.size >= MAX_SHAPES) this.#parts.clear();
    this.#parts.set(id, shape);
    return { write, shape, values };
  }

  #shape(columns: readonly Column[]): RowShape {
    const table = this.#table;
    const placeOf = (name: string | null) => columns.findIndex((column) => column.name === name);
    const timePlace = placeOf(table.timestampColumn);
    const { keyColumns, updateColumns } = table;
    const written = updateColumns.length === 0 ? columns : [...keyColumns, ...updateColumns];
    const order = rowOrder(table, "stored", this.#foreign);
    const isNewer = `${order} < ?${timePlace + 1}`;
    const texts: Partial<Record<ConflictRule, string>> = {};
    let stored: RowQuery | null = null;
    return {
      get stored() {
        stored ??= storedQuery(table, columns, order);
        return stored;
      },
      upsert(conflict) {
        texts[conflict] ??= upsertSql(table, columns, conflict === "newer" ? isNewer : "");
        return texts[conflict];
      },
      keyPlaces: keyColumns.map(({ name }) => placeOf(name)),
      timePlace: timePlace === -1 ? null : timePlace,
      writesTime: timePlace !== -1 && written.some(({ name }) => name === table.timestampColumn),
    };
  }
}

/** `isNewer` is the guard's condition, under which the row always changes; empty without a guard. */
function upsertSql(table: Table, columns: readonly Column[], isNewer: string): string {
  const names = (list: readonly Column[]) => list.map(({ name }) => `"${name}"`);
  const updated = names(table.updateColumns.filter((column) => columns.includes(column)));
  const marks = columns.map((_, i) => `?${i + 1}`).join(", ");
  // The alias is for a table called "excluded".
  const insert = `INSERT INTO "${table.name}" AS stored (${names(columns).join(", ")}) VALUES (${marks})`;
  const conflict = `${insert} ON CONFLICT (${names(table.keyColumns).join(", ")})`;
  if (updated.length === 0) return `${conflict} DO NOTHING`;
  const excluded = updated.map((name) => `excluded.${name}`);
  const set = updated.map((name, i) => `${name} = ${excluded[i]}`).join(", ");
  return `${conflict} DO UPDATE SET ${set} WHERE ${isNewer || isChanged(updated, excluded)}`;
}

/** Compares bytes, whatever collation another tool gave a column. */
function isChanged(names: readonly string[], values: readonly string[]): string {
  const before = names.map((name) => `stored.${name} COLLATE BINARY`).join(", ");
  return `(${before}) IS NOT (${values.join(", ")})`;
}

function storedQuery(table: Table, columns: readonly Column[], order: string): RowQuery {
  const { updateColumns, keyColumns, timestampColumn } = table;
  const changed = updateColumns.filter(
    (column) => columns.includes(column) && column.name !== timestampColumn,
  );
  const names = changed.map(({ name }) => `"${name}"`);
  const marks = names.map((_, i) => `?${i + 1}`);
  const isKey = keyColumns.map(({ name }, i) => `stored."${name}" = ?${names.length + i + 1}`);
  return {
    sql: `SELECT ${order} AS "order", ${names.length === 0 ? 0 : isChanged(names, marks)} AS isChanged
      FROM "${table.name}" AS stored WHERE ${isKey.join(" AND ")}`,
    places: [...changed, ...keyColumns].map((column) => columns.indexOf(column)),
  };
}
