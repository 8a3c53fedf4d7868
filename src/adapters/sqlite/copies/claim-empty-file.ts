// Holds an empty store, so that no service can start on it.
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { checkFormat, storeHeld, storeNotEmpty } from "../../../domain/shared/store-format.ts";
import type { StoppedStore } from "../../../ports/copies/store-copies.ts";
import type { AnyCollection } from "../../../ports/documents.ts";
import type { OpenSqlite } from "../driver/driver.ts";
import { isBusy, storeError } from "../driver/errors.ts";
import { OpenConnection } from "../driver/open-connection.ts";
import { quotedName } from "../driver/sql.ts";
import { readFacts } from "../driver/store-facts.ts";
import { dumpConnection } from "./file-dump.ts";
import { isRowTable, tableNames } from "./raw-connection.ts";

/**
 * Holds a file until the connection is closed. Throws `invalid_request` when another process has it open, or when it has rows or
 * an account other than the configured administrator.
 */
export async function claimEmptyFile(
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

/** Holds a file, empty or not. Throws `invalid_request` when another process has it open. */
function holdAlone(connection: OpenConnection): void {
  try {
    connection.set({ busy_timeout: 0 });
    // The change fails while another process has the file open in WAL mode.
    const [mode] = connection.all("PRAGMA journal_mode = DELETE");
    if (mode?.["journal_mode"] !== "delete") throw storeHeld(0);
    connection.set({ locking_mode: "EXCLUSIVE" });
    connection.run("BEGIN EXCLUSIVE");
  } catch (error) {
    throw isBusy(connection.driver.resultCode(error)) ? storeHeld(0, error) : error;
  }
}

/** Removes what killed processes left beside a held file. Never rejects. */
export async function removeRemains(path: string): Promise<void> {
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

/** Opens a prepared file and holds it. Throws `invalid_request` when another process has it open. */
export async function openStoppedFile(
  openSqlite: OpenSqlite,
  path: string,
  collections: readonly AnyCollection[],
): Promise<StoppedStore> {
  const connection = new OpenConnection(await openSqlite(resolve(path)));
  try {
    holdAlone(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    dump: async () => dumpConnection(connection, collections),
    // The lock lasts until `close`.
    requireStopped: async () => {},
    close: async () => connection.close(),
  };
}
