// The service's own tables as parts that every store reads and writes.
import type { PortablePart } from "../../../ports/copies/portable-store.ts";

/** A table whose rows are the entries of a part, by the names of columns and fields. */
export interface PlainPart {
  readonly table: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Fields that are true or false. */
  readonly flags?: readonly string[];
  /** Which rows belong to it. */
  readonly where?: string;
}

const signed = { chain_id: "chainId", seq: "seq", hash: "hash", at: "at", signature: "signature" };

/** Those of which each entry is one row. */
export const PLAIN_PARTS: Partial<Record<PortablePart, PlainPart>> = {
  facts: {
    table: "repsync_store",
    columns: { name: "name", value: "value" },
    where: "name = 'deployment_id'",
  },
  accounts: {
    table: "repsync_accounts",
    columns: {
      ...{ username: "username", email: "email", email_key: "emailKey" },
      ...{ password_hash: "passwordHash", role: "role", issuer: "issuer", plan: "plan" },
      ...{ calls_per_month: "callsPerMonth", rate_limit_per_minute: "rateLimitPerMinute" },
      ...{ created_at_ms: "createdAtMs", suspended_at_ms: "suspendedAtMs" },
      last_sign_in_at_ms: "lastSignInAtMs",
    },
  },
  hidden_profiles: { table: "repsync_hidden_profiles", columns: { username: "username" } },
  erased_names: {
    table: "repsync_erased_names",
    columns: {
      ...{ name_hmac: "hmac", erased_at: "erasedAt", is_taken: "isTaken" },
      ...{ month: "month", month_calls: "monthCalls" },
    },
    flags: ["isTaken"],
  },
  subjects: { table: "repsync_subjects", columns: { username: "username", id: "id", key: "key" } },
  api_keys: {
    table: "repsync_api_keys",
    columns: {
      ...{ n: "number", id: "id", username: "username", name: "name", hash: "hash" },
      ...{ prefix: "prefix", last4: "last4", created_at: "createdAt", expires_at: "expiresAt" },
      ...{ revoked_at: "revokedAt", is_revoked: "isRevoked" },
    },
    flags: ["isRevoked"],
  },
  consents: {
    table: "repsync_consents",
    columns: {
      ...{ id: "id", username: "username", purpose: "purpose", granted_at: "grantedAt" },
      ...{ expires_at: "expiresAt", ended_as: "endedAs", ended_at: "endedAt" },
    },
  },
  quota_marks: {
    table: "repsync_quota_alerts",
    columns: { account_id: "accountId", month: "month", type: "type" },
  },
  audit_heads: {
    table: "repsync_audit_heads",
    columns: { ...signed, chain_number: "chainNumber" },
  },
  audit_checkpoints: { table: "repsync_audit_checkpoints", columns: signed },
  audit_chain_count: {
    table: "repsync_audit_chain_count",
    columns: { one: "one", chains: "chains", signature: "signature" },
  },
};

/** Tables of the other parts. */
export const OTHER_TABLES: readonly string[] = [
  ...["repsync_usage", "repsync_calls", "repsync_call_history", "repsync_audit"],
  "repsync_deletes",
];

/** Made anew by a start, or of the processes that use the file. */
export const NOT_MOVED: readonly string[] = [
  ...["repsync_tables", "repsync_moment", "repsync_versions"],
  ...["repsync_audit_segments", "repsync_audit_segment_records"],
];
