// A store of a version before, whose triggers have recorded every delete. D-7.6.
import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { rowOrder } from "../../../../src/adapters/sqlite/tables/order-column.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { nextMillisecond } from "../../../support/time/next-millisecond.ts";
import { SqliteFile } from "../support.ts";
import { LONG_AGO, NUMBERED } from "./delete-scene.ts";

const textOf = (name: string) => Bun.file(new URL(`${name}-triggers.sql`, import.meta.url)).text();
/** Of repsync's own table, and of one that an application made. */
const [EARLIER = "", EARLIER_FOREIGN = ""] = (await textOf("earlier")).split(/(?=-- Those)/);
/** By version, the last one first. */
const VERSIONS = [await textOf("later"), EARLIER];
const TRIGGERS = "SELECT name, sql FROM sqlite_schema WHERE name GLOB 'repsync_delete.*'";

/** Leaves the file as a version before would have. */
function makeEarlier(program: Database, triggers: string): void {
  for (const [name] of program.query(TRIGGERS).values()) program.run(`DROP TRIGGER "${name}"`);
  program.run(triggers);
  if (triggers === VERSIONS[0]) {
    program.run("CREATE UNIQUE INDEX other ON items (v) WHERE v > 0 AND at <> ''");
    return;
  }
  program.run("DROP TABLE repsync_moment; CREATE TABLE repsync_moment (now TEXT NOT NULL)");
}

for (const [back, lost] of [0, 1].flatMap((back) =>
  [null, "delete", "met", "gone"].map((lost) => [back, lost] as const),
)) {
  test(`D-7.6 the record of version ${-1 - back} ${lost === null ? "goes on" : `begins anew where its trigger ${lost} was lost`}`, () =>
    SqliteFile.use(async (file) => {
      const first = await file.open();
      await first.tables.prepare([NUMBERED]);
      const query = { after: null, sinceTime: null, limitRows: 9 };
      const before = await first.tombstones.list(NUMBERED, query);
      await first.close();
      const program = file.openElsewhere();
      makeEarlier(program, VERSIONS[back] ?? "");
      const rows = ["a", "b", "c", "d"].map((k, i) => `(${i + 1}, '${k}', '${LONG_AGO}')`);
      program.run(`INSERT INTO items (id, k, at) VALUES ${rows}`);
      program.run("DELETE FROM items WHERE k = 'a'; REPLACE INTO items (id, k) VALUES (2, 'new')");
      if (lost !== null) program.run(`DROP TRIGGER "repsync_delete.${lost}.items"`);
      const earlier = program.query(TRIGGERS).values();
      await nextMillisecond();
      const next = await file.open();
      await next.tables.prepare([NUMBERED]);
      program.run("DELETE FROM items WHERE k = 'c'; REPLACE INTO items (id, k) VALUES (4, 'new')");
      const { items, earliestAvailable } = await next.tombstones.list(NUMBERED, query);
      expect(items.map(({ key }) => key["k"])).toEqual(["a", "b", "c", "d"]);
      const isLater = Date.parse(earliestAvailable) > Date.parse(before.earliestAvailable);
      expect(isLater).toBe(lost !== null);
      expect(program.query(TRIGGERS).values()).not.toEqual(earlier);
    }));
}

test("D-7.6 the record of version -2 goes on for a table that an application made", () =>
  SqliteFile.use(async (file) => {
    const program = file.openElsewhere();
    program.run("CREATE TABLE items (k TEXT NOT NULL PRIMARY KEY, at TEXT)");
    const columns = { k: { type: "text" }, at: { type: "datetime" } } as const;
    const table = makeTable({ timestamp_column: "at", upsert_key: ["k"], deletes: true, columns });
    const first = await file.open();
    await first.tables.prepare([table]);
    const query = { after: null, sinceTime: null, limitRows: 9 };
    const before = await first.tombstones.list(table, query);
    await first.close();
    const order = (row: string) => rowOrder(table, row, new Set(["items"]));
    makeEarlier(
      program,
      EARLIER_FOREIGN.replaceAll("OLD_ORDER", order("OLD")).replaceAll("NEW_ORDER", order("NEW")),
    );
    program.run(`INSERT INTO items VALUES ('a', '${LONG_AGO}'), ('b', '${LONG_AGO}')`);
    program.run("DELETE FROM items WHERE k = 'a'");
    await nextMillisecond();
    const next = await file.open();
    await next.tables.prepare([table]);
    program.run("UPDATE items SET k = 'c'");
    const { items, earliestAvailable } = await next.tombstones.list(table, query);
    expect(items.map(({ key }) => key["k"])).toEqual(["a", "b"]);
    expect(earliestAvailable).toBe(before.earliestAvailable);
  }));
