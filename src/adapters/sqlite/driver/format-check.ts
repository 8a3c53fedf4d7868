// Whether this program may use a file, looked at before a byte of it or beside it is changed. D-11.4.
import { AppError } from "../../../domain/shared/errors.ts";
import { HELD_STORE, mayChangeFormat } from "../../../domain/shared/store-format.ts";
import { OPEN_PROBLEM, SqliteDatabase, type SqliteOptions } from "./database.ts";
import { holdsSomething } from "./database-file.ts";
import type { OpenSqlite, SqliteConnection } from "./driver.ts";
import { isBusy, storeError } from "./result-codes.ts";
import { readFileFormat } from "./store-facts.ts";

interface ExamineOptions extends SqliteOptions {
  readonly changesFormat: boolean;
  /** Looks at what else has to fit, within a read. */
  readonly examine: (database: SqliteDatabase) => void;
}

/**
 * Throws `invalid_request` for a format that this program does not know, `store_unavailable` for an earlier one unless
 * `changesFormat` allows to change it and no program has the file open, and what `examine` throws.
 */
export async function examineFile(
  openSqlite: OpenSqlite,
  path: string,
  { changesFormat, examine, ...options }: ExamineOptions,
): Promise<void> {
  // One without a byte is a new store.
  if (!(await holdsSomething(path))) return;
  const database = await SqliteDatabase.look(openSqlite, path, options);
  let isChange = false;
  try {
    await database.read(() => {
      isChange = mayChangeFormat(readFileFormat(database), changesFormat);
      examine(database);
    });
  } finally {
    await database.close();
  }
  if (isChange && (await isOpenElsewhere(openSqlite, path))) {
    throw new AppError("store_unavailable", HELD_STORE);
  }
}

/** Every process that has a file open in WAL mode holds a lock that is in the way of an exclusive one. */
async function isOpenElsewhere(openSqlite: OpenSqlite, path: string): Promise<boolean> {
  const connection = await openFile(openSqlite, path);
  try {
    for (const sql of ["PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "ROLLBACK"]) {
      run(connection, sql);
    }
    return false;
  } catch (error) {
    const code = connection.resultCode(error);
    if (isBusy(code)) return true;
    throw storeError("store_unavailable", code, error);
  } finally {
    connection.close();
  }
}

async function openFile(openSqlite: OpenSqlite, path: string): Promise<SqliteConnection> {
  try {
    return await openSqlite(path);
  } catch (cause) {
    throw new AppError("store_unavailable", OPEN_PROBLEM, { cause });
  }
}

function run(connection: SqliteConnection, sql: string): void {
  const statement = connection.prepare(sql);
  try {
    statement.all([]);
  } finally {
    statement.finalize();
  }
}
