import { statSync } from "node:fs";
import { AppError } from "../../../domain/shared/errors.ts";

/**
 * Remembers which file was opened. SQLite goes on writing to a file that was deleted or replaced since, and everything
 * it acknowledges is lost at exit.
 */
export class FileIdentity {
  readonly path: string;
  readonly #opened: string;
  readonly #realPath: string;
  /** Of the log and its index, once they are there; they stay while the file is open. */
  readonly #companions = new Map<string, string>();

  /** Takes the file that is at the path now; `realPath` is where links lead, and the log lies. */
  constructor(path: string, realPath: string) {
    this.path = path;
    this.#realPath = realPath;
    this.#opened = identityOf(path);
  }

  /** Throws `store_unavailable` when another file, or none, is at the path by now, or in the places of its log. */
  check(): void {
    let found: string;
    try {
      found = identityOf(this.path);
    } catch (cause) {
      throw new AppError("store_unavailable", "The database file is gone", { cause });
    }
    if (found !== this.#opened) {
      throw new AppError("store_unavailable", "The database file was replaced");
    }
    this.#checkLog();
  }

  #checkLog(): void {
    for (const suffix of ["-wal", "-shm"]) {
      const opened = this.#companions.get(suffix);
      const found = identityIfThere(`${this.#realPath}${suffix}`);
      if (opened === undefined) {
        if (found !== null) this.#companions.set(suffix, found);
      } else if (found !== opened) {
        const message = `The database's ${suffix} file is gone or was replaced; restart the service`;
        throw new AppError("store_unavailable", message);
      }
    }
  }
}

function identityIfThere(path: string): string | null {
  try {
    return identityOf(path);
  } catch {
    return null;
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path);
  return `${dev}:${ino}`;
}
