// Checks the reply of `/schema/{table}`: a remote that is wrong about its table is found before a row moves. D-7.3.
import { MAX_LAG_SECONDS } from "../../domain/shared/limits.ts";
import { COLUMN_TYPES, type ColumnType } from "../../domain/sync/table/column-types.ts";
import type { ConflictRule } from "../../domain/sync/table/table.ts";
import type { SchemaColumn, TableSchema } from "../../domain/sync/table/table-schema.ts";
import type { Reply } from "./exchange.ts";
import {
  arrayOf,
  FLAG,
  mapOf,
  OBJECT,
  orNull,
  ReplyFields,
  type Shape,
  SOME_TEXT,
  TEXT,
  TIME,
  wholeNumber,
  wordOf,
} from "./reply-fields.ts";

const COLUMN_TYPE = wordOf<ColumnType>(COLUMN_TYPES);
const DIRECTION = wordOf(["push", "pull"]);
const CONFLICT = wordOf<ConflictRule>(["overwrite", "newer"]);
const TIME_OR_START: Shape<string> = {
  wanted: `${TIME.wanted} or an empty text`,
  fits: (value): value is string => value === "" || TIME.fits(value),
};
const LENGTH = orNull(wholeNumber(1));
const SECONDS: Shape<number> = {
  wanted: `a number from 0 to ${MAX_LAG_SECONDS}`,
  fits: (value): value is number =>
    typeof value === "number" && value >= 0 && value <= MAX_LAG_SECONDS,
};

/** `isLateAsked` is false for a request without a mark: then `late.from` has to be null. */
export async function readTableSchema(
  reply: Reply,
  tableName: string,
  isLateAsked: boolean,
): Promise<TableSchema> {
  const fields = await ReplyFields.of(reply);
  const columns = readColumns(reply, fields);
  const columnName = nameIn(columns);
  const columnNames = { ...arrayOf(columnName), wanted: "a list of columns of the table" };
  const late = new ReplyFields(reply.label, fields.read("late", OBJECT));
  const schema: TableSchema = {
    table: fields.read("table", TEXT),
    timestampColumn: fields.read("timestamp_column", orNull(columnName)),
    upsertKey: fields.read("upsert_key", someOf(columnNames)),
    updateColumns: fields.read("update_columns", allOr(columnNames)),
    columns,
    deletes: fields.read("deletes", FLAG),
    stamped: fields.readOptional("stamped", FLAG).stamped ?? false,
    lagSeconds: fields.read("lag_seconds", SECONDS),
    conflict: fields.readOptional("conflict", CONFLICT).conflict ?? null,
    direction: fields.readOptional("direction", DIRECTION).direction ?? null,
    remoteId: fields.readOptional("remoteId", SOME_TEXT).remoteId ?? null,
    late: { mark: late.read("mark", SOME_TEXT), from: late.read("from", orNull(TIME_OR_START)) },
  };
  fields.expect("table", tableName);
  if (!isLateAsked) late.expect("from", null);
  return schema;
}

function readColumns(reply: Reply, fields: ReplyFields): TableSchema["columns"] {
  const read = Object.entries(fields.read("columns", mapOf(OBJECT))).map(([name, values]) => {
    const column = new ReplyFields(reply.label, values);
    const type = column.read("type", COLUMN_TYPE);
    const nullable = column.read("nullable", FLAG);
    const { autoIncrement } = column.readOptional("autoIncrement", FLAG);
    const numbers = autoIncrement === true ? { autoIncrement } : {};
    return [
      name,
      { type, nullable, ...column.readOptional("maxLength", LENGTH), ...numbers },
    ] as const;
  });
  return Object.fromEntries<SchemaColumn>(read);
}

function nameIn(columns: TableSchema["columns"]): Shape<string> {
  return {
    wanted: "a column of the table",
    fits: (value): value is string => typeof value === "string" && Object.hasOwn(columns, value),
  };
}

function someOf(names: Shape<readonly string[]>): Shape<readonly string[]> {
  return {
    wanted: `${names.wanted} that is not empty`,
    fits: (value): value is readonly string[] => names.fits(value) && value.length > 0,
  };
}

function allOr(names: Shape<readonly string[]>): Shape<"__all__" | readonly string[]> {
  return {
    wanted: `"__all__" or ${names.wanted}`,
    fits: (value): value is "__all__" | readonly string[] =>
      value === "__all__" || names.fits(value),
  };
}
