// Records of what administrators do, each in a chain of its own: they are few, and lookups of this process go on with theirs.
import { type AdminAct, adminEntry } from "../../../domain/reputation/audit/admin-entry.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import type { Subjects } from "../accounts/subjects.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { AuditChainWriter } from "./audit-chain-writer.ts";

interface AdminRecordsDeps {
  readonly mac: Mac;
  readonly auditKey: Uint8Array;
  readonly subjects: Subjects;
}

/** Adds a record, within the write that does what it tells. D-8.8. */
export function noteAdminAct(
  database: SqliteDatabase,
  { mac, auditKey, subjects }: AdminRecordsDeps,
  act: AdminAct,
): void {
  const entry = adminEntry(act, {
    nowMs: database.nowMs(),
    accountId: act.by === null ? "" : subjects.makeAccountId(act.by),
    subjectHmac: subjects.hmacOfActedOn(act.username),
  });
  new AuditChainWriter(database, mac, auditKey).append([entry]);
}
