import type { AccessItem } from "../../domain/reputation/audit/access-item.ts";
import type {
  AuditHead,
  PruningCheckpoint,
  Signed,
} from "../../domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../domain/reputation/audit/audit-check.ts";
import type { ChainCount } from "../../domain/reputation/audit/chain-count.ts";

/** A place in a person's access log: the time and id of an item. */
export interface AccessPosition {
  readonly at: string;
  readonly id: string;
}

export interface AccessPage {
  /** 1 or more. */
  readonly limit: number;
  /** Null for the newest ones. */
  readonly before: AccessPosition | null;
}

export interface RecordPage {
  /** Null for the very first. */
  readonly afterSeq: number | null;
  /** 1 or more. */
  readonly limit: number;
}

/**
 * Reads the audit log, for its verification and for the people in it; `LookupProcessor` writes it.
 * Every method throws `store_unavailable`; those that write also `commit_failed`.
 */
export interface AuditLog {
  /** Null before the first chain. */
  chainCount(): Promise<Signed<ChainCount> | null>;

  /**
   * Whether a record was ever written. Kept with the settings of the deployment, in the commit that begins a chain, so that
   * a log that was removed whole shows.
   */
  wasBegun(): Promise<boolean>;

  /** In any order. */
  heads(): Promise<readonly Signed<AuditHead>[]>;

  /** The head of one chain as it is now; null when there is none. */
  head(chainId: string): Promise<Signed<AuditHead> | null>;

  checkpoints(): Promise<readonly Signed<PruningCheckpoint>[]>;

  /** Ids of all chains that have at least one record, whatever the heads say. */
  chainIds(): Promise<readonly string[]>;

  /**
   * Records of one chain in the order of `seq`, with every stored field: the first `limit` after `afterSeq`, or from the
   * very first, whatever their `seq` holds. Two records with one `seq` both come.
   */
  records(chainId: string, page: RecordPage): Promise<readonly StoredRecord[]>;

  /**
   * Removes the records of a chain up to and including the checkpoint's and replaces the chain's checkpoint before, in
   * one commit.
   */
  prune(checkpoint: Signed<PruningCheckpoint>): Promise<void>;

  /**
   * Who looked a person up: newest first by time, then by chain and place descending; at most `limit`, only those after
   * the position when given. Empty for a person that was never looked up. Callers whose accounts are gone have no name.
   */
  accessLog(username: string, page: AccessPage): Promise<readonly AccessItem[]>;
}
