// What bodies are told of the commits of other programs, and what the notes make of it. D-12.3.
import { describe, expect } from "bun:test";
import { SQL } from "bun";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import { earliestTime } from "../../../../src/domain/sync/rows/row-time.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import type { Row, Table } from "../../../../src/domain/sync/table/table.ts";
import { COLLECTIONS, SCHEDULE_TIMES } from "../../../../src/repositories/collections.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import type { RunStorage } from "../../../support/run-parts.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";
import { databaseTest as it } from "../support.ts";

const ENTRY: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
};
const ITEMS = makeTable(ENTRY, "items");
const OTHERS = makeTable(ENTRY, "others");
const DAYS = makeTable({ ...ENTRY, columns: { ...ENTRY.columns, at: { type: "date" } } }, "days");

const secondsFromNow = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

/** Takes a mark. What it gives asks for the earliest time that is not late of what was committed since. */
async function mark({ lateRows }: RunStorage, table: Table, isForOwnPush = false) {
  const first = await lateRows.read(table, { lateAfter: null, isForOwnPush });
  return async () =>
    (await lateRows.read(table, { lateAfter: first.mark, isForOwnPush })).freshFrom;
}

const WRITERS = 4;
const COMMITS = 60;

/** Reads as runs do: from the marker on, or from what was noted since the last mark. */
class Reader {
  readonly seen = new Set<unknown>();
  readonly #storage: RunStorage;
  #marker: string | null = null;
  #mark: string | null = null;

  constructor(storage: RunStorage) {
    this.#storage = storage;
  }

  async run(): Promise<void> {
    const { lateRows, tables } = this.#storage;
    const late = await lateRows.read(ITEMS, { lateAfter: this.#mark, isForOwnPush: false });
    const start = this.#mark === null ? null : earliestTime([this.#marker, late.freshFrom]);
    const query = { from: { after: null }, sinceTime: start, limitRows: 10_000 } as const;
    const { rows } = await tables.page(ITEMS, query);
    for (const { k } of rows) this.seen.add(k);
    const last = rows.at(-1)?.["at"];
    this.#marker = typeof last === "string" ? last : this.#marker;
    this.#mark = late.mark;
  }
}

describe.skipIf(!postgresAvailable)("late commits on PostgreSQL", () => {
  it("D-12.3 a commit is noted behind every mark that was taken before it, however long ago it began", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    const connection = await database.sql.reserve();
    await connection`begin`;
    await connection`insert into items (k, at) values ('a', '2100-01-01T00:00:00.000001Z')`;
    const looks = [await mark(storage, ITEMS)];
    await database.sql`insert into items (k, at) values ('b', '2100-01-02')`;
    looks.push(await mark(storage, ITEMS));
    expect(await Promise.all(looks.map((look) => look()))).toEqual(["2100-01-02T00:00:00Z", null]);
    await connection`commit`;
    connection.release();
    const early = "2100-01-01T00:00:00.000001Z";
    expect(await Promise.all(looks.map((look) => look()))).toEqual([early, early]);
    expect(await (await mark(storage, ITEMS))()).toBe(null);
  });

  it("D-12.3 a time is told up to 5 s before the begin of its transaction, that of an update too", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    const { sql } = database;
    const look = await mark(storage, ITEMS);
    const early = secondsFromNow(-10);
    await sql`insert into items (k, at, v) values ('a', ${early}::text::timestamptz, 1), ('b', null, 1), ('c', 'infinity', 1), ('d', '2024-01-01', 1)`;
    await sql`update items set v = 2`;
    expect(await look()).toBe(null);
    const near = secondsFromNow(-3);
    await sql`update items set at = ${near}::text::timestamptz where k = 'a'`;
    expect(await look()).toBe(near);
    const lookAgain = await mark(storage, ITEMS);
    await sql`update items set at = now() - interval '5 s' where k = 'b'`;
    expect(await lookAgain()).not.toBe(null);
  });

  it("D-12.3 the day of a date counts until its end", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([DAYS]);
    const look = await mark(storage, DAYS);
    await database.sql`insert into days (k, at) values ('a', (now() at time zone 'UTC')::date - 2), ('b', null)`;
    expect(await look()).toBe(null);
    await database.sql.unsafe(
      "set time zone 'Asia/Tokyo'; insert into days (k, at) values ('c', '2100-01-02'), ('d', '2100-01-01')",
    );
    expect(await look()).toBe("2100-01-01T00:00:00Z");
    const [{ day }] = await database.sql`
      insert into days (k, at) values ('e', (now() at time zone 'UTC')::date) returning at::text as day`;
    expect(await look()).toBe(`${day}T00:00:00Z`);
  });

