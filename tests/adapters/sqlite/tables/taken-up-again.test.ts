// A registry that is taken up while the service serves: what is as it was costs nothing. D-14.6.
import { expect, test } from "bun:test";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import type { SqliteStatement } from "../../../../src/adapters/sqlite/driver/connection.ts";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
import { LISTINGS, makeTable } from "../../../support/rows/make-table.ts";
import { SqliteFile } from "../support.ts";

test("D-11.1, D-14.6 of a registry that is taken up again only what changed is looked at, unless another program changed a schema", () =>
  SqliteFile.use(async (file) => {
    const looked = new Set<string>();
    const storage = await file.open({}, async (path) => {
      const connection = await openBunSqlite(path);
      return new Proxy(connection, {
        get: (target, name) =>
          name === "prepare"
            ? (sql: string) => watched(target.prepare(sql), (value) => looked.add(value))
            : Reflect.get(target, name),
      });
    });
    const tables = ["t1", "t2", "t3"].map((name) => makeTable(LISTINGS, name));
    const wider = { ...LISTINGS.columns, more: { type: "text" } } as const;
    const changed = makeTable({ ...LISTINGS, columns: wider }, "t2");
    const prepare = async (registry: readonly Table[]) => {
      looked.clear();
      await storage.tables.prepare(registry);
      return ["t1", "t2", "t3"].filter((name) => looked.has(name));
    };
    expect(await prepare(tables)).toEqual(["t1", "t2", "t3"]);
    expect(await prepare(tables.map(({ entry, name }) => makeTable(entry, name)))).toEqual([]);
    expect(await prepare([changed, ...tables.slice(0, 1)])).toEqual(["t2"]);
    expect(await prepare([changed, ...tables.slice(2)])).toEqual(["t3"]);
    file.openElsewhere().run("CREATE TABLE another (k TEXT)");
    expect(await prepare([changed])).toEqual(["t2"]);
  }));

/** A statement whose values are told. */
function watched(statement: SqliteStatement, tell: (value: string) => void): SqliteStatement {
  return {
    all: (values) => {
      for (const value of values) tell(String(value));
      return statement.all(values);
    },
    iterate: (values) => statement.iterate(values),
    run: (values) => statement.run(values),
    finalize: () => statement.finalize(),
  };
}
