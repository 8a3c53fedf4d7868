// Whole stores: copied into a file, and back. D-10.7.
import type { Row, Table } from "../../domain/sync/table/table.ts";
import type { DumpedPart, DumpedSource, DumpedStore, StoreKind } from "./store-dump.ts";

/** The facts that a backup states about itself. */
export interface BackupFacts {
  readonly store: StoreKind;
  readonly format: number;
  /** Canonical time. */
  readonly madeAt: string;
  readonly version: string;
  /** Names of secrets that the environment sets, which the backup lacks. */
  readonly outsideSecrets: readonly string[];
}

export interface CopyCounts {
  /** Tables of rows, without the service's own. */
  readonly tables: number;
  readonly rows: number;
  readonly accounts: number;
}

export interface CopyProgress {
  /** Rows and documents so far. */
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

export interface StoreCopies extends DumpedSource {
  /**
   * Writes the whole store, of one moment, into a file of its own kind, and checks the file; others go on using the store. Absent
   * where a backup is an archive of `dump`. Throws `invalid_request` for a store that no file can be made of, `store_unavailable`,
   * and `file_failed`, as for a full disk; the file is worth nothing then.
   */
  backUp?(job: BackUpJob): Promise<CopyCounts>;
}

export interface CheckedBackup {
  readonly facts: BackupFacts;
  readonly counts: CopyCounts;
}

/** The file of a backup, of whatever kind of store. */
export interface Backup extends DumpedSource {
  /** The kind of store whose own file the backup is; null for an archive. */
  readonly ownFileOf: StoreKind | null;

  /** Reads all. Throws `invalid_request` for no backup or another version, `file_failed` for a damaged one, and the stop's reason. */
  check(job: CopyJob): Promise<CheckedBackup>;
}

/** A store that nobody else uses or fills, from `requireStopped` to `close`. */
export interface StoppedStore extends DumpedSource {
  /** Throws `invalid_request` when a service or another command uses it. */
  requireStopped(): Promise<void>;
  close(): Promise<void>;
}

/** True for a document that the deployment begun from a backup takes over. */
export type IsKept = (collection: string, doc: object) => boolean;

/** Why an empty store is taken, and what will be in it. */
export interface StoreClaim {
  /** The one account that it may have. */
  readonly adminUsername: string | null;
  /** Tables that will be filled. */
  readonly tables: readonly string[];
  readonly by: "restore" | "move";
}

/** An empty store that this process alone has taken, to fill it. Nothing may use it until `finish`. */
export interface EmptyStore extends DumpedSource {
  readonly kind: StoreKind;

  /** Every reason why the columns of a table cannot hold a row, or a key alone; absent where they hold everything. D-12.5. */
  refusals?(table: Table, row: Row): readonly string[];

  /** Makes the tables, with their deletes and numbers; the first call. */
  begin(about: DumpedStore): Promise<void>;

  /** Keeps items, durably once `finish` has resolved. Throws `store_unavailable`. */
  write(part: DumpedPart): Promise<void>;

  /** In place of `begin` and `write`, without documents that are not kept; absent where backups are no files of the store's own. */
  takeBackup?(path: string, isKept: IsKept, stop?: AbortSignal): Promise<void>;

  /** Gives the store the id of its deployment, and lets services use it. */
  finish(deploymentId: string): Promise<void>;

  /** Never rejects; the store is then empty. */
  giveUp(): Promise<void>;
}

/** A file that gets its name when it is complete. */
export interface NewBackupFile {
  /** An empty file in the same folder, which only its owner may read. */
  readonly tempPath: string;

  /** Waits for the disk, names the file, and resolves to its bytes. Throws `file_failed`, `invalid_request` for a taken name. */
  commit(): Promise<number>;

  /** Removes what was written. Never rejects. */
  abandon(): Promise<void>;
}

export interface NewBackupOptions {
  readonly isForced: boolean;
  /** Files of the store, which are never replaced. */
  readonly storePaths: readonly string[];
}

export interface BackupFiles {
  /** Throws `invalid_request` for the name of a file that is there, of a folder, or of the store; and `file_failed`. */
  begin(path: string, options: NewBackupOptions): Promise<NewBackupFile>;

  /** Writes lines, compressed, into an empty file. Throws `file_failed`, and what the lines throw. */
  writeLines(path: string, lines: AsyncIterable<string>): Promise<void>;

  /** The lines of such a file. Throws `file_failed` for one that is damaged. */
  readLines(path: string): AsyncIterable<string>;

  /** As `Backup.ownFileOf`. Throws `invalid_request` for a file that is not there or is no backup. */
  ownFileOf(path: string): Promise<StoreKind | null>;

  /** The names of the files in a folder. Throws `invalid_request` where there is none, and `file_failed`. */
  list(folder: string): Promise<readonly string[]>;

  /** Makes a folder that only its owner may read, unless there is one. Throws `file_failed`. */
  makeFolder(folder: string): Promise<void>;

  /** Removes a file, if there is one. Throws `file_failed`. */
  remove(path: string): Promise<void>;
}
