import { describe, expect, test } from "bun:test";
import { COLUMN_TYPES } from "../../../src/domain/sync/table/column-types.ts";
import { readRegistry } from "../../../src/domain/sync/table/registry.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { refused } from "../../support/failures.ts";
import { LISTINGS, makeRegistry, makeTable } from "../../support/rows/make-table.ts";

/** A table keyed by `k` with a datetime `t`, changed as a test needs it. */
const ITEMS = {
  upsert_key: ["k"],
  columns: { k: { type: "text" }, t: { type: "datetime" }, v: { type: "text" } },
} as const satisfies TableEntry;

const names = (columns: readonly { readonly name: string }[]) => columns.map(({ name }) => name);

describe("readRegistry() of a table", () => {
  test("D-2.1, S-2.1 readRegistry() reads the example of the decisions", () => {
    const table = makeTable(LISTINGS, "listings");
    expect(table.name).toBe("listings");
    expect(names(table.columns)).toEqual(Object.keys(LISTINGS.columns));
    expect(table.timestampColumn).toBe("updated_at");
    expect(names(table.keyColumns)).toEqual(["shop", "sku"]);
    expect(table.conflict).toBe("overwrite");
    expect(table.lagSeconds).toBe(60);
    expect(table.columns[0]).toEqual({
      name: "id",
      type: "integer",
      nullable: true,
      maxLength: null,
      serialize: true,
      autoIncrement: true,
      isKey: false,
    });
    expect(table.columns[1]).toMatchObject({ name: "shop", nullable: false, isKey: true });
    expect(table.columns[9]).toMatchObject({ name: "secret", serialize: false, isKey: false });
  });

  test("S-4.2.7 the push columns are all but an auto-incrementing id outside the key", () => {
    const id = { type: "integer", auto_increment: true } as const;
    const columns = { id, ...ITEMS.columns };
    expect(names(makeTable({ ...ITEMS, columns }).pushColumns)).toEqual(["k", "t", "v"]);
    const counted = makeTable({ ...ITEMS, columns: { ...columns, id: { type: "integer" } } });
    expect(names(counted.pushColumns)).toEqual(["id", "k", "t", "v"]);
    const keyed = makeTable({ ...ITEMS, upsert_key: ["id"], columns });
    expect(names(keyed.pushColumns)).toEqual(["id", "k", "t", "v"]);
  });

  test("D-2.2.5 the page columns are all but those with serialize: false", () => {
    const table = makeTable({
      ...ITEMS,
      columns: { ...ITEMS.columns, v: { type: "text", serialize: false } },
    });
    expect(names(table.pageColumns)).toEqual(["k", "t"]);
    expect(names(table.pushColumns)).toEqual(["k", "t", "v"]);
  });

  test.each([
    ["__all__" as const, ["t", "v"]],
    [["__all__"], ["t", "v"]],
    [undefined, ["t", "v"]],
    [[], []],
    [["v"], ["v"]],
    [
      ["v", "t"],
      ["t", "v"],
    ],
    [["k", "v"], ["v"]],
    [["id"], ["id"]],
  ])("S-2.1, S-4.2.9, D-2.2.1 update_columns %j updates %j", (update_columns, updated) => {
    const columns = { id: { type: "integer" }, ...ITEMS.columns } as const;
    const entry = update_columns === undefined ? ITEMS : { ...ITEMS, update_columns };
    expect(names(makeTable({ ...entry, columns }).updateColumns)).toEqual(updated);
  });

  test("D-2.2 timestamp_column may be absent, null, or a column of type datetime or date", () => {
    expect(makeTable(ITEMS).timestampColumn).toBeNull();
    expect(makeTable({ ...ITEMS, timestamp_column: null }).timestampColumn).toBeNull();
    expect(makeTable({ ...ITEMS, timestamp_column: "t" }).timestampColumn).toBe("t");
    const columns = { ...ITEMS.columns, d: { type: "date" } } as const;
    expect(makeTable({ ...ITEMS, columns, timestamp_column: "d" }).timestampColumn).toBe("d");
  });

  test("D-2.2.2 the column types are nine", () => {
    expect(COLUMN_TYPES).toEqual([
      ...(["text", "integer", "bigint", "numeric", "real"] as const),
      ...(["boolean", "datetime", "date", "json"] as const),
    ]);
    for (const type of COLUMN_TYPES) {
      const table = makeTable({ ...ITEMS, columns: { ...ITEMS.columns, c: { type } } });
      expect(table.columns[3]).toMatchObject({ name: "c", type });
    }
  });

  test("D-2.2.3, D-2.2.4 nullable is true and max_length has no limit unless said", () => {
    expect(makeTable(ITEMS).columns[2]).toMatchObject({ nullable: true, maxLength: null });
    const v = { type: "text", nullable: false, max_length: 5 } as const;
    const table = makeTable({ ...ITEMS, columns: { ...ITEMS.columns, v } });
    expect(table.columns[2]).toMatchObject({ nullable: false, maxLength: 5 });
  });

  test("D-2.2.6 conflict is overwrite unless it says newer, and lag_seconds is the table's own", () => {
    expect(makeTable(ITEMS)).toMatchObject({ conflict: "overwrite", lagSeconds: 60 });
    const entry: TableEntry = {
      ...ITEMS,
      timestamp_column: "t",
      conflict: "newer",
      lag_seconds: 0,
    };
    expect(makeTable(entry)).toMatchObject({ conflict: "newer", lagSeconds: 0 });
  });

  test("D-2.2.8 bigint, integer, boolean, text, date and datetime columns may be keys", () => {
    for (const type of ["bigint", "integer", "boolean", "text", "date", "datetime"] as const) {
      const table = makeTable({ upsert_key: ["k"], columns: { k: { type } } });
      expect(table.keyColumns[0]).toMatchObject({ name: "k", type, isKey: true });
    }
  });

  test("D-2.2.9 names of 1 to 63 letters, digits and underscores are taken, parts of a prototype too", () => {
    for (const name of [
      "a",
      "_",
      "A9_",
      "x".repeat(63),
      "constructor",
      "toString",
      "hasOwnProperty",
    ]) {
      const columns = { [name]: { type: "text" } } as const;
      const registry = makeRegistry({ [name]: { upsert_key: [name], columns } });
      expect(names(registry.get(name)?.columns ?? [])).toEqual([name]);
    }
  });
});

