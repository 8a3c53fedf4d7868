// The registry file of the HTTP tests: every column type, every write rule.
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { LISTINGS } from "../../support/rows/make-table.ts";

/** The tables by name, beside the built-in ones. */
export const TABLES = {
  /** The example of D-2.1: composite key, timestamp, hidden column, numbered rows. */
  listings: LISTINGS,
  /** One column of every type, and the limits a column can have. */
  samples: {
    upsert_key: ["name"],
    columns: {
      name: { type: "text" },
      a_text: { type: "text" },
      an_integer: { type: "integer" },
      a_bigint: { type: "bigint" },
      a_numeric: { type: "numeric" },
      a_real: { type: "real" },
      a_boolean: { type: "boolean" },
      a_datetime: { type: "datetime" },
      a_date: { type: "date" },
      a_json: { type: "json" },
      short: { type: "text", max_length: 3 },
      required: { type: "text", nullable: false },
    },
  },
  /** Two columns and no timestamp: the smallest page. */
  notes: {
    upsert_key: ["name"],
    columns: { name: { type: "text" }, body: { type: "text" } },
  },
  /** Insert only. */
  events: {
    upsert_key: ["code"],
    update_columns: [],
    columns: { code: { type: "integer" }, body: { type: "text" } },
  },
  /** Updates one column of two. */
  settings: {
    upsert_key: ["name"],
    update_columns: ["value"],
    columns: { name: { type: "text" }, value: { type: "text" }, note: { type: "text" } },
  },
  /** The later row wins. */
  versions: {
    timestamp_column: "at",
    upsert_key: ["name"],
    conflict: "newer",
    columns: { name: { type: "text" }, at: { type: "datetime" }, body: { type: "text" } },
  },
  /** Keyed by its own `id`; ordered by a date. */
  days: {
    timestamp_column: "day",
    upsert_key: ["id"],
    columns: { id: { type: "bigint" }, day: { type: "date" } },
  },
} as const satisfies Record<string, TableEntry>;

/** Names as the service lists them: the built-in ones first. */
export const TABLE_NAMES = [
  "profiles",
  "platform_accounts",
  "listings",
  "samples",
  "notes",
  "events",
  "settings",
  "versions",
  "days",
];
