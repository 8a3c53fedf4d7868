import { statSync } from "node:fs";
import { AppError } from "../../domain/errors.ts";

/**
 * Remembers which file was opened. SQLite goes on writing to a file that was deleted or replaced since, and everything
 * it acknowledges is lost at exit.
 */
export class FileIdentity {
  readonly path: string;
  readonly #opened: string;

  /** Takes the file that is at the path now. */
  constructor(path: string) {
    this.path = path;
    this.#opened = identityOf(path);
  }

  /** Throws `store_unavailable` when another file, or none, is at the path by now. */
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
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path);
  return `${dev}:${ino}`;
}
