// Acts of administrators on accounts, names or rows, as records of the audit log. D-8.2, D-8.8, D-14.3.
import {
  ADMIN_ENDPOINT,
  type AdminAction,
  type AuditEntry,
  type FileAction,
  type RowAction,
} from "./audit-chain.ts";

/** Who asked for an act, and in which request. */
export interface AdminRequest {
  /** Username of the administrator; null on the command line. */
  readonly by: string | null;
  readonly requestId: string;
}

export interface AdminAct extends AdminRequest {
  readonly action: AdminAction;
  /** Username of the person acted on. */
  readonly actedOn: string;
}

export interface RowAct extends AdminRequest {
  readonly action: RowAction;
  readonly table: string;
  /** The `keyText` of the row. The log has only its HMAC. */
  readonly key: string;
}

export interface FileAct extends AdminRequest {
  readonly action: FileAction;
  readonly table: string;
  /** Rows, by what became of them. */
  readonly counts: Readonly<Record<string, number>>;
}

interface AdminSubjects {
  readonly nowMs: number;
  /** The administrator's; empty on the command line. */
  readonly accountId: string;
  /** HMAC of `actedOnText` or `actedOnRowText`. */
  readonly subjectHmac: string;
}

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

/** The text whose HMAC, by the key of the log, stands for a row acted on. */
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

/** As `actedOnRowText`, of a person, by their own key if they have one. Lookups have another text, as acts are no accesses. */
export function actedOnText(username: string): string {
  return `repsync.audit.acted-on.v1\n${username}`;
}
