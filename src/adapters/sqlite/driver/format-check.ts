// Whether this program may use a file, looked at before a byte of it or beside it is changed. D-11.4.
import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../../../domain/shared/errors.ts";
import { REQUEST_DEADLINE_MS } from "../../../domain/shared/limits.ts";
import { HELD_STORE, mayChangeFormat, readFormat } from "../../../domain/shared/store-format.ts";
import { OPEN_PROBLEM } from "./database.ts";
import type { OpenSqlite, SqliteConnection } from "./driver.ts";
import { isBusy, storeError } from "./result-codes.ts";
import { HAS_OWN_TABLES, readFacts } from "./store-facts.ts";
import { TimeLimit } from "./time-limit.ts";

const BUSY_WAIT_MS = 10;

/**
 * Throws `invalid_request` for a format that this program does not know, and `store_unavailable` for an earlier one unless
 * `changesFormat` allows to change it and no program has the file open.
 */
export async function examineFormat(
  openSqlite: OpenSqlite,
  path: string,
  changesFormat: boolean,
): Promise<void> {
  const found = await stat(path).catch(() => null);
  // One without a byte is a new store.
  if (found === null || found.size === 0) return;
  const format = await formatOf(openSqlite, path);
  if (!mayChangeFormat(format, changesFormat)) return;
  if (await isOpenElsewhere(openSqlite, path)) throw new AppError("store_unavailable", HELD_STORE);
}

async function formatOf(openSqlite: OpenSqlite, path: string): Promise<number | null> {
  const limit = new TimeLimit(REQUEST_DEADLINE_MS);
  for (;;) {
    // The last one to close a log copies it into the file, unless it may not write; where there is none, only one that may
    // write takes the one that reading makes away again.
    const hasLog = existsSync(`${await realpath(path)}-wal`);
    const connection = await openFile(openSqlite, path, hasLog);
    const all = (sql: string) => allRows(connection, sql);
    try {
      return readFormat(readFacts({ all }), all(HAS_OWN_TABLES).length === 0);
    } catch (error) {
      // A restore is in the way for as long as it takes, and a log that is taken in after a crash for a moment.
      const code = connection.resultCode(error);
      if (!isBusy(code) || limit.signal.aborted) throw storeError("store_unavailable", code, error);
    } finally {
      connection.close();
    }
    await delay(BUSY_WAIT_MS);
  }
}

/** Every process that has a file open in WAL mode holds a lock that is in the way of an exclusive one. */
async function isOpenElsewhere(openSqlite: OpenSqlite, path: string): Promise<boolean> {
  const connection = await openFile(openSqlite, path, false);
  try {
    allRows(connection, "PRAGMA locking_mode = EXCLUSIVE");
    allRows(connection, "BEGIN EXCLUSIVE");
    allRows(connection, "ROLLBACK");
    return false;
  } catch (error) {
    const code = connection.resultCode(error);
    if (isBusy(code)) return true;
    throw storeError("store_unavailable", code, error);
  } finally {
    connection.close();
  }
}

async function openFile(openSqlite: OpenSqlite, path: string, isReadOnly: boolean) {
  try {
    return await openSqlite(path, isReadOnly);
  } catch (cause) {
    throw new AppError("store_unavailable", OPEN_PROBLEM, { cause });
  }
}

function allRows(connection: SqliteConnection, sql: string) {
  const statement = connection.prepare(sql);
  try {
    return statement.all([]);
  } finally {
    statement.finalize();
  }
}
