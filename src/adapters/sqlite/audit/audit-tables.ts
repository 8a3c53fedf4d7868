// The tables of the audit log.
import type { AuditRecord } from "../../../domain/reputation/audit/audit-chain.ts";

/** The records, the signed heads of their chains, where pruning has cut them, and how many chains there are. */
export const AUDIT_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_audit (
    chain_id TEXT, seq INTEGER, version INTEGER, at TEXT, request_id TEXT, account_id TEXT,
    key_id TEXT, endpoint TEXT, purpose TEXT, subject_hmac TEXT, consent_id INTEGER, decision TEXT,
    code TEXT, status INTEGER, previous_hash TEXT, hash TEXT, PRIMARY KEY (chain_id, seq)
  ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS repsync_audit_heads (
    chain_id TEXT PRIMARY KEY, chain_number INTEGER NOT NULL UNIQUE, seq INTEGER NOT NULL,
    hash TEXT NOT NULL, at TEXT NOT NULL, signature TEXT NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS repsync_audit_checkpoints (
    chain_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL, at TEXT NOT NULL,
    signature TEXT NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS repsync_audit_chain_count (
    one INTEGER PRIMARY KEY CHECK (one = 1), chains INTEGER NOT NULL, signature TEXT NOT NULL
  )`,
];

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
