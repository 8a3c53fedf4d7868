// A table as a deployment has it registered, told to its peers. D-7.3.
import { AppError } from "../../shared/errors.ts";
import { hashHex } from "../../shared/text.ts";
import type { ColumnType } from "./column-types.ts";
import type { ConflictRule, Table } from "./table.ts";

/** What this service adds to the document, as `X-Sync-Extensions` lists it. D-7.2. */
export const SYNC_EXTENSIONS = ["conflict-newer", "schema", "digest", "deletes"] as const;

/** Header of a status: the id of the deployment that answers. D-10.4. */
export const DEPLOYMENT_HEADER = "Repsync-Deployment";

export type SyncExtension = (typeof SYNC_EXTENSIONS)[number];

export interface SchemaColumn {
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** The limit of a text in code points; null for none, absent where the deployment does not tell. D-14.8. */
  readonly maxLength?: number | null;
  /** True where the store numbers the rows; absent elsewhere. D-14.8. */
  readonly autoIncrement?: true;
}

/** The reply of `/schema/{table}`, in its field order. */
export interface TableSchema {
  readonly table: string;
  readonly timestampColumn: string | null;
  readonly upsertKey: readonly string[];
  /** `update_columns` as registered, without columns that are not serialized. */
  readonly updateColumns: "__all__" | readonly string[];
  /** Columns by name, in registry order, without those that are not serialized. */
  readonly columns: Readonly<Record<string, SchemaColumn>>;
  readonly deletes: boolean;
  /** False of a deployment that does not tell. D-14.2. */
  readonly stamped: boolean;
  readonly lagSeconds: number;
  /** Null of a deployment that does not tell. D-11.10. */
  readonly conflict: ConflictRule | null;
  readonly direction: Table["direction"];
  /** Id of the remote that the deployment has met; null for none. D-11.9. */
  readonly remoteId: string | null;
  readonly late: LateRowsTold;
}

/** Late and kept rows after a mark. D-7.4. */
export interface LateRowsTold {
  /** Stands for all that was noted so far; opaque. */
  readonly mark: string;
  /** Canonical time; null for nothing or without a mark; empty, the start, for a mark never given. */
  readonly from: string | null;
  /** The earliest time of fresh rows since; only of an own store that tells of every commit. */
  readonly freshFrom?: string | null;
}

type OwnColumns = Readonly<Record<string, SchemaColumn & { readonly maxLength: number | null }>>;

/** A table as registered here, without columns that are not serialized. */
export function describeTable(
  table: Table,
): Omit<TableSchema, "late" | "remoteId"> & { readonly columns: OwnColumns } {
  const shown = new Set(table.pageColumns.map(({ name }) => name));
  const { registeredUpdates: updates } = table;
  return {
    table: table.name,
    timestampColumn: table.timestampColumn,
    upsertKey: table.keyColumns.map(({ name }) => name),
    updateColumns: updates === "__all__" ? updates : updates.filter((name) => shown.has(name)),
    columns: Object.fromEntries(
      table.pageColumns.map(({ name, type, nullable, maxLength, autoIncrement }) => [
        name,
        { type, nullable, maxLength, ...(autoIncrement ? { autoIncrement } : {}) },
      ]),
    ),
    deletes: table.deletes,
    stamped: table.stamped,
    lagSeconds: table.lagSeconds,
    conflict: table.conflict,
    direction: table.direction,
  };
}

export function columnsHash(columns: Readonly<Record<string, unknown>>): string {
  return hashHex(Object.keys(columns).sort().join());
}

/**
 * Throws `overloaded` where a run works with other columns than this instance: another instance, with another registry, described
 * the table to it, and values of unknown columns would be lost. `hash` is null where nothing is known. D-7.3, D-14.6.
 */
export function requireColumns(table: Table, hash: string | null): void {
  if (hash === null || hash === columnsHash(describeTable(table).columns)) return;
  const text = `This instance has other columns of "${table.name}" than the run was told`;
  throw new AppError("overloaded", text);
}
