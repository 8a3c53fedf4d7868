// Bodies on the wire, as the OpenAPI document shows them. Field names are those of the two documents.
import { Type } from "@sinclair/typebox";
import { exact } from "./schema-parts.ts";

const NullableString = Type.Union([Type.String(), Type.Null()]);
const NullableInteger = Type.Union([Type.Integer(), Type.Null()]);
const RowObject = Type.Object(
  {},
  { additionalProperties: true, description: "One row of a table" },
);

/** S-7. */
export const SyncError = Type.Object({ error: Type.String() }, exact);

/** S-7, with the kind of failure. */
export const IntegrityError = Type.Object(
  { error: Type.String(), type: Type.Literal("integrity_error") },
  exact,
);

/** S-2.2. */
export const PullPageBody = Type.Object(
  {
    table: Type.String(),
    since: NullableString,
    count: Type.Integer({ minimum: 0 }),
    total: Type.Integer({ minimum: 0 }),
    offset: Type.Integer({ minimum: 0 }),
    limit: Type.Integer({ minimum: 1 }),
    has_more: Type.Boolean(),
    next_offset: NullableInteger,
    records: Type.Array(RowObject),
  },
  exact,
);

/** An element of a push that is not an object fails alone, so the document refuses none. D-3.5. */
const PushRecord = Type.Unknown({
  description: "One row by column name; anything but an object is a failed record",
  examples: [{ username: "ana", updated_at: "2026-01-02T03:04:05Z" }],
});

/** S-2.3. */
export const PushRequestBody = Type.Object({
  records: Type.Optional(
    Type.Union([Type.Array(PushRecord), Type.Null()], {
      description: "Rows to upsert; keys are column names",
    }),
  ),
  sync_timestamp: Type.Optional(
    Type.Unknown({ description: "When the sync was initiated, ISO 8601; no effect on rows" }),
  ),
});

/** S-2.4, normal result. */
export const PushResultBody = Type.Object(
  {
    table: Type.String(),
    received: Type.Integer({ minimum: 1 }),
    upserted: Type.Integer({ minimum: 0 }),
    integrity: Type.Union([Type.Literal("verified"), Type.Literal("no_checksum")]),
    errors: Type.Optional(Type.Array(Type.String(), { maxItems: 10 })),
    error_count: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  exact,
);

/** S-2.4, no records. */
export const NoRecordsBody = Type.Object(
  { table: Type.String(), upserted: Type.Literal(0), message: Type.String() },
  exact,
);

/** S-2.4, commit failure. */
export const CommitFailedBody = Type.Object(
  { table: Type.String(), upserted: Type.Literal(0), error: Type.String() },
  exact,
);

/** S-2.5. */
export const SyncStatusBody = Type.Object(
  {
    sync_enabled: Type.Boolean(),
    tables: Type.Array(Type.String()),
    table_counts: Type.Record(Type.String(), Type.Integer({ minimum: -1 })),
    last_sync: Type.Record(Type.String(), Type.String()),
    server_time: Type.String({ format: "date-time" }),
    features: Type.Object(
      { gzip: Type.Literal(true), sha256: Type.Literal(true), incremental: Type.Literal(true) },
      exact,
    ),
  },
  exact,
);

/** D-5.1. */
export const HealthBody = Type.Object(
  {
    success: Type.Boolean(),
    status: Type.Union([Type.Literal("ok"), Type.Literal("degraded")]),
    db: Type.Union([Type.Literal("ok"), Type.Literal("unavailable")]),
    php: Type.String({ description: "Name and version of the runtime, whatever it is" }),
    timestamp: Type.String({ format: "date-time" }),
  },
  exact,
);
