// A file that everything is moved from, or to. D-10.7.
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { AppError } from "../../../domain/shared/errors.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  PortableEntry,
  PortablePart,
  PortableStore,
  PortableTarget,
} from "../../../ports/copies/portable-store.ts";
import type { AnyCollection } from "../../../ports/documents.ts";
import { makeDatabaseFile } from "../driver/database-file.ts";
import type { OpenSqlite, SqliteConnection } from "../driver/driver.ts";
import { storeError } from "../driver/result-codes.ts";
import { quotedName } from "../driver/unique-keys.ts";
import { claimEmptyFile, holdAlone, removeRemains } from "./claim-empty-file.ts";
import { PortableFile } from "./portable-file.ts";
import { allRows, run } from "./raw-connection.ts";

/** Makes all tables in the file of a path, as a start does. */
export type PrepareFile = (path: string) => Promise<void>;

export interface FileSource extends PortableStore {
  /** Tables with rows that are not among these. */
  unknownTables(names: readonly string[]): readonly string[];
  close(): void;
}

/** Takes a prepared file for this process alone. Throws `invalid_request` when another one has it open. */
export async function openFileSource(
  openSqlite: OpenSqlite,
  path: string,
  collections: readonly AnyCollection[],
): Promise<FileSource> {
  const connection = await openSqlite(resolve(path));
  try {
    holdAlone(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  const file = new PortableFile(connection, collections);
  return {
    read: (part, tables) => file.read(part, tables),
    readRows: (table) => file.readRows(table),
    unknownTables(names) {
      const known = allRows(connection, "SELECT name FROM repsync_tables").map((row) =>
        String(row["name"]),
      );
      return known.filter((name) => !names.includes(name) && hasRows(connection, name));
    },
    close: () => connection.close(),
  };
}

/** Throws `invalid_request` for a file that is not empty or that another process has open. */
export async function openFileTarget(
  openSqlite: OpenSqlite,
  path: string,
  {
    adminUsername,
    collections,
    prepare,
  }: {
    readonly adminUsername: string | null;
    readonly collections: readonly AnyCollection[];
    prepare: PrepareFile;
  },
): Promise<PortableTarget> {
  if (path === ":memory:") {
    throw new AppError("invalid_request", "A store in memory ends with its process: name a file");
  }
  const target = resolve(path);
  const isNew = (await stat(target).catch(() => null)) === null;
  await makeDatabaseFile(target).catch((cause: unknown) => {
    const text = "The file of the new store cannot be made: check its folder";
    throw new AppError("store_unavailable", text, { cause });
  });
  const claim = await claimEmptyFile(openSqlite, target, adminUsername);
  const temp = join(dirname(target), `.${basename(target)}.move-${process.pid}`);
  const remove = async (paths: readonly string[]) => {
    for (const one of paths) await rm(one, { force: true }).catch(() => {});
  };
  const temps = ["", "-wal", "-shm", "-journal"].map((suffix) => `${temp}${suffix}`);
  await removeRemains(target, "move");
  let connection: SqliteConnection;
  try {
    await prepare(temp);
    connection = await openSqlite(temp);
    run(connection, "PRAGMA journal_mode = DELETE");
    // It counts only once it is complete and on the disk.
    run(connection, "PRAGMA synchronous = OFF");
  } catch (error) {
    claim.release();
    await remove(isNew ? [...temps, target] : temps);
    throw error;
  }
  return new FileTarget(connection, new PortableFile(connection, collections), {
    async finish() {
      connection.close();
      const file = await open(temp, "r+");
      await file.sync().finally(() => file.close());
      await rename(temp, target);
      const folder = await open(dirname(target), "r");
      await folder.sync().finally(() => folder.close());
      claim.release();
    },
    async giveUp() {
      connection.close();
      claim.release();
      await remove(isNew ? [...temps, target] : temps);
    },
  });
}

class FileTarget implements PortableTarget {
  readonly #connection: SqliteConnection;
  readonly #file: PortableFile;
  readonly finish: () => Promise<void>;
  readonly giveUp: () => Promise<void>;

  constructor(
    connection: SqliteConnection,
    file: PortableFile,
    { finish, giveUp }: Pick<PortableTarget, "finish" | "giveUp">,
  ) {
    this.#connection = connection;
    this.#file = file;
    this.finish = finish;
    this.giveUp = giveUp;
  }

  read(part: PortablePart, tables: readonly Table[]) {
    return this.#file.read(part, tables);
  }

  readRows(table: Table) {
    return this.#file.readRows(table);
  }

  async write(
    part: PortablePart,
    entries: readonly PortableEntry[],
    tables: readonly Table[],
  ): Promise<void> {
    this.#told(() => this.#file.write(part, entries, tables));
  }

  async writeRows(table: Table, rows: readonly Row[]): Promise<void> {
    this.#told(() => this.#file.writeRows(table, rows));
  }

  #told(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw storeError("commit_failed", this.#connection.resultCode(error), error);
    }
  }
}

function hasRows(connection: SqliteConnection, name: string): boolean {
  const isThere = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
  if (allRows(connection, isThere, [name]).length === 0) return false;
  return allRows(connection, `SELECT 1 FROM ${quotedName(name)} LIMIT 1`).length > 0;
}
