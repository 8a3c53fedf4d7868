// Large pushes are written with turns for others in between, and are one commit all the same. D-7.9.

import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import type { OpenSqlite } from "../../../../src/adapters/sqlite/driver/connection.ts";
import { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { Secrets } from "../../../../src/repositories/kept-values.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { failureOf } from "../../../support/failures.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readPage } from "../../../support/rows/read-rows.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { runParts } from "../../../support/run-parts.ts";
import { HurriedClock } from "../../../support/time/fake-clock.ts";
import { SqliteFile } from "../support.ts";

const table = makeTable({
  upsert_key: ["n"],
  columns: { n: { type: "integer" }, batch: { type: "integer" } },
});
const ROWS = 300;
/** More than the steps after which a write is a long one. */
const LONG_ROWS = 25_000;
const ALL = { sinceTime: null, offsetRows: 0, limitRows: 1_000 };

function rowsOf(batch: number, count = ROWS) {
  return asWrites(Array.from({ length: count }, (_, n) => ({ n, batch })));
}

async function openHurried(file: SqliteFile, busyDeadlineMs = 60_000): Promise<SqliteStorage> {
  const storage = await file.open({ clock: new HurriedClock(), busyDeadlineMs });
  await storage.tables.prepare([table]);
  return storage;
}

