// Bodies of runs. S-2.6, S-4.4, S-6, D-4.3, D-4.9 to D-4.11.
import { Type } from "@sinclair/typebox";
import {
  Count,
  checked,
  counted,
  listOf,
  model,
  nullable,
  object,
  oneOf,
  only,
  Text,
  Time,
} from "./parts.ts";

const REPAIRS = ["push", "pull", "newest"] as const;

export const Direction = oneOf(["push", "pull"]);
export const OneWay = nullable(Direction, {
  description: "The only way in which runs here move the rows; null for both",
});
export const RunDirection = oneOf(["push", "pull", "both"]);
export const RunStatus = oneOf(["running", "success", "partial", "failed"]);
export const Trigger = oneOf(["api", "stream", "cli", "schedule"]);
export const Repair = nullable(oneOf(REPAIRS));
export const KeyObject = object({ description: "The key columns" });
const TABLE = { type: "string", minLength: 1, description: "Name of a table of the registry" };
/** An empty name passes; the use case refuses it as an unknown table. */
const TableOrNone = Type.Optional(
  nullable(
    checked<string>(TABLE, (value) => typeof value === "string", "Must be a string"),
    { description: "One table; all when absent" },
  ),
);

/** A table that the request must name; `purpose` completes the message when it does not. */
function requiredTable(purpose: string) {
  const isAbsent = (value: unknown) => value === undefined || value === null || value === "";
  return checked<string>(
    TABLE,
    (value) => typeof value === "string" && value !== "",
    (value) => (isAbsent(value) ? `Is required ${purpose}; name one table` : "Must be a string"),
  );
}

const MaxDeletes = Type.Optional(
  nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), {
    description: "Rows of a table that may be deleted at an end; null for the table's own limit",
  }),
);

const flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description }));

const FLAGS = {
  full: flag("Clear the last-sync markers first"),
  dry_run: flag("Count what would move; change nothing"),
  force: flag("Overwrite newer rows, and move tables that go the other way; not with `both`"),
  max_deletes: MaxDeletes,
};

export const TriggerRequestSchema = Type.Object(
  {
    direction: Type.Optional(oneOf(["push", "pull", "both"], { default: "both" })),
    table: TableOrNone,
    ...FLAGS,
    wait: Type.Optional(
      Type.Boolean({ default: true, description: "Answer at the end; false: once it has begun" }),
    ),
  },
  { $id: "TriggerRequest", examples: [{ direction: "both" }] },
);

export const StreamRequestSchema = Type.Object(
  {
    direction: Type.Optional(oneOf(["push", "pull"], { default: "push" })),
    table: requiredTable("for a sync with a stream"),
    ...FLAGS,
  },
  { $id: "StreamRequest", examples: [{ direction: "push", table: "profiles" }] },
);

export const CompareRequestSchema = Type.Object(
  {
    table: requiredTable("for a comparison"),
    repair: Type.Optional(
      nullable(oneOf(REPAIRS), {
        description:
          "push: send the rows that differ; pull: fetch them; newest: copy missing ones both ways and keep the newer of two; null changes nothing",
      }),
    ),
    delete: flag("With push or pull: remove what only the end being repaired has"),
    force: flag('With push or pull: overwrite newer rows of a table with conflict "newer"'),
    max_deletes: MaxDeletes,
    // In a trigger it promises that nothing is written, so it is refused here, not ignored as an unknown field.
    dry_run: Type.Optional(
      checked<false>(
        { type: "boolean", enum: [false], default: false },
        (value) => value === false,
        "Is not for a comparison: without repair it changes nothing",
      ),
    ),
  },
  { $id: "CompareRequest", examples: [{ table: "profiles" }] },
);

const OUTCOME = {
  kept: counted("Rows that stayed at either end, being newer than what came, or their owner's"),
  erased: counted("Rows that either end left out, as the people whom they name were erased there"),
  changed: counted("Rows really written, here and there"),
  deleted_here: counted("Rows that a delete at the other end removed here"),
  deleted_there: counted("Rows that a delete here removed at the other end"),
};

const TableResult = model("TableResult", {
  pushed: Count,
  pulled: Count,
  error_count: Count,
  bytes_compressed: Count,
  bytes_uncompressed: Count,
  duration_ms: Count,
  ...OUTCOME,
  count_here: nullable(Count, { description: "Rows here at the end; null when not known" }),
  count_there: nullable(Count, { description: "Rows there at the end; null when not known" }),
  warnings: Type.Array(Text),
  is_failed: Type.Optional(
    Type.Literal(true, { description: "There where the table did not come to its end" }),
  ),
});

