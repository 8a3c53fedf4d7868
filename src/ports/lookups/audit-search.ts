import type { AuditRecord } from "../../domain/reputation/audit/audit-chain.ts";
import type { AuditNames } from "../../domain/reputation/audit/audit-item.ts";
import type { AuditPlace } from "../../domain/reputation/audit/audit-place.ts";

/** Consecutive records of one chain, some thousands at most. */
export interface AuditStretch {
  readonly chainId: string;
  /** Places of the first and the last, pruned ones perhaps among them. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Not before it; `""` when not known. */
  readonly firstAt: string;
  /** Not after it; `END_OF_TIME` when not known. */
  readonly lastAt: string;
}

export interface StretchQuery {
  /** Only those that may have records up to this time; `END_OF_TIME` for all. */
  readonly upTo: string;
  /** Only those that may have records from this time on; `""` for all. */
  readonly from: string;
  /** Of those that end before `upTo`; the others all come. 1 or more. */
  readonly limit: number;
}

export interface RecordQuery {
  /** Only records before it in the order of the log. */
  readonly before: AuditPlace;
  /** Only records from this time on. */
  readonly from: string;
  /** Only records of the account or about the person; null for all. */
  readonly names: AuditNames | null;
  /** 1 or more. */
  readonly limit: number;
}

/**
 * Looks through the audit log back in time, for administrators. Stretches come from an index that is not verified with the
 * log. Every method throws `store_unavailable`, and holds up lookups for some milliseconds at most.
 */
export interface AuditSearch {
  /**
   * Stretches by `lastAt`, the latest first. Every record that is in the log by now is in one of them, and in no other, as
   * far as the query asks for it; the stretches stay what they are while the log grows.
   */
  stretches(query: StretchQuery): Promise<readonly AuditStretch[]>;

  /** Records of a stretch, newest first by time, then by place; damaged ones without a place are left out. */
  records(stretch: AuditStretch, query: RecordQuery): Promise<readonly AuditRecord[]>;

  /** What the log has in place of a username, whoever it belonged to. */
  namesOf(username: string): Promise<AuditNames>;

  /** Usernames by the ids of accounts, as far as there are such accounts. */
  accountNames(accountIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
