// What an administrator did to an account or a name, as a record of the audit log. D-8.2, D-8.8.
import { ADMIN_ENDPOINT, type AdminAction, type AuditEntry } from "./audit-chain.ts";

/** Who asked for it. */
export interface AdminRequest {
  /** Username of the administrator; null on the command line. */
  readonly by: string | null;
  readonly requestId: string;
}

export interface AdminAct extends AdminRequest {
  readonly action: AdminAction;
  /** Username of whom it was done to. */
  readonly username: string;
}

/** What a store knows of both: `accountId` is empty on the command line, `subjectHmac` that of `actedOnText`. */
interface AdminSubjects {
  readonly nowMs: number;
  readonly accountId: string;
  readonly subjectHmac: string;
}

/** The record of what was done. */
export function adminEntry(
  { action, requestId }: AdminAct,
  { nowMs, accountId, subjectHmac }: AdminSubjects,
): AuditEntry {
  return {
    at: new Date(nowMs).toISOString(),
    requestId,
    accountId,
    keyId: "",
    endpoint: ADMIN_ENDPOINT,
    purpose: action,
    subjectHmac,
    consentId: null,
    decision: "allowed",
    code: null,
    status: 200,
  };
}

/**
 * The text whose HMAC, by the person's own key or else by that of the log, stands for whom something was done to. It is none
 * of a lookup's: people are shown who looked them up.
 */
export function actedOnText(username: string): string {
  return `repsync.audit.acted-on.v1\n${username}`;
}