  it("D-12.3 own commits are noted alike, those of own runs not for pushes to where they came from", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    const [look, lookForPush] = [await mark(storage, ITEMS), await mark(storage, ITEMS, true)];
    const [soon, near] = [secondsFromNow(20), secondsFromNow(-20)];
    const write = (k: string, at: string, isOwnRun: boolean) =>
      writeTo(storage, ITEMS, [{ index: 0, row: { k, at, v: 1 } }], { isOwnRun });
    await write("a", near, true);
    await write("c", soon, true);
    expect([await look(), await lookForPush()]).toEqual([near, null]);
    await write("b", soon, false);
    expect([await look(), await lookForPush()]).toEqual([near, soon]);
  });

  it("D-12.3 a change that sets the time is noted, and one that leaves it alone is not", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    await database.sql`insert into items (k, at, v) values ('a', '2024-01-01', 1)`;
    const look = await mark(storage, ITEMS);
    const change = (fields: Row) =>
      storage.documents.transact({ name: "test.change" }, (tx) =>
        tx.tables.change(ITEMS, "k", "a", fields),
      );
    await change({ v: 2 });
    expect(await look()).toBe(null);
    await change({ at: "2025-01-01T00:00:00Z" });
    expect(await look()).toBe("2025-01-01T00:00:00Z");
  });

  it("D-12.3 of transactions that overlap each run has read all that was committed before it", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    const reader = new Reader(storage);
    const sql = new SQL({ url: database.url, max: WRITERS });
    const committed: string[] = [];
    let writers = WRITERS;
    const write = async (writer: number) => {
      const connection = await sql.reserve();
      for (let n = 0; n < COMMITS; n++) {
        const keys = Array.from(
          { length: 1 + ((n * writer) % 7) },
          (_, i) => `${writer} ${n} ${i}`,
        );
        await connection`begin`;
        for (const k of keys) await connection`insert into items (k, at) values (${k}, now())`;
        await connection`commit`;
        committed.push(...keys);
      }
      connection.release();
      writers--;
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, n) => write(n)));
    while (writers > 0) {
      const before = [...committed];
      await reader.run();
      expect(before.filter((k) => !reader.seen.has(k))).toEqual([]);
    }
    await writing;
    await sql.close();
    await reader.run();
    expect(committed.filter((k) => !reader.seen.has(k))).toEqual([]);
  });

  it("D-12.3 tables are told of apart, and each commit once", async (database) => {
    const [storage, second] = [await database.open(), await database.open()];
    for (const one of [storage, second]) await one.tables.prepare([ITEMS, OTHERS]);
    const looks = [
      await mark(storage, ITEMS),
      await mark(second, ITEMS),
      await mark(storage, OTHERS),
    ];
    for (let n = 9; n > 0; n--) {
      const at = `2100-01-0${n}T00:00:00Z`;
      await database.sql`insert into items (k, at) values (${at}, ${at}::text::timestamptz)`;
      expect(await Promise.all(looks.map((look) => look()))).toEqual([at, at, null]);
    }
    const [{ left }] = await database.sql`select count(*)::int4 as left from repsync._told`;
    expect(left).toBe(0);
  });

  it("D-12.3 lines of notes, versions and locks are gathered now and then, and say the same", async ({
    sql,
    url,
  }) => {
    const clock = { ms: 0, monotonicMs: () => clock.ms };
    const storage = await openPostgresStorage({ url, clock, collections: COLLECTIONS });
    const { documents, tables } = storage;
    await tables.prepare([ITEMS]);
    const call = { name: "test.gather" };
    const raise = (names: string[] | "everybody", times: number) =>
      Promise.all(
        Array.from({ length: times }, () =>
          documents.transact(call, async (tx) => tx.raise(names)),
        ),
      );
    const versions = async () =>
      (await documents.read(call, (at) => at.read({ versionsOf: ["ana", "bob", "eve"] })))[0];
    const count = async (table: string) =>
      (await sql.unsafe(`select count(*)::int4 as n from repsync.${table}`))[0].n;
    const begin = async () => {
      clock.ms += 60_000;
      await documents.transact(call, (tx) =>
        tx.read({ from: SCHEDULE_TIMES, keys: [["a"]], lock: true }),
      );
    };
    await raise(["ana"], 20);
    await raise(["bob"], 3);
    await raise("everybody", 17);
    for (let day = 30; day > 10; day--) {
      const at = `2100-01-${day}T00:00:00Z`;
      await sql`insert into items (k, at) values (${at}, ${at}::text::timestamptz)`;
    }
    expect([await versions(), await count("_told")]).toEqual([[37, 20, 17], 20]);
    await begin();
    await pollUntil("the lines to be gathered", async () => (await count("_told")) === 1);
    expect([await versions(), await count("_locks")]).toEqual([[37, 20, 17], 1]);
    const lines = await sql`select n::int4 from repsync._versions order by n`.values();
    expect(lines.flat()).toEqual([1, 1, 1, 17, 20, 20]);
    const told = await documents.transact(call, async (tx) => tx.tables.takeCommitted?.(ITEMS));
    expect(told).toBe("2100-01-11T00:00:00Z");
    const olderMs = Date.now() - 600_000 - 60_000;
    await sql`insert into repsync._locks (place, at_ms) values (1, ${olderMs})`;
    await begin();
    await pollUntil("the lock to be forgotten", async () => (await count("_locks")) === 1);
    await storage.close();
  });
});
