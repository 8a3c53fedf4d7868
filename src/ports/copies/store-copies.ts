// Whole stores: copied into a file, and back. D-10.7.
import type { Row, Table } from "../../domain/sync/table/table.ts";
import type { DumpedPart, DumpedSource, DumpedStore, StoreKind } from "./store-dump.ts";

/** The facts that a backup states about itself. */
export interface BackupFacts {
  readonly store: StoreKind;
  /** The format of the store that it was made of. */
  readonly format: number;
  /** Canonical time. */
  readonly madeAt: string;
  /** The version of repsync that made it. */
  readonly version: string;
  /** Names of the secrets that the environment set: they are not in it. */
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

/** An opened store that is backed up. */
export interface StoreCopies extends DumpedSource {
  /**
   * Writes everything of the store, as it is at one moment, into a file of its own kind, while others go on using it, and
   * checks what was written; absent where a backup is an archive of `dump`. Throws `invalid_request` for a store that no file
   * can be made of, `store_unavailable`, and `file_failed`, as for a full disk; what the file holds then is worth nothing.
   */
  backUp?(job: BackUpJob): Promise<CopyCounts>;
}

/** A backup that was read to its end. */
export interface CheckedBackup {
  readonly facts: BackupFacts;
  readonly counts: CopyCounts;
}

/** The file of a backup, of whatever kind of store. */
export interface Backup extends DumpedSource {
  /** The kind of store whose own file it is, and which takes it as it is; null for an archive. */
  readonly ownFileOf: StoreKind | null;

  /**
   * Reads all of it. Throws `invalid_request` for what is no backup or one of another version, `file_failed` for one that
   * does not hold what it held at first, and the reason to stop.
   */
  check(job: CopyJob): Promise<CheckedBackup>;
}

/** A store that nobody else uses, or takes to fill it, from `requireStopped` to `close`. */
export interface StoppedStore extends DumpedSource {
  /** Throws `invalid_request` when a service or another command uses it. */
  requireStopped(): Promise<void>;
  close(): Promise<void>;
}

/** True when a document of a collection is one of the deployment that begins. */
export type IsKept = (collection: string, doc: object) => boolean;

/** For what an empty store is taken. */
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

  /** Why the columns of a table cannot hold a row, or a key alone, each told; absent where they hold everything. D-12.5. */
  refusals?(table: Table, row: Row): readonly string[];

  /** Makes the tables, with what is known of their deletes and numbers; to be called first. */
  begin(about: DumpedStore): Promise<void>;

  /** Keeps items durably by the time of `finish`. Throws `store_unavailable`. */
  write(part: DumpedPart): Promise<void>;

  /**
   * Takes the whole file of a backup in place of `begin` and `write`, without the documents that are not kept; absent where
   * a backup of this kind of store is no file of the store's own.
   */
  takeBackup?(path: string, isKept: IsKept, stop?: AbortSignal): Promise<void>;

  /** Gives the store an id, by which services know a deployment, and lets them use it. */
  finish(deploymentId: string): Promise<void>;

  /** Leaves it empty. Never rejects. */
  giveUp(): Promise<void>;
}

/** A file that gets its name when it is complete. */
export interface NewBackupFile {
  /** An empty file in the same folder, which only its owner may read. */
  readonly tempPath: string;

  /** Waits for the disk and gives the file its name: its bytes. Throws `file_failed`, `invalid_request` when the name is taken by now. */
  commit(): Promise<number>;

  /** Removes what was written. Never rejects. */
  abandon(): Promise<void>;
}

export interface NewBackupOptions {
  /** Replaces a file of that name. */
  readonly isForced: boolean;
  /** Files that must not be replaced in any case: those of the store. */
  readonly storePaths: readonly string[];
}

export interface BackupFiles {
  /** Throws `invalid_request` when there is a file of that name, or a folder, or one of the store; `file_failed`. */
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
