// The file of a store: its connections, its log, and whether it is still the one that was opened.
import { statSync } from "node:fs";
import { mkdir, open, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { AppError, codeOf, orElse } from "../../../domain/shared/errors.ts";
import {
  CHECKPOINT_PAGES,
  OpenConnection,
  type OpenSqlite,
  PRAGMAS,
  READ_ONLY_PRAGMAS,
  READER_PRAGMAS,
} from "./connection.ts";
import { FILE_HINT, storeError } from "./errors.ts";
import { type TimeLimit, whileBusy } from "./run-body.ts";

export interface OpenFile {
  readonly writer: OpenConnection;
  /** For reads, and for read bodies, one at a time. Null for `:memory:`, which has one connection, and for a file that is only read. */
  readonly readers: readonly [OpenConnection, OpenConnection] | null;
  /** Null for `:memory:`. */
  readonly file: DatabaseFile | null;
}

/** Opens or makes a file with its folder, or `:memory:`. Throws `store_unavailable` when it cannot be opened or is no database. */
export async function openFile(
  openSqlite: OpenSqlite,
  path: string,
  limit: TimeLimit,
): Promise<OpenFile> {
  const filePath = path === ":memory:" ? null : resolve(path);
  const opened: OpenConnection[] = [];
  const connect = async (pragmas: Readonly<Record<string, string | number>>) => {
    const connection = new OpenConnection(await openSqlite(filePath ?? path));
    opened.push(connection);
    const { driver } = connection;
    // Some settings read the file, which another process may be opening.
    await whileBusy(driver, limit, () => connection.set(pragmas)).catch((error) => {
      throw storeError("store_unavailable", driver.resultCode(error), error);
    });
    return connection;
  };
  try {
    if (filePath !== null) await makeDatabaseFile(filePath);
    const file = filePath === null ? null : await DatabaseFile.find(filePath);
    const writer = await connect(PRAGMAS);
    if (file === null) return { writer, readers: null, file };
    return {
      writer,
      readers: [await connect(READER_PRAGMAS), await connect(READER_PRAGMAS)],
      file,
    };
  } catch (cause) {
    for (const connection of opened) connection.close();
    throw unopened(cause);
  }
}

/** Opens an existing file to read it: no byte of it or beside it changes. Throws `store_unavailable` when it cannot be opened. */
export async function openFileReadOnly(openSqlite: OpenSqlite, path: string): Promise<OpenFile> {
  try {
    const file = await DatabaseFile.find(path);
    // A read-only connection does not copy an existing log into the file when it closes; only a writing one removes the log that
    // reading makes.
    const writer = new OpenConnection(await openSqlite(path, file.hasLog));
    writer.set(READ_ONLY_PRAGMAS);
    return { writer, readers: null, file };
  } catch (cause) {
    throw unopened(cause);
  }
}

function unopened(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const text = "The database cannot be opened";
  return new AppError("store_unavailable", text, { cause, hint: FILE_HINT });
}

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

/** The cache during a long write; negative numbers are KiB. */
const LONG_WRITE_CACHE = -16_384;

const WORKER = new URL("./checkpoint-worker.ts", import.meta.url);

/** Copies the log to the file: in a commit, or after a long write in another thread. */
export class Checkpoints {
  readonly #connection: OpenConnection;
  /** Null for `:memory:`. */
  readonly #path: string | null;
  #isLong = false;
  #isAside = false;
  #isClosed = false;
  #copying: Promise<void> | undefined;

  constructor(connection: OpenConnection, path: string | null) {
    this.#connection = connection;
    this.#path = path;
  }

  /** Sets the pages in the log at which a commit copies it. Does nothing while the log is left to another thread. */
  copyAt(pages: number): void {
    if (!this.#isAside && !this.#isClosed) this.#connection.set({ wal_autocheckpoint: pages });
  }

  /** Spills pages of the running write into the log before its commit, and leaves the log to another thread where there is one. */
  beginLongWrite(): void {
    if (this.#isLong) return;
    this.#isLong = true;
    this.#connection.set({ cache_size: LONG_WRITE_CACHE });
    if (this.#path === null || this.#connection.driver.runAside === undefined) return;
    this.copyAt(0);
    this.#isAside = true;
  }

  /** Starts to copy a log that was left to another thread. */
  endWrite(): void {
    if (!this.#isLong || this.#isClosed) return;
    this.#isLong = false;
    this.#connection.set({ cache_size: PRAGMAS.cache_size });
    if (!this.#isAside) return;
    const onEnd = () => {
      this.#isAside = false;
      this.copyAt(CHECKPOINT_PAGES);
    };
    // A later commit copies the log when the thread fails, or does not start.
    const copy = async () => this.#connection.driver.runAside?.(WORKER, this.#path).ended;
    this.#copying = copy().then(onEnd, onEnd);
  }

  /** Waits for the other thread; to be called before the connection is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#copying;
  }
}
