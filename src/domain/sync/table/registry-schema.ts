// The structure of the registry file, and the tables of every registry. D-2.1, D-2.3.
import { type Static, Type } from "@sinclair/typebox";
import { LEAST_DELETE_LIMIT, MAX_COLUMNS, MAX_LAG_SECONDS } from "../../shared/limits.ts";
import { ENCODINGS } from "../../shared/text.ts";
import { COLUMN_TYPES } from "./column-types.ts";

export const NAME_PATTERN = "^[A-Za-z_][A-Za-z0-9_]{0,62}$";
const Name = Type.String({ pattern: NAME_PATTERN });

const ColumnTypeName = Type.Union(
  COLUMN_TYPES.map((name) => Type.Literal(name)),
  { description: "How values are converted on push and shown in pages." },
);

export const COLUMN_SCHEMA = Type.Object(
  {
    type: ColumnTypeName,
    nullable: Type.Optional(
      Type.Boolean({ default: true, description: "False: a record whose value is null fails." }),
    ),
    max_length: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "Greatest length of a text, in Unicode code points.",
      }),
    ),
    serialize: Type.Optional(
      Type.Boolean({ default: true, description: "False keeps the column out of pull pages." }),
    ),
    auto_increment: Type.Optional(
      Type.Boolean({ default: false, description: "Only for the integer column id." }),
    ),
  },
  { additionalProperties: false },
);

export type Encoding = (typeof ENCODINGS)[number];

/** The form of a table's files. D-14.1. */
const IMPORT_SCHEMA = Type.Object(
  {
    delimiter: Type.Optional(
      Type.String({ pattern: '^[^"\\r\\n]$', description: "Between two fields of CSV." }),
    ),
    decimal: Type.Optional(
      Type.Union([Type.Literal(","), Type.Literal(".")], {
        description: "Decimal sign of numbers in CSV, which may have groups of three then.",
      }),
    ),
    date_format: Type.Optional(
      Type.String({
        description: "Dates and times in CSV, such as DD.MM.YYYY HH:mm, beside ISO 8601.",
      }),
    ),
    encoding: Type.Optional(Type.Union(ENCODINGS.map((name) => Type.Literal(name)))),
    path: Type.Optional(
      Type.String({
        minLength: 1,
        description: "The array within a JSON file, such as data.items.",
      }),
    ),
    number_rows: Type.Optional(
      Type.Boolean({
        default: false,
        description: "True: records are numbered in the column row.",
      }),
    ),
    columns: Type.Optional(
      Type.Record(Name, Type.String(), {
        additionalProperties: false,
        description: "What a file calls a column, by the column's name.",
      }),
    ),
    epoch: Type.Optional(
      Type.Record(Name, Type.Union([Type.Literal("seconds"), Type.Literal("milliseconds")]), {
        additionalProperties: false,
        description: "Columns whose times are numbers since 1970.",
      }),
    ),
  },
  { additionalProperties: false, description: "What the table's files are like." },
);

export const TABLE_SCHEMA = Type.Object(
  {
    timestamp_column: Type.Optional(
      Type.Union([Name, Type.Null()], {
        description: "Column of type datetime or date, for since and for the order of pages.",
      }),
    ),
    upsert_key: Type.Array(Name, {
      minItems: 1,
      uniqueItems: true,
      description: "The columns that identify a row on push.",
    }),
    update_columns: Type.Optional(
      Type.Union([Type.Literal("__all__"), Type.Array(Type.String(), { uniqueItems: true })], {
        default: "__all__",
        description:
          "Columns updated on a key conflict. Empty: insert only. __all__: every column except the key and id.",
      }),
    ),
    conflict: Type.Optional(
      Type.Union([Type.Literal("overwrite"), Type.Literal("newer")], {
        default: "overwrite",
        description: "newer: a record older than the stored row leaves the row as it is.",
      }),
    ),
    lag_seconds: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: MAX_LAG_SECONDS,
        description: "Late-commit allowance; default SYNC_LAG_SECONDS. PostgreSQL needs none.",
      }),
    ),
    deletes: Type.Optional(
      Type.Boolean({
        default: false,
        description: "True: rows deleted at one end are deleted at the other by the next run.",
      }),
    ),
    stamped: Type.Optional(
      Type.Boolean({
        default: false,
        description: "True: a record that comes without a time gets one, and so counts as newer.",
      }),
    ),
    max_deletes: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: `Rows that one run may delete at an end; default ${LEAST_DELETE_LIMIT} or a tenth of the table, whichever is more.`,
      }),
    ),
    direction: Type.Optional(
      Type.Union([Type.Literal("push"), Type.Literal("pull")], {
        description:
          "Which end owns the rows: push, this one; pull, the remote. Default: both write.",
      }),
    ),
    remote_only: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        uniqueItems: true,
        description:
          "Columns that only the remote has, or that are hidden here, and that a push may leave out.",
      }),
    ),
    import: Type.Optional(IMPORT_SCHEMA),
    columns: Type.Record(Name, COLUMN_SCHEMA, {
      additionalProperties: false,
      minProperties: 1,
      maxProperties: MAX_COLUMNS,
    }),
  },
  { additionalProperties: false },
);

/** The JSON Schema of the registry file, published as docs/tables.schema.json. D-2.1. */
export const REGISTRY_SCHEMA = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    tables: Type.Record(Name, TABLE_SCHEMA, {
      additionalProperties: false,
      description: "Tables by name.",
    }),
  },
  {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "repsync table registry",
    additionalProperties: false,
  },
);

export type TableEntry = Static<typeof TABLE_SCHEMA>;

export type ImportEntry = Static<typeof IMPORT_SCHEMA>;

export type ColumnEntry = Static<typeof COLUMN_SCHEMA>;

/** The tables that every registry holds, unless a file replaces them. D-2.3, D-6.2. */
export const BUILT_IN_TABLES: Readonly<Record<string, TableEntry>> = {
  profiles: {
    timestamp_column: "updated_at",
    upsert_key: ["username"],
    update_columns: "__all__",
    columns: {
      id: { type: "integer", auto_increment: true },
      username: { type: "text", nullable: false, max_length: 200 },
      display_name: { type: "text" },
      bio: { type: "text" },
      profession: { type: "text" },
      location: { type: "text" },
      verified: { type: "boolean" },
      public: { type: "boolean" },
      created_at: { type: "datetime" },
      updated_at: { type: "datetime" },
    },
  },
  platform_accounts: {
    timestamp_column: "updated_at",
    upsert_key: ["username", "platform"],
    update_columns: "__all__",
    columns: {
      id: { type: "integer", auto_increment: true },
      username: { type: "text", nullable: false, max_length: 200 },
      platform: { type: "text", nullable: false },
      handle: { type: "text" },
      verified: { type: "boolean" },
      account_created_at: { type: "datetime" },
      activity_count: { type: "integer" },
      rating: { type: "numeric" },
      rating_count: { type: "integer" },
      disputes: { type: "integer" },
      last_active_at: { type: "datetime" },
      last_synced_at: { type: "datetime" },
      updated_at: { type: "datetime" },
    },
  },
};
