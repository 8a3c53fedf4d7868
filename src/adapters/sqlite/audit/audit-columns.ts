import type { AuditRecord } from "../../../domain/reputation/audit/audit-chain.ts";

/** Columns of `repsync_audit` and the fields they hold. */
export const AUDIT_COLUMNS: readonly (readonly [column: string, field: keyof AuditRecord])[] = [
  ["chain_id", "chainId"],
  ["seq", "seq"],
  ["version", "version"],
  ["at", "at"],
  ["request_id", "requestId"],
  ["account_id", "accountId"],
  ["key_id", "keyId"],
  ["endpoint", "endpoint"],
  ["purpose", "purpose"],
  ["subject_hmac", "subjectHmac"],
  ["consent_id", "consentId"],
  ["decision", "decision"],
  ["code", "code"],
  ["status", "status"],
  ["previous_hash", "previousHash"],
  ["hash", "hash"],
];
