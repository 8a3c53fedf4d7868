// Fills a file beside an empty store and then renames it, so that a half store never exists. D-10.7.
import { createReadStream, createWriteStream } from "node:fs";
import { open, readdir, rename, rm, stat, truncate } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { AppError } from "../../../domain/shared/errors.ts";
import { checkFormat, fileFailure, storeNotEmpty } from "../../../domain/shared/store-format.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { EmptyStore, IsKept } from "../../../ports/copies/store-copies.ts";
import {
  type Dump,
  type DumpedPart,
  type DumpedRow,
  type DumpedStore,
  type DumpedTable,
  type DumpedTombstone,
  named,
  tableOf,
} from "../../../ports/copies/store-dump.ts";
import type { AnyCollection } from "../../../ports/documents.ts";
import { CollectionTable } from "../documents/collection-table.ts";
import { OpenConnection, type OpenSqlite, type SqliteValue } from "../driver/connection.ts";
import { makeDatabaseFile } from "../driver/database-file.ts";
import { storeError } from "../driver/errors.ts";
import { quotedName } from "../driver/schema.ts";
import { readFacts } from "../driver/store-facts.ts";
import { boundValues, valueEncoder } from "../tables/column-values.ts";
import { keptTime, TombstoneNames } from "../tables/tombstone-sql.ts";
import { dumpConnection, holdAlone, isRowTable, tableNames } from "./file-dump.ts";
import { BACKUP_TABLE, SEAL_BYTES } from "./sealed-file.ts";

interface EmptyFileOptions {
  readonly openSqlite: OpenSqlite;
  readonly path: string;
  /** The only account that the file may have. */
  readonly adminUsername: string | null;
  readonly collections: readonly AnyCollection[];
  /** Makes the tables in the file at a path, as a start does. */
  readonly prepare: (path: string, tables: readonly Table[]) => Promise<void>;
}

export class EmptyFile implements EmptyStore {
  readonly kind = "sqlite";
  readonly #options: EmptyFileOptions;
  readonly #target: string;
  readonly #temp: string;
  /** Holds the target until it is closed. */
  readonly #claim: OpenConnection;
  /** True where the claim made the file. */
  readonly #isNew: boolean;
  #connection: OpenConnection | null = null;
  #tables: readonly Table[] = [];

  private constructor(options: EmptyFileOptions, claim: OpenConnection, isNew: boolean) {
    this.#options = options;
    this.#target = resolve(options.path);
    this.#temp = join(dirname(this.#target), `.${basename(this.#target)}.fill-${process.pid}`);
    this.#claim = claim;
    this.#isNew = isNew;
  }

  /** Throws `invalid_request` for a file that is not empty, or that another process has open. */
  static async claim(options: EmptyFileOptions): Promise<EmptyFile> {
    const { openSqlite, path, adminUsername } = options;
    if (path === ":memory:") {
      const text = "A store in memory ends with its process";
      throw new AppError("invalid_request", text, { hint: "Name a file" });
    }
    const target = resolve(path);
    const isNew = (await stat(target).catch(() => null)) === null;
    await makeDatabaseFile(target).catch((cause: unknown) => {
      const text = "The file of the new store cannot be made";
      throw new AppError("store_unavailable", text, { cause, hint: "Check its folder" });
    });
    // A refused file is not removed: another process may have filled it by now.
    const claim = await claimEmptyFile(openSqlite, target, adminUsername);
    await removeRemains(target);
    return new EmptyFile(options, claim, isNew);
  }

  async begin({ tables }: DumpedStore): Promise<void> {
    this.#tables = tables.map(tableOf);
    await this.#options.prepare(this.#temp, this.#tables);
    const connection = await this.#open();
    for (const table of tables) this.#asStoreError(() => setDeletes(connection, table));
  }

  /** Takes the whole file of a backup, except documents that are not kept. Replaces `begin` and `write`. */
  async takeBackup(path: string, isKept: IsKept, stop?: AbortSignal): Promise<void> {
    try {
      const target = createWriteStream(this.#temp, { flags: "w", mode: 0o600 });
      await pipeline(createReadStream(path), target, stop === undefined ? {} : { signal: stop });
      await truncate(this.#temp, (await stat(this.#temp)).size - SEAL_BYTES);
    } catch (error) {
      throw stop?.aborted ? stop.reason : fileFailure("The store", error);
    }
    const connection = await this.#open();
    const left = this.#options.collections.filter(({ isCopied = true }) => !isCopied);
    const removals: (readonly [sql: string, key: SqliteValue])[] = [];
    for await (const part of (await this.dump()).parts) {
      if (part.of !== "documents") break;
      const collection = this.#collection(part.name);
      for (const doc of part.items.filter((item) => !isKept(part.name, item))) {
        const [key = null] = collection.valuesOf(doc);
        removals.push([collection.remove, key]);
      }
    }
    this.#asStoreError(() => {
      for (const { name } of [...left, { name: "moment" }]) {
        connection.run(`DELETE FROM repsync_${name}`);
      }
      connection.run(`DROP TABLE ${BACKUP_TABLE}`);
      for (const [sql, key] of removals) connection.run(sql, [key]);
    });
  }

