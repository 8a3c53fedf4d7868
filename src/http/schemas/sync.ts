// Bodies of pages, pushes, status and health on the wire, as the OpenAPI document shows them. S-2, S-7, R-2.5.
import { Type } from "@sinclair/typebox";
import { exact, model, nullable, oneOf, Text } from "./parts.ts";

const RowObject = Type.Object(
  {},
  { additionalProperties: true, description: "One row of a table" },
);

export const SyncErrorSchema = model("SyncError", { error: Type.String() });

/** S-7, with the kind of failure. */
export const IntegrityErrorSchema = model("IntegrityError", {
  error: Type.String(),
  type: Type.Literal("integrity_error"),
});

export const PullPageSchema = model("PullPage", {
  table: Type.String(),
  since: nullable(Text),
  count: Type.Integer({ minimum: 0 }),
  total: Type.Integer({ minimum: 0 }),
  offset: Type.Integer({ minimum: 0 }),
  limit: Type.Integer({ minimum: 1 }),
  has_more: Type.Boolean(),
  next_offset: nullable(Type.Integer()),
  records: Type.Array(RowObject),
});

/** An element of a push that is not an object fails alone, so the document refuses none. D-3.5. */
const PushRecord = Type.Unknown({
  description: "One row by column name; anything but an object is a failed record",
  examples: [{ username: "maria", updated_at: "2026-01-02T03:04:05Z" }],
});

export const PushRequestSchema = Type.Object(
  {
    records: Type.Optional(
      nullable(Type.Array(PushRecord), { description: "Rows to upsert; keys are column names" }),
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
  table: Type.String(),
  received: Type.Integer({ minimum: 1 }),
  upserted: Type.Integer({ minimum: 0 }),
  integrity: oneOf(["verified", "no_checksum"]),
  errors: Type.Optional(Type.Array(Type.String(), { maxItems: 10 })),
  error_count: Type.Optional(Type.Integer({ minimum: 1 })),
});

/** To TypeBox a literal 0 is any number. */
const NONE = Type.Unsafe<0>({ type: "integer", const: 0 });

/** S-2.4, no records. */
export const NoRecordsSchema = model("NoRecordsResult", {
  table: Type.String(),
  upserted: NONE,
  message: Type.String(),
});

/** S-2.4, commit failure. */
export const CommitFailedSchema = model("CommitFailure", {
  table: Type.String(),
  upserted: NONE,
  error: Type.String(),
});

export const SyncStatusSchema = model("SyncStatus", {
  sync_enabled: Type.Boolean(),
  tables: Type.Array(Type.String()),
  table_counts: Type.Record(Type.String(), Type.Integer({ minimum: -1 })),
  last_sync: Type.Record(Type.String(), Type.String()),
  server_time: Type.String({ format: "date-time" }),
  features: Type.Object(
    { gzip: Type.Literal(true), sha256: Type.Literal(true), incremental: Type.Literal(true) },
    exact,
  ),
});

export const HealthSchema = model("Health", {
  success: Type.Boolean(),
  status: oneOf(["ok", "degraded"]),
  db: oneOf(["ok", "unavailable"]),
  php: Type.String({ description: "Name and version of the runtime, whatever it is" }),
  timestamp: Type.String({ format: "date-time" }),
});
