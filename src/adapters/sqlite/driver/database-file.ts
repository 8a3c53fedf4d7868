import { statSync } from "node:fs";
import { mkdir, open, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError, codeOf, orElse } from "../../../domain/shared/errors.ts";
import { FILE_HINT } from "./errors.ts";

/** Makes a file for its owner alone, and its folder. An existing file is not opened: closing it would drop locks of this process. */
export async function makeDatabaseFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  try {
    const file = await open(path, "wx", 0o600);
    await file.close();
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** Remembers the opened file: SQLite goes on writing to a file that was deleted or replaced, and loses everything at exit. */
export class DatabaseFile {
  /** The path behind links, where SQLite keeps the log. */
  readonly #realPath: string;
  readonly path: string;
  readonly #opened: string;
  /** Identities of the log and its index, once they exist; both stay while the file is open. */
  readonly #companions = new Map<string, string>();

  private constructor(path: string, realPath: string) {
    this.#realPath = realPath;
    this.path = path;
    this.#opened = identityOf(path);
  }

  static async find(path: string): Promise<DatabaseFile> {
    return new DatabaseFile(path, await realpath(path));
  }

  /** True where a program has a log open, or has left one. */
  get hasLog(): boolean {
    return identityIfThere(`${this.#realPath}-wal`) !== null;
  }

  /** Throws `store_unavailable` when the file or its log was deleted or replaced. */
  check(): void {
    let found: string;
    try {
      found = identityOf(this.path);
    } catch (cause) {
      throw new AppError("store_unavailable", "The database file is gone", {
        cause,
        hint: FILE_HINT,
      });
    }
    if (found !== this.#opened) {
      const hint = "Restart the service";
      throw new AppError("store_unavailable", "The database file was replaced", { hint });
    }
    this.#checkLog();
  }

  /** Syncs the log before the commit, so that the commit has less to sync. Never rejects. */
  async syncLog(): Promise<void> {
    try {
      // SQLite locks the file and not the log, so closing the log drops no lock.
      const log = await open(`${this.#realPath}-wal`, "r+");
      await log.datasync().finally(() => log.close());
    } catch {
      // The commit syncs the log, or fails.
    }
  }

  #checkLog(): void {
    for (const suffix of ["-wal", "-shm"]) {
      const opened = this.#companions.get(suffix);
      const found = identityIfThere(`${this.#realPath}${suffix}`);
      if (opened === undefined) {
        if (found !== null) this.#companions.set(suffix, found);
      } else if (found !== opened) {
        const message = `The database's ${suffix} file is gone or was replaced`;
        throw new AppError("store_unavailable", message, { hint: "Restart the service" });
      }
    }
  }
}

function identityIfThere(path: string): string | null {
  return orElse(null, () => identityOf(path));
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path);
  return `${dev}:${ino}`;
}
