// Acts of administrators on accounts, names or rows, as records of the audit log. D-8.2, D-8.8, D-14.3.
import {
  ADMIN_ENDPOINT,
  type AdminAction,
  type AuditEntry,
  type FileAction,
  type RowAction,
} from "./audit-chain.ts";

/** The administrator who asked for it, and the request. */
export interface AdminRequest {
  /** Username of the administrator; null on the command line. */
  readonly by: string | null;
  readonly requestId: string;
}

export interface AdminAct extends AdminRequest {
  readonly action: AdminAction;
  /** The username of whom it was done to; `by` is the administrator. */
  readonly actedOn: string;
}

export interface RowAct extends AdminRequest {
  readonly action: RowAction;
  readonly table: string;
  /** The `keyText` of the row; the log has its HMAC only. */
  readonly key: string;
}

export interface FileAct extends AdminRequest {
  readonly action: FileAction;
  readonly table: string;
  /** Rows, by what became of them. */
  readonly counts: Readonly<Record<string, number>>;
}

/** The identities of both as a store knows them: `accountId` is empty on the command line, `subjectHmac` that of `actedOnText`. */
interface AdminSubjects {
  readonly nowMs: number;
  readonly accountId: string;
  readonly subjectHmac: string;
}

/** The record of what was done. */
export function adminEntry(
  { action, requestId, table = "" }: AdminRequest & { action: AdminAction; table?: string },
  { nowMs, accountId, subjectHmac }: AdminSubjects,
): AuditEntry {
  return {
    at: new Date(nowMs).toISOString(),
    requestId,
    accountId,
    keyId: table,
    endpoint: ADMIN_ENDPOINT,
    purpose: action,
    subjectHmac,
    consentId: null,
    decision: "allowed",
    code: null,
    status: 200,
  };
}

/** The text whose HMAC, by the key of the log, stands for a row that something was done to. */
export function actedOnRowText({ table, key }: Pick<RowAct, "table" | "key">): string {
  return `repsync.audit.row.v1\n${table}\n${key}`;
}

/** Table and counts in one text, as a record has no field for counts: the name of a table has no blank. */
export function withCounts({ table, counts }: Pick<FileAct, "table" | "counts">): string {
  return [table, ...Object.entries(counts).map(([name, count]) => `${name}=${count}`)].join(" ");
}

/** Reads the text of `withCounts`, or the name of a table alone. */
export function readCounts(text: string): { table: string; counts?: Record<string, number> } {
  const [table = "", ...counts] = text.split(" ");
  if (counts.length === 0) return { table };
  const entries = counts.map((part) => part.split("="));
  return {
    table,
    counts: Object.fromEntries(entries.map(([name = "", count]) => [name, Number(count)])),
  };
}

/**
 * The text whose HMAC, by the person's own key or else by that of the log, stands for whom something was done to. It is none
 * of a lookup's: people are shown who looked them up.
 */
export function actedOnText(username: string): string {
  return `repsync.audit.acted-on.v1\n${username}`;
}
