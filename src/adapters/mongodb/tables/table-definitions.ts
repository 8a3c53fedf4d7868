// What the registry said about each table when it was last prepared, to notice what a changed registry would break.
import type { Collection, Db } from "mongodb";
import type { ColumnType, Table } from "../../../domain/sync/table/table.ts";
import { DURABLE } from "../driver/durable.ts";
import { hasNumbers } from "./table-layout.ts";

/** A table as it was last prepared. Columns that left the registry stay, as documents keep their values. */
export interface TableDefinition {
  /** Table name. */
  readonly _id: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly upsert_key: readonly string[];
  readonly timestamp_column: string | null;
  /** As `hasNumbers()`; absent from older ones. */
  readonly has_numbers?: boolean;
}

/** Definitions of all tables. */
export class TableDefinitions {
  static readonly collectionName = "repsync_tables";

  readonly #collection: Collection<TableDefinition>;

  constructor(db: Db) {
    this.#collection = db.collection(TableDefinitions.collectionName);
  }

  /** The stored definition of a table; null when it was never prepared. */
  async find(tableName: string): Promise<TableDefinition | null> {
    return await this.#collection.findOne(
      { _id: tableName },
      { readConcern: { level: "majority" } },
    );
  }

  /** Keeps a table's definition, durably. `earlier` is the one that its rows were written by; null without rows. */
  async save(table: Table, earlier: TableDefinition | null): Promise<void> {
    const columns = table.columns.map(({ name, type }) => [name, type] as const);
    const definition = {
      columns: { ...earlier?.columns, ...Object.fromEntries(columns) },
      upsert_key: table.keyColumns.map(({ name }) => name),
      timestamp_column: table.timestampColumn,
      has_numbers: hasNumbers(table),
    };
    const options = { upsert: true, writeConcern: DURABLE } as const;
    await this.#collection.updateOne({ _id: table.name }, { $set: definition }, options);
  }
}
