import type { TableEntry } from "./registry-schema.ts";

/** The tables every registry holds unless a file replaces them, as registry file entries. D-2.3, D-6.2. */
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