const RESULT = {
  run_id: Text,
  direction: RunDirection,
  tables: Type.Record(Text, TableResult),
  total_pushed: Count,
  total_pulled: Count,
  error_count: Count,
  ...OUTCOME,
  started_at: Time,
  duration_ms: Count,
  full_sync: Type.Boolean(),
};

export const TriggerResultSchema = model("TriggerResult", {
  ...RESULT,
  status: oneOf(["success", "partial"]),
  finished_at: Time,
  dry_run: Type.Optional(Type.Literal(true, { description: "Only of a dry run" })),
});

const KEPT = {
  status: RunStatus,
  trigger: Trigger,
  finished_at: nullable(Time, { description: "Null while it runs" }),
  error: Type.Optional(Type.String({ description: "Why it failed; only when it did" })),
};

const REPAIRED = {
  repaired: Type.Optional(counted("Rows that the repair changed")),
  kept: Type.Optional(
    counted(
      "Rows that stay as they are: the repair could not change them, or their owner has them otherwise",
    ),
  ),
  erased: Type.Optional(
    counted(
      "Rows there that are left out, as the people whom they name were erased here; only where there are any",
    ),
  ),
};

export const SyncRunSchema = model("SyncRun", {
  ...RESULT,
  kind: Type.Literal("sync"),
  ...KEPT,
  dry_run: Type.Optional(Type.Literal(true, { description: "Only of a dry run" })),
});

export const RunSchema = Type.Union(
  [
    SyncRunSchema,
    model("CompareRun", {
      run_id: Text,
      kind: Type.Literal("compare"),
      table: Text,
      repair: Repair,
      matched: Count,
      different: Count,
      missing_here: Count,
      missing_there: Count,
      ...REPAIRED,
      started_at: Time,
      duration_ms: Count,
      ...KEPT,
    }),
  ],
  { $id: "Run" },
);

/** An import; its outcome is told by its events only. D-14.4. */
export const ImportRunSchema = model("ImportRun", {
  run_id: Text,
  kind: Type.Literal("import"),
  table: Text,
  started_at: Time,
  duration_ms: Count,
  ...KEPT,
});

export const RunListSchema = listOf(RunSchema);

const REJECTED = {
  id: Text,
  table: Text,
  direction: Direction,
  key: KeyObject,
  message: Text,
  attempts: Type.Integer({ minimum: 1 }),
  first_at: Time,
  last_at: Time,
};

const RejectedSchema = model("RejectedRecord", REJECTED);

export const RejectedListSchema = listOf(RejectedSchema);

/** With the record itself. D-9.5. */
export const RejectedDetailSchema = model("RejectedRecordDetail", {
  ...REJECTED,
  record: nullable(object(), {
    description: "As it was pulled, or the row that a push sends now; null when that is gone",
  }),
});

export const RetryResultSchema = model("RetryResult", {
  status: oneOf(["written", "rejected", "dropped"]),
  item: RejectedSchema,
});

export const DigestPageSchema = model("DigestPage", {
  table: Text,
  format: Text,
  columns: Type.Array(Text),
  segments: Type.Array(
    model("DigestSegment", {
      through: nullable(Type.Array(Type.Unknown())),
      count: Count,
      digest: Text,
    }),
  ),
  has_more: Type.Boolean(),
  records: Type.Optional(Type.Array(object())),
});

/** An error with the kind of the failure. S-7. */
export function typedError<const Kind extends string>(name: string, type: Kind) {
  return model(name, { error: Text, type: Type.Literal(type) });
}

/** S-7, a configuration problem. */
export const ConfigErrorSchema = typedError("ConfigError", "config_error");

/** S-7, any other failure of a run. */
export const SyncRunErrorSchema = typedError("SyncRunError", "sync_error");

const Examples = Type.Array(KeyObject, { maxItems: 20 });

/** Fields of the result of a comparison. D-4.10. */
export const COMPARED = {
  matched: Count,
  different: Count,
  missing_here: Count,
  missing_there: Count,
  examples: only({
    different: Examples,
    missing_here: Examples,
    missing_there: Examples,
    kept: Type.Optional(
      Type.Array(
        only({
          key: KeyObject,
          reason: oneOf([
            "update_columns",
            "refused",
            "newer",
            "deletes_unknown",
            "owner",
            "no_owner",
          ]),
        }),
        { maxItems: 20 },
      ),
    ),
  }),
  ...REPAIRED,
};

export const CompareResultSchema = model("CompareResult", COMPARED);
