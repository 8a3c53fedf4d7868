import type { ConsentPurpose, LookupRefusal } from "../accounts/consent.ts";
import { readCounts } from "./admin-entry.ts";
import { ADMIN_ENDPOINT, type AuditRecord } from "./audit-chain.ts";

/** A record of the audit log as administrators see it, in the field order of D-9.5. */
export interface AuditItem {
  readonly id: string;
  readonly at: string;
  readonly kind: "lookup" | "admin";
  /** Username of the caller or administrator; `""` when that account is gone, and for the command line. */
  readonly account: string;
  /** The person, where the reader gave the name: the log itself has no names. */
  readonly subject: string | null;
  /** Null for an act; `action` is null for a lookup. */
  readonly purpose: ConsentPurpose | null;
  readonly action: string | null;
  /** The table of acts on rows; absent elsewhere. */
  readonly table?: string;
  /** Rows of a file, by what became of them. */
  readonly counts?: Readonly<Record<string, number>>;
  readonly decision: "allowed" | "denied";
  readonly code: LookupRefusal | null;
  readonly requestId: string;
}

/** The names that the log has in place of a username. */
export interface AuditNames {
  readonly username: string;
  /** Id of the account; null when it has none. */
  readonly accountId: string | null;
  /** HMACs of the person, as somebody looked up and as somebody acted on. */
  readonly subjectHmacs: readonly string[];
}

/** `names` are those that the reader asked for. */
export function auditItem(
  record: AuditRecord,
  accountName: string | null,
  names: AuditNames | null,
): AuditItem {
  const isAdmin = record.endpoint === ADMIN_ENDPOINT;
  return {
    id: `${record.chainId}-${record.seq}`,
    at: record.at,
    kind: isAdmin ? "admin" : "lookup",
    account: accountName ?? "",
    subject: names?.subjectHmacs.includes(record.subjectHmac) ? names.username : null,
    // Records of administration have their action there.
    purpose: isAdmin ? null : (record.purpose as ConsentPurpose),
    action: isAdmin ? record.purpose : null,
    ...(isAdmin && record.keyId !== "" ? readCounts(record.keyId) : {}),
    decision: record.decision,
    code: record.code,
    requestId: record.requestId,
  };
}

/** The place of a record: by time, then by chain and place in it. */
export type AuditPlace = Pick<AuditRecord, "at" | "chainId" | "seq">;

/** A text that sorts after the time of any record. */
export const END_OF_TIME = "~";
const END_OF_CHAINS = "~";

/** Orders as lists show the log. D-5.5, D-9.5. */
export function newestFirst(a: AuditPlace, b: AuditPlace): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  if (a.chainId !== b.chainId) return a.chainId < b.chainId ? 1 : -1;
  return b.seq - a.seq;
}

export function placeBefore(at: string): AuditPlace {
  return { at, chainId: "", seq: 0 };
}

export function placeAfter(at: string): AuditPlace {
  return { at, chainId: END_OF_CHAINS, seq: 0 };
}
