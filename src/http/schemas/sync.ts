// Bodies of pages, pushes, status and health. S-2, S-7, R-2.5.
import { Type } from "@sinclair/typebox";
import { COLUMN_TYPES } from "../../domain/sync/table/column-types.ts";
import { Count, counted, model, nullable, object, oneOf, only, Text, Time } from "./parts.ts";
import { KeyObject, OneWay, typedError } from "./runs.ts";

const RowObject = object({ description: "One row of a table" });

export const SyncErrorSchema = model("SyncError", { error: Text });

/** S-7, with the kind of failure. */
export const IntegrityErrorSchema = typedError("IntegrityError", "integrity_error");

export const PullPageSchema = model("PullPage", {
  table: Text,
  since: nullable(Text),
  count: Count,
  total: Count,
  offset: Count,
  limit: Type.Integer({ minimum: 1 }),
  has_more: Type.Boolean(),
  next_offset: nullable(Type.Integer()),
  records: Type.Array(RowObject),
});

/** A record that is no object fails alone, so the document refuses none. D-3.5. */
const PushRecord = Type.Unknown({
  description: "One row by column name; anything but an object is a failed record",
  examples: [{ username: "maria", updated_at: "2026-01-02T03:04:05Z" }],
});

const PushedTombstone = Type.Unknown({
  description:
    "The key columns of a deleted row and when it was deleted, ISO 8601; anything else is a failed record",
  examples: [{ key: { username: "maria" }, deleted_at: "2026-01-02T03:04:05Z" }],
});

export const PushRequestSchema = Type.Object(
  {
    records: Type.Optional(
      nullable(Type.Array(PushRecord), { description: "Rows to upsert; keys are column names" }),
    ),
    deleted: Type.Optional(
      nullable(Type.Array(PushedTombstone), {
        description:
          "Rows deleted at the sender, removed before the records are written; of a table with `deletes` only",
      }),
    ),
    conflict: Type.Optional(
      nullable(oneOf(["newer", "overwrite"]), {
        description: "As `X-Sync-Conflict`, which goes before it: a gateway may drop the header",
      }),
    ),
    sync_timestamp: Type.Optional(
      Type.Unknown({
        description: "When the sync was initiated, ISO 8601; no effect on rows",
        examples: ["2026-01-02T03:04:05Z"],
      }),
    ),
  },
  { $id: "PushRequest" },
);

/** S-2.4, normal result. */
export const PushResultSchema = model("PushResult", {
  table: Text,
  received: counted("Records; 0 only beside deletes"),
  upserted: Count,
  integrity: oneOf(["verified", "no_checksum"]),
  kept: Type.Optional(
    counted(
      "Rows that stay as they are here, being newer or their owner's; only of a guarded push",
    ),
  ),
  changed: Type.Optional(counted("Rows really written; only of a guarded or overwriting push")),
  erased: Type.Optional(
    counted("Records left out, as the people whom they name were erased; only of a guarded push"),
  ),
  deleted: Type.Optional(counted("Rows removed; only of a push that carried deletes")),
  errors: Type.Optional(Type.Array(Text, { maxItems: 10 })),
  error_count: Type.Optional(Type.Integer({ minimum: 1 })),
});

/** For TypeBox a literal 0 is any number. */
const NONE = Type.Unsafe<0>({ type: "integer", const: 0 });

/** S-2.4, no records. */
export const NoRecordsSchema = model("NoRecordsResult", {
  table: Text,
  upserted: NONE,
  message: Text,
});

/** S-2.4, commit failure. */
export const CommitFailedSchema = model("CommitFailure", {
  table: Text,
  upserted: NONE,
  error: Text,
});

export const SyncStatusSchema = model("SyncStatus", {
  sync_enabled: Type.Boolean(),
  tables: Type.Array(Text),
  table_counts: Type.Record(Text, Type.Integer({ minimum: -1 })),
  last_sync: Type.Record(Text, Text),
  server_time: Type.String({ format: "date-time" }),
  features: only({
    gzip: Type.Literal(true),
    sha256: Type.Literal(true),
    incremental: Type.Literal(true),
  }),
});

