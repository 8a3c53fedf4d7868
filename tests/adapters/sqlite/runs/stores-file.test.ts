// What the contract cannot ask of every store: the file, its indexes, other tools' rows and failures.

import { describe, expect, test } from "bun:test";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import {
  type RowRange,
  TableSql,
  withKey,
} from "../../../../src/adapters/sqlite/tables/statements.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import type { Row, Table } from "../../../../src/domain/sync/table/table.ts";
import type { TableStore } from "../../../../src/ports/tables/table-store.ts";
import { Secrets } from "../../../../src/repositories/kept-values.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { failureOf } from "../../../support/failures.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readAfter, readKeyRange, readPage } from "../../../support/rows/read-rows.ts";
import { commitAlone, writeTo } from "../../../support/rows/write-to.ts";
import { FakeClock } from "../../../support/time/fake-clock.ts";
import { SqliteFile } from "../support.ts";

const EVENTS = makeTable(
  {
    timestamp_column: "at",
    upsert_key: ["shop", "n"],
    columns: { n: { type: "integer" }, at: { type: "datetime" }, shop: { type: "text" } },
  },
  "events",
);
const PLAIN = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } }, "plain");
/** As Bun reads it, with tables of our own. */
const FILE = { cutsTextAtNul: false, foreignTables: new Set<string>() };

describe("SQLite: reading for runs", () => {
  test("D-4.6 every read is a search in the index of its order, without sorting", () =>
    SqliteFile.use(async (file) => {
      await (await file.open()).tables.prepare([EVENTS, PLAIN]);
      const elsewhere = file.openElsewhere();
      const plan = (sql: string) =>
        elsewhere
          .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
          .all()
          .map(({ detail }) => detail)
          .filter((detail) => / (events|plain) /.test(detail) || detail.includes("B-TREE"));
      const events = new TableSql(EVENTS, FILE);
      const plain = new TableSql(PLAIN, FILE);
      const rows = (sql: TableSql, range: Partial<RowRange>) =>
        plan(sql.rows("sent", { order: "table", from: "first", hasKey: true, ...range }));
      const byTime = { order: "table", from: "time", hasKey: true } as const;
      const key = "SEARCH events USING INDEX repsync_key_events";
      const order = "SEARCH events USING INDEX repsync_order_events";
      expect(rows(events, {})).toEqual(["SCAN events USING INDEX repsync_order_events"]);
      expect(rows(events, byTime)).toEqual([`${order} (repsync_order>?)`]);
      expect(rows(events, { from: "position" })).toEqual([
        `${order} ((repsync_order,shop,n)>(?,?,?))`,
      ]);
      expect(plan(events.count(byTime))).toEqual([`${order} (repsync_order>?)`]);
      expect(plan(withKey(FILE, EVENTS, EVENTS.columns))).toEqual([`${key} (shop=? AND n=?)`]);
      expect(rows(events, { order: "key", from: "position" })).toEqual([`${key} ((shop,n)>(?,?))`]);
      expect(rows(events, { order: "key", from: "position", hasEnd: true })).toEqual([
        `${key} ((shop,n)>(?,?) AND (shop,n)<(?,?))`,
      ]);
      expect(rows(plain, { from: "position" })).toEqual([
        "SEARCH plain USING COVERING INDEX repsync_key_plain (k>?)",
      ]);
    }));

  test("D-4.6 rows with keys of hundreds of columns are found", async () => {
    const columns: TableEntry["columns"] = Object.fromEntries(
      Array.from({ length: 450 }, (_, n) => [`k${n}`, { type: "text" }]),
    );
    const wide = makeTable({ upsert_key: Object.keys(columns), columns });
    await SqliteFile.use(async (file) => {
      const storage = await file.open();
      await storage.tables.prepare([wide]);
      const rows = Array.from({ length: 5 }, (_, n) =>
        Object.fromEntries(Object.keys(columns).map((name) => [name, `${n}`])),
      );
      await writeTo(storage, wide, asWrites(rows));
      expect(await storage.tables.byKeys(wide, rows, "sent")).toEqual(rows);
      const tables = { after: rows[1]!, sinceTime: null, limitRows: 2 };
      expect(await readAfter(storage.tables, wide, tables)).toEqual(rows.slice(2, 4));
    });
  });
});