describe("readRegistry() of a file", () => {
  test("D-2.3 the built-in registry holds profiles and platform_accounts", () => {
    const registry = readRegistry();
    expect([...(registry?.keys() ?? [])]).toEqual(["profiles", "platform_accounts"]);
    const [profiles, accounts] = [...(registry?.values() ?? [])];
    expect(names(profiles?.keyColumns ?? [])).toEqual(["username"]);
    expect(names(accounts?.keyColumns ?? [])).toEqual(["username", "platform"]);
    expect([profiles?.timestampColumn, accounts?.timestampColumn]).toEqual([
      "updated_at",
      "updated_at",
    ]);
    expect([profiles?.conflict, accounts?.conflict]).toEqual(["overwrite", "overwrite"]);
    expect(names(profiles?.updateColumns ?? [])).toEqual([
      "display_name",
      "bio",
      "profession",
      "location",
      "verified",
      "public",
      "created_at",
      "updated_at",
    ]);
    expect(names(accounts?.updateColumns ?? [])).toEqual([
      "handle",
      "verified",
      "account_created_at",
      "activity_count",
      "rating",
      "rating_count",
      "disputes",
      "last_active_at",
      "last_synced_at",
      "updated_at",
    ]);
  });

  test("D-2.3 the columns of the built-in tables have the types that their values need", () => {
    const types = [...readRegistry().values()].map((table) =>
      table.columns.map(({ name, type }) => `${name} ${type}`).join(", "),
    );
    expect(types).toEqual([
      "id integer, username text, display_name text, bio text, profession text, location text, " +
        "verified boolean, public boolean, created_at datetime, updated_at datetime",
      "id integer, username text, platform text, handle text, verified boolean, " +
        "account_created_at datetime, activity_count integer, rating numeric, rating_count integer, " +
        "disputes integer, last_active_at datetime, last_synced_at datetime, updated_at datetime",
    ]);
  });

  test("D-2.3 a registry file adds tables and replaces built-in ones", () => {
    const registry = makeRegistry({ items: ITEMS, profiles: ITEMS });
    expect([...registry.keys()]).toEqual(["profiles", "platform_accounts", "items"]);
    expect(names(registry.get("profiles")?.keyColumns ?? [])).toEqual(["k"]);
    expect(names(registry.get("platform_accounts")?.keyColumns ?? [])).toEqual([
      "username",
      "platform",
    ]);
  });

  test("D-2.1 what is wrong with one table hides nothing of the others", () => {
    const columns = { k: { type: "text" } };
    const tables = {
      a: { upsert_key: ["k"], columns: { k: { type: "foo" } } },
      repsync_z: { upsert_key: ["k"], columns },
      b: { upsert_key: ["zz"], columns },
    };
    const problems = refused(() => readRegistry({ tables }));
    expect(problems.map((text) => text.slice(0, 30))).toEqual([
      "/tables/a/columns/k/type: must",
      'Table "repsync_z": this name i',
      'Table "b": upsert_key names th',
    ]);
  });

  test("D-2.1 a registry file may name its schema", () => {
    expect(refused(() => readRegistry({ $schema: "./tables.schema.json", tables: {} }))).toEqual(
      [],
    );
  });
});
