import type { ConsentPurpose, LookupRefusal } from "../accounts/consent.ts";
import type { AuditRecord } from "./audit-chain.ts";
import type { AuditPlace } from "./audit-place.ts";

/** One lookup, as the person who was looked up sees it, in the field order of D-5.5. */
export interface AccessItem {
  readonly id: string;
  readonly at: string;
  /** Username of the caller; `""` when that account is erased. */
  readonly account: string;
  readonly purpose: ConsentPurpose;
  readonly decision: "allowed" | "denied";
  /** Null when allowed. */
  readonly code: LookupRefusal | null;
  readonly requestId: string;
}

/** An audit record as `GET /v1/me/accesses` shows it. Its id is its place in the chains. D-5.5. */
export function accessItem(record: AuditRecord, accountName: string | null): AccessItem {
  return {
    id: `${record.chainId}-${record.seq}`,
    at: record.at,
    account: accountName ?? "",
    // Other records name nobody who is looked up.
    purpose: record.purpose as ConsentPurpose,
    decision: record.decision,
    code: record.code,
    requestId: record.requestId,
  };
}

/** Reads the place of an item from its time and id. */
export function accessPlace({ at, id }: Pick<AccessItem, "at" | "id">): AuditPlace {
  const dash = id.lastIndexOf("-");
  return { at, chainId: id.slice(0, dash), seq: Number(id.slice(dash + 1)) };
}
