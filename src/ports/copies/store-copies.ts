// Whole stores: copied into a file, and back. D-10.7.

/** What a backup tells of itself. */
export interface BackupFacts {
  readonly store: "sqlite" | "mongodb";
  /** The format of the store that it was made of. */
  readonly format: number;
  /** Canonical time. */
  readonly madeAt: string;
  /** The version of repsync that made it. */
  readonly version: string;
  /** Names of the secrets that the environment set: they are not in it. */
  readonly outsideSecrets: readonly string[];
}

/** What a copy holds. */
export interface CopyCounts {
  /** Tables of rows, without the service's own. */
  readonly tables: number;
  readonly rows: number;
  readonly accounts: number;
}

export interface CopyProgress {
  /** Rows and entries of the service so far. */
  readonly rows: number;
  /** From 0 to 1; null while the total is unknown. */
  readonly part: number | null;
}

export interface CopyJob {
  readonly onProgress?: (progress: CopyProgress) => void;
  /** Ends the job as soon as may be; its reason is thrown. */
  readonly stop?: AbortSignal;
}

export interface BackUpJob extends CopyJob {
  /** An empty file that only its owner may read. */
  readonly path: string;
  readonly facts: Omit<BackupFacts, "store" | "format">;
}

export interface StoreCopies {
  /**
   * Writes everything of the store, as it is at one moment, into a file, while others go on using the store, and checks what
   * was written. Throws `invalid_request` for a store that no file can be made of, `store_unavailable`, and `file_failed`,
   * as for a full disk; what the file holds then is worth nothing.
   */
  backUp(job: BackUpJob): Promise<CopyCounts>;
}

/** What the store of a backup keeps of the pepper; null where it keeps nothing. */
export interface KeptPepper {
  /** The pepper that the store made itself. */
  readonly pepper: string | null;
  /** By which the pepper is known that the store began with. */
  readonly mark: string | null;
}

export interface RestoreJob extends CopyJob {
  readonly path: string;
  /** The one account that a store to be filled may have. */
  readonly adminUsername: string | null;
  /** Told what the backup is before anything is written; throws to refuse it. */
  readonly check: (facts: BackupFacts, kept: KeptPepper) => void;
}

export interface Restored extends CopyCounts {
  readonly facts: BackupFacts;
  /** Sessions that were ended. */
  readonly sessions: number;
}

/**
 * Fills an empty store from a backup, all of it or nothing, and compares each row with the backup. The store gets an id of
 * its own, and no session. Throws `invalid_request`, with the store as it was, for a store that is not empty, that a
 * service holds, or that is of another kind, and for a file that is no backup; `file_failed` for one that is damaged;
 * `store_unavailable`.
 */
export type RestoreStore = (job: RestoreJob) => Promise<Restored>;