describe("SQLite: rows of other tools, read for runs", () => {
  /** Times as tools write them, none of them as repsync does; in the order of the table. */
  const times = [
    "NULL",
    "'tomorrow'",
    "1704067200",
    "'2024-01-01'",
    "'2024-01-01 00:00:00'",
    "'2024-01-01T00:00:00.000000'",
    "'2024-01-01T00:00:00Z'",
    "'2024-01-01 00:00:00.120000'",
    "'2024-01-01T00:00:00.12'",
    "'2024-01-02T00:00'",
    "'2024-01-02T00:00:00+00:00'",
    "'2024-01-02T05:00:00+02:00'",
  ];

  for (const limitRows of [1, 2, 5]) {
    test(`D-4.6 page() after a row gives each row once, ${limitRows} at a time, whatever form its time has`, () =>
      SqliteFile.use(async (file) => {
        const storage = await file.open();
        await storage.tables.prepare([EVENTS]);
        const elsewhere = file.openElsewhere();
        for (let n = 0; n < times.length * 3; n++) {
          const time = times[n % times.length];
          elsewhere.run(`INSERT INTO events (shop, n, at) VALUES ('s', ${n}, ${time})`);
        }
        const rows = await walk(storage.tables, EVENTS, limitRows);
        const numbers = rows.map((row) => Number(row["n"]));
        expect(numbers.toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: times.length * 3 }, (_, n) => n),
        );
        const query = { sinceTime: null, offsetRows: 0, limitRows: 100 };
        const page = await readPage(storage.tables, EVENTS, query);
        expect(rows).toEqual(page.rows);
      }));
  }

  const KEYED = makeTable(
    {
      timestamp_column: "at",
      upsert_key: ["at", "day", "n", "flag"],
      columns: {
        at: { type: "datetime" },
        day: { type: "date" },
        n: { type: "integer" },
        flag: { type: "boolean" },
      },
    },
    "keyed",
  );

  test("D-4.6 page() after a row or a key give each row once, whatever form its key has", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      await storage.tables.prepare([KEYED]);
      const elsewhere = file.openElsewhere();
      let rows = 0;
      for (const at of times.slice(1)) {
        for (const day of ["'2024-01-01'", "'2024-01-01 10:00:00'", "x'ff00'"]) {
          for (const n of ["1", "1.5", "9223372036854775807", "x'31'"]) {
            elsewhere.run(`INSERT INTO keyed VALUES (${at}, ${day}, ${n}, ${rows++})`);
          }
        }
      }
      for (const limitRows of [1, 7]) {
        expect((await walk(storage.tables, KEYED, limitRows)).length).toBe(rows);
        expect((await walkKeys(storage.tables, KEYED, limitRows)).length).toBe(rows);
      }
    }));

  test("D-4.6 rows without a key are left out", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      await storage.tables.prepare([EVENTS]);
      const elsewhere = file.openElsewhere();
      const row = { n: 1, at: "2024-01-01T00:00:00Z", shop: "s" };
      elsewhere.run("INSERT INTO events (shop, n, at) VALUES ('s', 1, '2024-01-01T00:00:00')");
      elsewhere.run("INSERT INTO events (shop, n, at) VALUES (NULL, 1, '2024-01-01T00:00:00')");
      elsewhere.run("INSERT INTO events (shop, n, at) VALUES ('s', NULL, '2024-01-01T00:00:00')");
      expect(await walk(storage.tables, EVENTS, 1)).toEqual([row]);
      expect(await walkKeys(storage.tables, EVENTS, 1)).toEqual([row]);
      expect(await storage.tables.count(EVENTS, { sinceTime: null, hasKey: true })).toBe(1);
      expect(
        await storage.tables.count(EVENTS, { sinceTime: "2024-01-01T00:00:00Z", hasKey: true }),
      ).toBe(1);
      expect(await storage.tables.byKeys(EVENTS, [{ shop: "s" }, { n: 1 }], "sent")).toEqual([]);
    }));
});