/** D-7.3, D-7.4. */
export const TableSchemaSchema = model(
  "TableSchema",
  {
    table: Text,
    timestamp_column: nullable(Text),
    upsert_key: Type.Array(Text, { minItems: 1 }),
    update_columns: Type.Union([Type.Literal("__all__"), Type.Array(Text)], {
      description: "Columns that a push updates on a key conflict; __all__: all but the key and id",
    }),
    columns: Type.Record(
      Text,
      model("TableSchemaColumn", {
        type: oneOf(COLUMN_TYPES),
        nullable: Type.Boolean(),
        max_length: nullable(Type.Integer({ minimum: 1 }), {
          description: "Greatest length of a text, in Unicode code points; null for none",
        }),
        auto_increment: Type.Optional(
          Type.Literal(true, { description: "There where the store numbers the rows" }),
        ),
      }),
      { description: "By name, without those that no page shows" },
    ),
    deletes: Type.Boolean({ description: "True when deletes travel" }),
    stamped: Type.Boolean({ description: "True when records that bring no time get one" }),
    lag_seconds: Type.Number({ minimum: 0, description: "Late-commit allowance" }),
    conflict: oneOf(["overwrite", "newer"], {
      description: "Whether a push leaves a newer row as it is",
    }),
    direction: OneWay,
    remote_id: nullable(Text, {
      description: "Id of the remote that this deployment has; null where it has met none",
    }),
    late: only({
      mark: Type.String({ description: "Where the next run goes on; opaque" }),
      from: nullable(Text, {
        description:
          "Earliest time that came late since late_after; null for nothing, empty for an unknown mark: read from the start",
      }),
    }),
  },
  {
    examples: [
      {
        table: "notes",
        timestamp_column: "updated_at",
        upsert_key: ["name"],
        update_columns: "__all__",
        columns: {
          name: { type: "text", nullable: false, max_length: 200 },
          updated_at: { type: "datetime", nullable: true, max_length: null },
        },
        deletes: false,
        stamped: false,
        lag_seconds: 60,
        conflict: "overwrite",
        direction: null,
        remote_id: null,
        late: { mark: "12", from: "2026-01-02T03:04:05Z" },
      },
    ],
  },
);

const DeletedRow = model("DeletedRow", {
  key: KeyObject,
  deleted_at: Time,
});

/** D-7.6. */
export const DeletedPageSchema = model(
  "DeletedPage",
  {
    table: Text,
    items: Type.Array(DeletedRow),
    next_cursor: nullable(Text, { description: "Null on the last page" }),
    cursor: Type.String({ description: "Where the next run goes on; empty: at the start" }),
    earliest_available: Type.String({
      format: "date-time",
      description: "Since when the record of deletes is complete",
    }),
    server_time: Time,
  },
  {
    examples: [
      {
        table: "notes",
        items: [{ key: { name: "a" }, deleted_at: "2026-01-02T03:04:05Z" }],
        next_cursor: null,
        cursor: "17",
        earliest_available: "2026-01-01T00:00:00Z",
        server_time: "2026-01-02T03:05:00Z",
      },
    ],
  },
);

export const HEALTH = {
  status: oneOf(["ok", "degraded"]),
  db: oneOf(["ok", "unavailable"]),
  php: Type.String({ description: "Name and version of the runtime, whatever it is" }),
  timestamp: Time,
};

export const HealthSchema = model("Health", { success: Type.Boolean(), ...HEALTH });

/** D-10.5. */
export const LivenessSchema = model("Liveness", { status: Type.Literal("ok") });

/** D-10.5. */
export const ReadinessSchema = model("Readiness", {
  status: oneOf(["ok", "starting", "stopping", "unavailable"]),
});