  async write(part: DumpedPart): Promise<void> {
    this.#asStoreError(() => {
      if (part.of === "documents") {
        const collection = this.#collection(part.name);
        const values = part.items.map((doc) => collection.valuesOf(doc));
        this.#commit(collection.put, values);
      } else {
        const table = named(this.#tables, part.name);
        if (part.of === "rows") this.#writeRows(table, part.items);
        else this.#writeTombstones(table, part.items);
      }
    });
  }

  async dump(): Promise<Dump> {
    return dumpConnection(this.#opened, this.#options.collections);
  }

  async finish(deploymentId: string): Promise<void> {
    try {
      const set = "UPDATE repsync_store SET value = ? WHERE name = 'deployment_id'";
      this.#asStoreError(() => this.#opened.run(set, [deploymentId]));
      this.#close();
      await sync(this.#temp, "r+");
      await rename(this.#temp, this.#target);
      await sync(dirname(this.#target), "r");
    } catch (error) {
      throw fileFailure("The store", error);
    }
    this.#claim.close();
  }

  async giveUp(): Promise<void> {
    this.#close();
    const temps = ["", "-wal", "-shm", "-journal"].map((suffix) => `${this.#temp}${suffix}`);
    // Removed before the claim ends, as another process may claim the file then.
    for (const path of this.#isNew ? [...temps, this.#target] : temps) {
      await rm(path, { force: true }).catch(() => {});
    }
    this.#claim.close();
  }

  get #opened(): OpenConnection {
    if (this.#connection === null) throw new Error("The file is not begun");
    return this.#connection;
  }

  async #open(): Promise<OpenConnection> {
    const connection = new OpenConnection(await this.#options.openSqlite(this.#temp));
    this.#connection = connection;
    // The file counts only once it is complete and synced.
    this.#asStoreError(() => connection.set({ journal_mode: "DELETE", synchronous: "OFF" }));
    return connection;
  }

  #close(): void {
    this.#connection?.close();
    this.#connection = null;
  }

  #collection(name: string): CollectionTable {
    return new CollectionTable(named(this.#options.collections, name));
  }

  #writeRows(table: Table, items: readonly DumpedRow[]): void {
    const names = table.columns.map((column) => quotedName(column.name));
    const encoders = table.columns.map((column) => [column.name, valueEncoder(column)] as const);
    const sql = insertSql(quotedName(table.name), names);
    this.#commit(
      sql,
      items.map(({ row }) => encoders.map(([name, encode]) => encode(row[name] ?? null))),
    );
  }

  #writeTombstones(table: Table, items: readonly DumpedTombstone[]): void {
    const { list, keyColumns } = new TombstoneNames(table);
    const others = ["repsync_place", "repsync_deleted_at", "repsync_taken_at", "repsync_is_own"];
    const values = items.map(({ place, key, deletedAt, takenAtMs }) => [
      ...boundValues(table.keyColumns, key),
      ...[place, keptTime(deletedAt), keptTime(formatMs(takenAtMs)), 0],
    ]);
    this.#commit(insertSql(list, [...keyColumns, ...others]), values);
  }

  #commit(sql: string, all: readonly (readonly SqliteValue[])[]): void {
    const statement = this.#opened.statement(sql);
    this.#opened.run("BEGIN IMMEDIATE");
    for (const values of all) statement.run(values);
    this.#opened.run("COMMIT");
  }

  #asStoreError(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw storeError("store_unavailable", this.#opened.driver.resultCode(error), error);
    }
  }
}

/**
 * Holds a file until the connection is closed. Throws `invalid_request` when another process has it open, or when it has rows or
 * an account other than the configured administrator.
 */
async function claimEmptyFile(
  openSqlite: OpenSqlite,
  path: string,
  adminUsername: string | null,
): Promise<OpenConnection> {
  const connection = new OpenConnection(await openSqlite(path));
  try {
    holdAlone(connection);
    refuseFull(connection, adminUsername);
    return connection;
  } catch (error) {
    const code = connection.driver.resultCode(error);
    connection.close();
    throw storeError("store_unavailable", code, error);
  }
}

/** Removes what killed processes left beside a held file. Never rejects. */
async function removeRemains(path: string): Promise<void> {
  const folder = dirname(path);
  const start = `.${basename(path)}.fill-`;
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((found) => found.startsWith(start))) {
    await rm(join(folder, name), { force: true }).catch(() => {});
  }
}

function refuseFull(connection: OpenConnection, adminUsername: string | null): void {
  const facts = new Map(readFacts(connection));
  facts.delete("filled_by");
  checkFormat(facts, true);
  const names = tableNames(connection);
  for (const name of names.filter(isRowTable)) {
    if (connection.all(`SELECT 1 FROM ${quotedName(name)} LIMIT 1`).length === 0) continue;
    throw storeNotEmpty(`table "${name}" has rows`);
  }
  if (!names.includes("repsync_accounts")) return;
  const others = "SELECT 1 FROM repsync_accounts WHERE doc ->> 'username' <> ? LIMIT 1";
  if (connection.all(others, [adminUsername ?? ""]).length > 0) {
    throw storeNotEmpty("it has accounts");
  }
}

function insertSql(into: string, columns: readonly string[]): string {
  return `INSERT INTO ${into} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
}

function setDeletes(connection: OpenConnection, { name, deletes }: DumpedTable): void {
  if (deletes === null) return;
  const set = "UPDATE repsync_deletes SET earliest_available = ?, list_id = ? WHERE table_name = ?";
  connection.run(set, [deletes.completeSince, deletes.list, name]);
  const list = `repsync_deleted_${name}`;
  connection.run("DELETE FROM sqlite_sequence WHERE name = ?", [list]);
  const add = "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)";
  connection.run(add, [list, deletes.lastPlace]);
}

async function sync(path: string, flags: string): Promise<void> {
  const file = await open(path, flags);
  await file.sync().finally(() => file.close());
}
