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

/** Files of backups. */
export interface BackupFiles {
  /** Throws `invalid_request` when there is a file of that name, or a folder, or one of the store; `file_failed`. */
  begin(path: string, options: NewBackupOptions): Promise<NewBackupFile>;

  /** Writes lines, compressed, into an empty file. Throws `file_failed`, and what the lines throw. */
  writeLines(path: string, lines: AsyncIterable<string>): Promise<void>;

  /** The lines of such a file. Throws `file_failed` for one that is damaged. */
  readLines(path: string): AsyncIterable<string>;

  /** What a backup is: a file of SQLite, or an archive. Throws `invalid_request` for a file that is not there or is none. */
  formOf(path: string): Promise<"sqlite" | "archive">;

  /** The names of the files in a folder; none when there is no folder. Throws `file_failed`. */
  list(folder: string): Promise<readonly string[]>;

  /** Makes a folder that only its owner may read, unless there is one. Throws `file_failed`. */
  makeFolder(folder: string): Promise<void>;

  /** Removes a file, if there is one. Throws `file_failed`. */
  remove(path: string): Promise<void>;
}
