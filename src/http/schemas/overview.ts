// The overview, and the tables of the registry. D-9.5.
import { Type } from "@sinclair/typebox";
import type { JsonObject } from "../../domain/shared/json.ts";
import { COLUMN_TYPES } from "../../domain/sync/table/column-types.ts";
import { Count, checked, counted, model, nullable, oneOf, only, Text, Time } from "./parts.ts";
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
    description: "Why the registry file cannot be taken up; null when it is what is served",
  }),
  history: only({
    minutes: Type.Array(Traffic, { description: "Of a day; minutes without any are left out" }),
    hours: Type.Array(Traffic, { description: "Of 31 days; hours without any are left out" }),
  }),
});

/** An object, whose contents the rules of the registry check. */
const TableEntry = checked<JsonObject>(
  { type: "object", description: "The table as the registry file has it: docs/tables.schema.json" },
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "Must be an object",
);

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
