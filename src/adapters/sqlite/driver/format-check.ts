// Whether this program may use a file, looked at before a byte of it or beside it is changed. D-11.4. Where there is a log the
// look is read-only, since whoever closes a log last copies it into the file; where there is none, only a connection that may
// write removes the log that reading makes. Nothing is converted, so nobody has to know who has the file open.
import { SqliteDatabase, type SqliteOptions } from "./database.ts";
import { holdsSomething } from "./database-file.ts";
import type { OpenSqlite } from "./driver.ts";
import { checkFileFormat } from "./store-facts.ts";

interface ExamineOptions extends SqliteOptions {
  /** Looks at what else has to fit, within a read. */
  readonly examine: (database: SqliteDatabase) => void;
}

/** Throws `invalid_request` for a format that this program does not know, and what `examine` throws. */
export async function examineFile(
  openSqlite: OpenSqlite,
  path: string,
  { examine, ...options }: ExamineOptions,
): Promise<void> {
  // One without a byte is a new store.
  if (!(await holdsSomething(path))) return;
  const database = await SqliteDatabase.look(openSqlite, path, options);
  try {
    await database.read(() => {
      checkFileFormat(database);
      examine(database);
    });
  } finally {
    await database.close();
  }
}