describe("SQLite: time of leases", () => {
  const wanted = { name: "sync push items", holder: "run-1", ttlMs: 10_000 };

  test("D-4.8 a lease of a crashed run does not hold for ever when the clock is set back", () =>
    SqliteFile.use(async (file) => {
      const clock = new FakeClock("2027-03-01T12:00:00Z");
      const storage = await file.open({ clock });
      await storage.leases.acquire(wanted);
      clock.set("2027-03-01T11:59:55Z");
      expect(await storage.leases.acquire(wanted)).toEqual({ heldBy: "run-1" });
      clock.set("2026-03-01T12:00:00Z");
      expect(await storage.leases.acquire({ ...wanted, holder: "run-2" })).not.toHaveProperty(
        "heldBy",
      );
      expect(await storage.leases.acquire(wanted)).toEqual({ heldBy: "run-2" });
    }));

  test("D-4.8 a lease that was given up leaves no row", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      const lease = await storage.leases.acquire(wanted);
      if ("release" in lease) await lease.release();
      expect(file.openElsewhere().query("SELECT key FROM repsync_leases").values()).toEqual([]);
    }));

  test("D-4.8 without a clock the time is the machine's", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      const beganMs = Date.now();
      await storage.leases.acquire(wanted);
      const endedMs = Date.now();
      const [[expiresAtMs]] = file
        .openElsewhere()
        .query("SELECT json_extract(doc, '$.endsAtMs') FROM repsync_leases")
        .values() as [[number]];
      expect(expiresAtMs).toBeGreaterThanOrEqual(beganMs + 10_000 - 1);
      expect(expiresAtMs).toBeLessThanOrEqual(endedMs + 10_000 + 1);
    }));
});

describe("SQLite: stores of sync runs and sign-in when nothing can be written", () => {
  test("D-5.4 a full disk is store_unavailable, changes nothing, and may pass", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open({}, async (path) => {
        const connection = await openBunSqlite(path);
        connection.prepare("PRAGMA max_page_count = 80").run([]);
        return connection;
      });
      await storage.tables.prepare([PLAIN]);
      const large = "x".repeat(1_000_000);
      const full = {
        kind: "store_unavailable",
        message: "The database is unavailable: the disk is full",
      };
      const refusal = {
        table: "a",
        direction: "push",
        key: { k: 1 },
        ...{ record: null, fingerprint: "f" },
      } as const;
      const secrets = new Secrets(storage.documents);
      expect(await failureOf(secrets.getOrCreate("jwt_secret", large))).toEqual(full);
      const small = { ...refusal, message: "small", lastAtMs: 1 };
      const rejected = [small, { ...refusal, message: large, lastAtMs: 1 }];
      expect(await failureOf(commitAlone(storage, PLAIN, { rejected }))).toEqual({
        kind: "commit_failed",
        message: "The database wrote nothing: the disk is full",
      });
      expect(await storage.rejected.countByTable()).toEqual(new Map());
      expect(await secrets.getOrCreate("jwt_secret", "small")).toBe("small");
      await commitAlone(storage, PLAIN, { rejected: [small] });
    }));

  test("D-4.5 a write that fails as a whole leaves its marker as it was", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open({}, async (path) => {
        const connection = await openBunSqlite(path);
        connection.prepare("PRAGMA max_page_count = 80").run([]);
        return connection;
      });
      await storage.tables.prepare([PLAIN]);
      const write = (k: string, marker: string) =>
        writeTo(storage, PLAIN, asWrites([{ k }]), {
          beforeCommit: () => ({ memory: { pull: { marker } } }),
        });
      await write("a", "1");
      expect((await failureOf(write("x".repeat(1_000_000), "2")))?.kind).toBe("commit_failed");
      expect((await storage.memory.read("plain")).pull.marker).toBe("1");
    }));

  test("D-4.5 a marker is set when the store refuses records, for the others were written", () =>
    SqliteFile.use(async (file) => {
      file.openElsewhere().run("CREATE TABLE plain (k TEXT CHECK (k <> 'bad'))");
      const storage = await file.open();
      await storage.tables.prepare([PLAIN]);
      const { failures } = await writeTo(
        storage,
        PLAIN,
        asWrites([{ k: "a" }, { k: "bad" }, { k: "b" }]),
        { beforeCommit: () => ({ memory: { pull: { marker: "1" } } }) },
      );
      expect(failures.map(({ index }) => index)).toEqual([1]);
      expect((await storage.memory.read("plain")).pull.marker).toBe("1");
      expect(await storage.tables.count(PLAIN)).toBe(2);
    }));
});

async function walk(tables: TableStore, table: Table, limitRows: number): Promise<Row[]> {
  return await walkBy((after) => readAfter(tables, table, { after, sinceTime: null, limitRows }));
}

async function walkKeys(tables: TableStore, table: Table, limitRows: number): Promise<Row[]> {
  return await walkBy((afterKey) =>
    readKeyRange(tables, table, { afterKey, throughKey: null }, limitRows),
  );
}

async function walkBy(read: (after: Row | null) => Promise<readonly Row[]>): Promise<Row[]> {
  const walked: Row[] = [];
  for (;;) {
    const rows = await read(walked.at(-1) ?? null);
    if (rows.length === 0) return walked;
    walked.push(...rows);
    if (walked.length > 10_000) throw new Error("The walk comes to no end");
  }
}
