// Events of runs, comparisons and imports. S-6, D-4.4, D-9.5.
import { Type } from "@sinclair/typebox";
import type { JsonValue } from "../../domain/shared/json.ts";
import { Count, counted, model, nullable, object, oneOf, Text, union } from "./parts.ts";
import { COMPARED, Direction, KeyObject, Repair } from "./runs.ts";

const RunFinishedEvent = model("RunFinishedEvent", { type: Type.Literal("finished") });

const SUBJECT = { table: Text, direction: Direction };
const BYTES = { bytes_compressed: Count, bytes_uncompressed: Count };

/** S-6, D-4.4. */
export const RunEventSchema = union("RunEvent", [
  model("RunStartEvent", { type: Type.Literal("start"), ...SUBJECT, total_records: Count }),
  model("RunBatchEvent", {
    type: Type.Literal("batch"),
    ...SUBJECT,
    batch: Type.Integer({ minimum: 1 }),
    total_batches: Count,
    records_sent: Count,
    total_sent: Count,
    total_records: Count,
    ...BYTES,
    upserted: Count,
    error_count: Count,
    elapsed_ms: Count,
    rows_per_second: Count,
  }),
  model("RunDoneEvent", {
    type: Type.Literal("done"),
    ...SUBJECT,
    status: oneOf(["success", "partial"]),
    total_pushed: Type.Optional(Count),
    total_pulled: Type.Optional(Count),
    ...BYTES,
    duration_ms: Count,
  }),
  model("RunErrorEvent", { type: Type.Literal("error"), ...SUBJECT, error: Text }),
  RunFinishedEvent,
]);

const AnyRow = nullable(object(), {
  description: "A row; null at an end that does not have it. Integers beyond 2^53 are strings",
});

/** D-9.5. */
export const CompareEventSchema = union("CompareEvent", [
  model("CompareStartEvent", {
    type: Type.Literal("start"),
    table: Text,
    repair: Repair,
    total_records: nullable(Count, { description: "Rows here; null when not known" }),
  }),
  model("CompareProgressEvent", {
    type: Type.Literal("progress"),
    rows: counted("Rows of either end that were looked at so far"),
  }),
  model("CompareDifferenceEvent", {
    type: Type.Literal("difference"),
    kind: oneOf(["different", "missing_here", "missing_there"]),
    key: KeyObject,
    here: AnyRow,
    there: AnyRow,
  }),
  model("CompareDoneEvent", { type: Type.Literal("done"), table: Text, ...COMPARED }),
  model("CompareErrorEvent", { type: Type.Literal("error"), table: Text, error: Text }),
  RunFinishedEvent,
]);

const ImportWarning = {
  line: Count,
  column: nullable(Text, { description: "Null for the whole record" }),
  value: Type.Unsafe<JsonValue>({ description: "As the file has it, shortened; null for none" }),
  message: Text,
};

const ImportKey = nullable(Text, {
  description: "`key=value, key=value`; null where there is none",
});

/** D-10.3. */
const IMPORTED = {
  table: Text,
  dry_run: Type.Boolean(),
  read: counted("Records"),
  deleted: counted("Records whose rows were deleted after the file was written, and stay so"),
  written: counted("Records that are in the table, or would be"),
  new: Count,
  changed: Count,
  same: Count,
  failed: Count,
  last_line: counted("Line on which the last record that was read begins"),
  failures: Type.Array(model("ImportFailure", { ...ImportWarning, key: ImportKey }), {
    description: "The first ones",
  }),
  warnings: Type.Array(model("ImportWarning", ImportWarning), { description: "The first ones" }),
  warning_count: Count,
  removed: Type.Optional(
    counted("Rows that went, or would go, as the file does not have them; absent without `whole`"),
  ),
  changes: Type.Optional(
    Type.Array(
      model("ImportChange", { line: Count, key: ImportKey, here: AnyRow, record: AnyRow }),
      {
        description:
          "Of a dry run: the first rows that would be overwritten, with the columns that would change, as they are and as they would be",
      },
    ),
  ),
};

/** D-14.4. */
export const ImportEventSchema = union("ImportEvent", [
  model("ImportProgressEvent", {
    type: Type.Literal("progress"),
    rows: counted("Records that were read so far"),
  }),
  model("ImportDoneEvent", { type: Type.Literal("done"), ...IMPORTED }),
  model("ImportErrorEvent", {
    type: Type.Literal("error"),
    table: Text,
    error: Text,
    result: nullable(model("ImportResult", IMPORTED), {
      description: "What was done before; null where nobody knows",
    }),
  }),
  RunFinishedEvent,
]);
