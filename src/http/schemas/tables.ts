// Bodies of the overview, of tables and guesses of them, and of rows by hand. D-9.5, D-14.3, D-14.4.
import { Type } from "@sinclair/typebox";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/shared/json.ts";
import { COLUMN_TYPES } from "../../domain/sync/table/column-types.ts";
import {
  Count,
  checked,
  counted,
  model,
  nullable,
  object,
  oneOf,
  only,
  Text,
  Time,
} from "./parts.ts";
import { OneWay, RunDirection, RunStatus, Trigger } from "./runs.ts";
import { HEALTH } from "./sync.ts";

const Seconds = nullable(Type.Number(), { description: "Seconds from the marker to now" });

const Traffic = model("Traffic", {
  at: Time,
  rows: counted("Rows written or removed by synchronization"),
  lookups: counted("Lookups that were decided"),
});

const LastRun = only({
  run_id: Text,
  status: RunStatus,
  direction: RunDirection,
  trigger: Trigger,
  started_at: Time,
  finished_at: nullable(Time, { description: "Null while it runs" }),
  error: Type.Optional(Text),
});

const OverviewTable = model("OverviewTable", {
  table: Text,
  rows_here: nullable(Count, { description: "Null when they cannot be counted" }),
  rows_there: nullable(Count, { description: "By the remote's status; null when not known" }),
  drift: nullable(Type.Integer(), {
    description: "Rows here more than there; as the last run left it where one is not known",
  }),
  behind_seconds: nullable(Count, {
    description:
      "Seconds since both ends were equal for the last time, by what runs and comparisons found; 0 while they are, as far as can be told here; null for a table that was never run or compared",
  }),
  marker_lag_seconds: only({ push: Seconds, pull: Seconds }),
  last_run: nullable(LastRun, { description: "The last run over the table; null without one" }),
});

export const OverviewSchema = model("Overview", {
  health: only(HEALTH),
  sync_enabled: Type.Boolean(),
  remote: only({
    url: nullable(Text, { description: "Without credentials; null when none is configured" }),
    reachable: Type.Boolean(),
    error: nullable(Text, { description: "Why it could not be reached" }),
  }),
  schedule: only({
    cron: nullable(Text, { description: "SYNC_SCHEDULE" }),
    next_at: nullable(Time, { description: "Null when nothing is scheduled" }),
  }),
  tables: Type.Array(OverviewTable),
  registry_problem: nullable(Text, {
    description:
      "Why the registry file cannot be taken up, or a table is not used; null while neither",
  }),
  history: only({
    minutes: Type.Array(Traffic, { description: "Of a day; minutes without any are left out" }),
    hours: Type.Array(Traffic, { description: "Of 31 days; hours without any are left out" }),
  }),
});

/** The rules of the registry check its contents. */
const TableEntry = fields("The table as the registry file has it: docs/tables.schema.json");

export const TableRequestSchema = model("TableRequest", { entry: TableEntry });

export const AddedTableSchema = model("AddedTable", { table: Text, entry: TableEntry });

export const TableNotAddedSchema = model("TableNotAdded", {
  error: Text,
  text: Type.Optional(
    Type.String({ description: "What adds the table to the registry file, to be pasted there" }),
  ),
});

export const TableListSchema = model("TableList", {
  tables: Type.Array(
    model("ListedTable", {
      table: Text,
      rows: nullable(Count, { description: "Null when they cannot be counted" }),
      timestamp_column: nullable(Text, { description: "Null without one" }),
      upsert_key: Type.Array(Text, { minItems: 1 }),
      columns: Type.Record(
        Type.String(),
        only({ type: oneOf(COLUMN_TYPES), nullable: Type.Boolean() }),
        { description: "By name, without those that no page shows" },
      ),
      deletes: Type.Boolean({ description: "True when deletes travel" }),
      direction: OneWay,
      entry: TableEntry,
    }),
  ),
});

export const GuessSchema = model("TableGuess", {
  table: Text,
  entry: nullable(object(), {
    description:
      "For the registry, by docs/tables.schema.json; null where nothing identifies a row",
  }),
  columns: Type.Array(
    model("GuessedColumn", {
      name: Text,
      type: oneOf(COLUMN_TYPES),
      reason: Text,
      problems: Type.Array(Text, { description: "Values that an import would refuse" }),
    }),
    { description: "In the order of the file" },
  ),
  key: nullable(only({ columns: Type.Array(Text), reason: Text }), {
    description: "Null where nothing identifies a row",
  }),
  warnings: Type.Array(Text),
  records: Count,
});

/** Rows of a table, in parts. D-9.5. */
export const RowListSchema = model("RowList", {
  table: Text,
  items: Type.Array(object({ description: "Column values" })),
  next_cursor: nullable(Text, { description: "Null after the last part" }),
  total: nullable(Count, {
    description: "Rows that match since and key; null where they are looked for",
  }),
});

function fields(description: string) {
  const schema = { type: "object", additionalProperties: true, description };
  const fits = (value: unknown) => isJsonObject(value as JsonValue | undefined);
  return checked<JsonObject>(schema, fits, "Must be a JSON object");
}

const Force = Type.Optional(
  Type.Boolean({ description: "True: also where the rows are written at the remote" }),
);
const Row = object({ description: "Column values, as the list of rows shows them" });

export const EditRowRequestSchema = model(
  "EditRowRequest",
  {
    row: fields("By column; those that are left out stay as they are, and are null in a new row"),
    expected: nullable(fields(""), { description: "The row as it was read; null for a new one" }),
    force: Force,
  },
  {
    examples: [
      {
        row: { price: "1.75" },
        expected: { sku: "a-1", price: "1.50", updated_at: "2026-01-02T03:04:05Z" },
      },
    ],
  },
);

export const RemoveRowRequestSchema = model("RemoveRowRequest", {
  key: fields("The key columns"),
  expected: fields("The row as it was read"),
  force: Force,
});

export const EditedRowSchema = model("EditedRow", { row: Row });

export const RemovedRowSchema = model("RemovedRow", { warning: Type.Optional(Text) });

export const RowRefusedSchema = model("RowRefused", {
  error: Text,
  errors: Type.Optional(
    Type.Array(model("ColumnProblem", { column: Text, message: Text }), {
      description: "What columns refuse",
    }),
  ),
});

export const RowConflictSchema = model("RowConflict", {
  error: Text,
  row: Type.Optional(
    nullable(Row, {
      description:
        "The row as it is now, null for none; absent where it is not for another one that it is refused",
    }),
  ),
});
