import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import type {
  OtherProgram,
  TombstoneParts,
} from "../../../contract/tables/tombstones/tombstone-table.ts";
import { tombstonesContract } from "../../../contract/tables/tombstones/tombstones-contract.ts";
import { withRunParts } from "../../../support/run-parts.ts";
import { SqliteFile } from "../support.ts";

tombstonesContract({
  name: "SQLite file",
  options: { isShared: true, randomRuns: 100 },
  async open() {
    const file = await SqliteFile.make();
    const openInstance = async () => asParts(await file.open(), file);
    return {
      storage: await openInstance(),
      openSecond: openInstance,
      nowMs: () => Date.now(),
      advance: () => Promise.resolve(),
      dispose: () => file.dispose(),
    };
  },
});

function asParts(storage: SqliteStorage, file: SqliteFile): TombstoneParts {
  return Object.assign(withRunParts(storage), { program: otherProgram(file.openElsewhere()) });
}

/** A program that writes times as this service does. */
function otherProgram(database: Database): OtherProgram {
  const bound = (row: Row) =>
    Object.values(row).map((value) =>
      typeof value === "string" ? value.replace(/(\d)Z$/, "$1") : value,
    ) as SQLQueryBindings[];
  const names = (row: Row, separator: string) =>
    Object.keys(row)
      .map((name) => `"${name}" = ?`)
      .join(separator);
  const run = async (sql: string, values: SQLQueryBindings[] = []) => {
    database.run(sql, values);
  };
  return {
    insert: ({ name }, row) => {
      const columns = Object.keys(row).map((column) => `"${column}"`);
      const marks = columns.map(() => "?");
      return run(`INSERT INTO "${name}" (${columns}) VALUES (${marks})`, bound(row));
    },
    update: ({ name }, key, changes) =>
      run(`UPDATE "${name}" SET ${names(changes, ", ")} WHERE ${names(key, " AND ")}`, [
        ...bound(changes),
        ...bound(key),
      ]),
    remove: ({ name }, key) =>
      run(`DELETE FROM "${name}" WHERE ${names(key, " AND ")}`, bound(key)),
    removeAll: ({ name }) => run(`DELETE FROM "${name}"`),
  };
}