/** Starts a write; `isOver` tells whether it has ended. */
function startWrite(storage: SqliteStorage, batch: number, count = ROWS) {
  const write = { isOver: false, ended: Promise.resolve<unknown>(null) };
  write.ended = writeTo(storage, table, rowsOf(batch, count)).finally(() => {
    write.isOver = true;
  });
  return write;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits until somebody holds the right to write the file, as another program sees it. */
async function untilHeld(file: SqliteFile): Promise<void> {
  const other = file.openElsewhere();
  for (;;) {
    try {
      other.run("BEGIN IMMEDIATE");
      other.run("ROLLBACK");
    } catch {
      return;
    }
    await nextTurn();
  }
}

/** The batch that a page shows of its rows, and their number. */
async function seenBy(storage: SqliteStorage): Promise<readonly unknown[]> {
  const { rows, totalRows } = await readPage(storage.tables, table, ALL);
  const batches = new Set(rows.map(({ batch }) => batch));
  return [[...batches], rows.length, totalRows, await storage.tables.count(table)];
}

test("D-3.8, D-7.9.2 readers go on while a push is written, and see the state before it", () =>
  SqliteFile.use(async (file) => {
    const storage = await openHurried(file);
    await writeTo(storage, table, rowsOf(1, 10));
    const write = startWrite(storage, 2);
    await untilHeld(file);
    const seen: (readonly unknown[])[] = [];
    for (;;) {
      await storage.ping(60_000);
      const [markers, found] = [
        await runParts(storage.documents).memory.drifts(),
        await seenBy(storage),
      ];
      if (write.isOver) break;
      expect(markers.size).toBe(0);
      seen.push(found);
      if (seen.length === 5) break;
    }
    expect(seen).toEqual(Array(5).fill([[1], 10, 10, 10]));
    await write.ended;
    expect(await seenBy(storage)).toEqual([[2], ROWS, ROWS, ROWS]);
  }));

test("D-7.9.2 a total that was read during a push is not taken for that after it", () =>
  SqliteFile.use(async (file) => {
    const storage = await openHurried(file);
    const write = startWrite(storage, 1);
    await untilHeld(file);
    expect(await storage.tables.count(table)).toBe(0);
    expect(write.isOver).toBeFalse();
    await write.ended;
    expect(await storage.tables.count(table)).toBe(ROWS);
  }));

test("D-7.9.2 a total that was read at any moment of a long push is not taken for that after it", () =>
  SqliteFile.use(async (file) => {
    const storage = await openHurried(file);
    const write = startWrite(storage, 1, LONG_ROWS);
    while (!write.isOver) {
      await storage.tables.count(table);
      await nextTurn();
    }
    expect(await storage.tables.count(table)).toBe(LONG_ROWS);
  }));

test("D-7.9.2 writes wait for the one before them, and are done in the order of asking", () =>
  SqliteFile.use(async (file) => {
    const storage = await openHurried(file);
    const done: string[] = [];
    const first = startWrite(storage, 1);
    await untilHeld(file);
    const note = (what: string) => () => done.push(what);
    const { memory, leases } = runParts(storage.documents);
    const waiting = [
      memory.keepDrifts(new Map([["a", 1]])).then(note("marker")),
      leases.acquire({ name: "l", holder: "h", ttlMs: 1_000_000 }).then(note("lease")),
      memory.keepDrifts(new Map([["a", 2]])).then(note("other marker")),
      startWrite(storage, 2).ended.then(note("second")),
      startWrite(storage, 3).ended.then(note("third")),
    ];
    expect([first.isOver, done]).toEqual([false, []]);
    await Promise.all([first.ended.then(note("first")), ...waiting]);
    expect(done).toEqual(["first", "marker", "lease", "other marker", "second", "third"]);
    expect(await seenBy(storage)).toEqual([[3], ROWS, ROWS, ROWS]);
  }));

test("D-7.9.2 a write that ends in an error leaves nothing, and those that wait go on", () =>
  SqliteFile.use(async (file) => {
    const storage = await openHurried(file);
    const failing = writeTo(storage, table, rowsOf(1), {
      beforeCommit: () => {
        throw new Error("Stop");
      },
    });
    const failed = failureOf(failing);
    await untilHeld(file);
    const next = startWrite(storage, 2, 5);
    expect(await failed).toEqual({ kind: "Error", message: "Stop" });
    await next.ended;
    expect(await seenBy(storage)).toEqual([[2], 5, 5, 5]);
  }));

test("D-8.3 a small write does not wait longer than its limit for a push", () =>
  SqliteFile.use(async (file) => {
    const storage = await openHurried(file, 1);
    const write = startWrite(storage, 1, 20_000);
    await untilHeld(file);
    const small = new Secrets(storage.documents).getOrCreate("jwt_secret", "small");
    expect(await failureOf(small)).toEqual({
      kind: "store_unavailable",
      message: "The database is unavailable: it is being written to",
    });
    expect(write.isOver).toBeFalse();
    const failure = failureOf(write.ended);
    await storage.close();
    expect(await failure).not.toBeNull();
  }));

test("D-3.8, D-7.9.2 of a push that a stop interrupts nothing is there", () =>
  SqliteFile.use(async (file) => {
    const storage = await openHurried(file);
    const write = startWrite(storage, 1);
    await untilHeld(file);
    const waiting = startWrite(storage, 2);
    const failures = [failureOf(write.ended), failureOf(waiting.ended)];
    await storage.close();
    const closed = { kind: "store_unavailable", message: "The database is closed" };
    expect(await Promise.all(failures)).toEqual([closed, closed]);
    const after = await openHurried(file);
    expect(await seenBy(after)).toEqual([[], 0, 0, 0]);
  }));

test("D-7.9.2 the log of a long write is copied into the file by another thread, and writing goes on", () =>
  SqliteFile.use(async (file) => {
    const storage = await file.open();
    await storage.tables.prepare([table]);
    const { size } = statSync(file.path);
    await writeTo(storage, table, rowsOf(1, LONG_ROWS));
    // That commit has left it where it was.
    while (statSync(file.path).size === size) await nextTurn();
    await writeTo(storage, table, rowsOf(2, LONG_ROWS));
    await writeTo(storage, table, rowsOf(3, 1));
    const { rows, totalRows } = await readPage(storage.tables, table, { ...ALL, limitRows: 2 });
    expect([rows.map(({ batch }) => batch), totalRows]).toEqual([[3, 2], LONG_ROWS]);
  }));

test("D-7.9.2 the log of a write that takes long for one row is left to another thread, too", () =>
  SqliteFile.use(async (file) => {
    const texts = makeTable({
      upsert_key: ["n"],
      columns: { n: { type: "integer" }, text: { type: "text" } },
    });
    const sizesThen: number[] = [];
    const openSqlite: OpenSqlite = async (path, isReadOnly) => {
      const connection = await openBunSqlite(path, isReadOnly);
      const { runAside } = connection;
      if (runAside === undefined) throw new Error("The driver has no threads");
      connection.runAside = (module, job) => {
        sizesThen.push(statSync(path).size);
        return runAside(module, job);
      };
      return connection;
    };
    const storage = await file.open({ clock: new HurriedClock(100) }, openSqlite);
    await storage.tables.prepare([texts]);
    const { size } = statSync(file.path);
    await writeTo(storage, texts, asWrites([{ n: 1, text: "x".repeat(20_000_000) }]));
    expect(sizesThen).toEqual([size]);
    while (statSync(file.path).size < 20_000_000) await nextTurn();
  }));

test("D-7.9.2 in memory readers wait for a push that is being written", async () => {
  const storage = await SqliteStorage.open(openBunSqlite, ":memory:", {
    collections: COLLECTIONS,
    clock: new HurriedClock(),
  });
  await storage.tables.prepare([table]);
  const seen = new Set([JSON.stringify(await seenBy(storage))]);
  const write = startWrite(storage, 1);
  while (!write.isOver) {
    await storage.ping(60_000);
    seen.add(JSON.stringify(await seenBy(storage)));
    await nextTurn();
  }
  expect([...seen]).toEqual(["[[],0,0,0]", `[[1],${ROWS},${ROWS},${ROWS}]`]);
  await storage.close();
});
