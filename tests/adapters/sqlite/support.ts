// Files for the tests of SQLite, and other tools' hands on them.

import { Database } from "bun:sqlite";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBunSqlite } from "../../../src/adapters/sqlite/driver/bun-driver.ts";
import type { OpenSqlite } from "../../../src/adapters/sqlite/driver/connection.ts";
import { SqliteStorage, type SqliteStoreOptions } from "../../../src/adapters/sqlite/storage.ts";
import { SystemClock } from "../../../src/adapters/system/system.ts";
import { COLLECTIONS } from "../../../src/repositories/collections.ts";
import { type RunParts, withRunParts } from "../../support/run-parts.ts";

/** A database file in a folder of its own. */
export class SqliteFile {
  readonly folder: string;
  readonly path: string;
  readonly #opened: { close(): unknown }[] = [];

  private constructor(folder: string) {
    this.folder = folder;
    this.path = join(folder, "test.db");
  }

  /** Makes a folder of its own; the file is there once it is opened. */
  static async make(): Promise<SqliteFile> {
    return new SqliteFile(await mkdtemp(join(tmpdir(), "repsync-sqlite-")));
  }

  /** Runs a test on a new file, and removes it after. */
  static async use(body: (file: SqliteFile) => Promise<void>): Promise<void> {
    const file = await SqliteFile.make();
    try {
      await body(file);
    } finally {
      await file.dispose();
    }
  }

  /** Closes what was opened, and removes the folder. */
  async dispose(): Promise<void> {
    for (const opened of this.#opened) await opened.close();
    await rm(this.folder, { recursive: true });
  }

  /** Opens the file as the service does. */
  async open(
    options?: Partial<SqliteStoreOptions>,
    openSqlite: OpenSqlite = openBunSqlite,
  ): Promise<SqliteStorage & RunParts> {
    const storage = await SqliteStorage.open(openSqlite, this.path, {
      clock: new SystemClock(),
      collections: COLLECTIONS,
      ...options,
    });
    this.#opened.push(storage);
    return withRunParts(storage);
  }

  /** Opens the file as another tool does. */
  openElsewhere(): Database {
    const database = new Database(this.path);
    this.#opened.push(database);
    return database;
  }
}
