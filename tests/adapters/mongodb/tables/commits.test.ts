// What commits of several at once do to one another.

import { describe, expect } from "bun:test";
import { isAppError } from "../../../../src/domain/shared/errors.ts";
import type { HeldLease } from "../../../../src/repositories/leases.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readPage } from "../../../support/rows/read-rows.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import type { RunStorage } from "../../../support/run-parts.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest as it, makeOlder, type TestDatabase } from "../support.ts";

const ITEMS = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
});
const TTL_MS = 60_000;
const LATE = "2024-01-01T00:00:00Z";

const rows = (count: number, v: number, prefix = "k") =>
  asWrites(Array.from({ length: count }, (_, n) => ({ k: `${prefix}${n}`, at: LATE, v })));

describe.skipIf(!mongoAvailable)("MongoDB commits", () => {
  it("D-7.8 renewals go on while a write under their lease does, and do not make it run again", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    // A push of known keys after one of new keys alone: more new ones are not expected any more.
    for (const v of [1, 2]) await writeTo(storage, ITEMS, rows(4_000, v));
    const held = await acquired(storage);
    const aborted = await abortedTransactions(database);
    let isWriting = true;
    const lease = held.claim;
    const writing = writeTo(storage, ITEMS, rows(4_000, 3), { lease }).finally(() => {
      isWriting = false;
    });
    let renewals = 0;
    for (; isWriting; renewals++) expect(await held.renew()).toBe(true);
    expect((await writing).changed).toBe(4_000);
    expect(renewals).toBeGreaterThan(5);
    expect(await abortedTransactions(database)).toBe(aborted);
  });

  it("S-4.2.10 another record than the one that an attempt before saw refused is judged anew", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    await database.db.command({ collMod: "items", validator: { v: { $type: "int" } } });
    let attempts = 0;
    const { failures, changed } = await storage.documents.transact({ name: "test.write" }, (tx) =>
      tx.tables.write(ITEMS, asWrites([{ k: "a", at: LATE, v: ++attempts < 3 ? null : 1 }])),
    );
    expect([failures, changed]).toEqual([[], 1]);
  });

  it("S-4.2.10 a record that was refused stays refused where each attempt gives it another time", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    await database.db.command({ collMod: "items", validator: { v: { $type: "int" } } });
    let attempts = 0;
    const written = await storage.documents.transact({ name: "test.write" }, (tx) => {
      const at = `2024-01-01T00:00:0${++attempts}Z`;
      return tx.tables.write(ITEMS, asWrites([{ k: "a", at, v: null }]));
    });
    expect(written.failures.map(({ index }) => index)).toEqual([0]);
    expect(attempts).toBeLessThan(5);
  });

  it("D-7.8 once another instance has a lease, nothing more comes of writes that were under way", async (database) => {
    const storage = await database.open();
    const other = await database.open();
    await storage.tables.prepare([ITEMS]);
    for (let round = 0; round < 8; round++) {
      const held = await acquired(storage);
      const lease = held.claim;
      const pushed = rows(300 * round, round, `${round} `);
      const writing = writeTo(storage, ITEMS, pushed, { lease }).catch((error: object) => error);
      await makeOlder(database, 2 * TTL_MS);
      const taken = await acquired(other);
      const seen = await other.tables.count(ITEMS);
      const outcome = await writing;
      expect("changed" in outcome || isAppError(outcome, "lease_lost")).toBe(true);
      expect(await other.tables.count(ITEMS)).toBe(seen);
      await taken.release();
    }
  });

  it("D-7.1 of guarded writes at once by two instances the newest version stays", async (database) => {
    const stores = [await database.open(), await database.open()];
    await stores[0]!.tables.prepare([ITEMS]);
    const keys = ["a", "b", "c"];
    for (let round = 0; round < 20; round++) {
      const versions = Array.from({ length: 4 }, (_, n) => 10 + round * 4 + ((n * 7 + round) % 4));
      const writes = versions.map((v, n) => {
        const at = `2024-01-01T00:00:00.0${v}Z`;
        const guarded = asWrites(keys.map((k) => ({ k, at, v })));
        return writeTo(stores[n % 2]!, ITEMS, guarded, { conflict: "newer" });
      });
      await Promise.all(writes);
      const page = { sinceTime: null, offsetRows: 0, limitRows: 10 };
      const { rows: found } = await readPage(stores[0]!.tables, ITEMS, page);
      const newest = 13 + round * 4;
      expect(found.map(({ k, v }) => [k, v])).toEqual(keys.map((k) => [k, newest]));
    }
  });

  it("D-7.4 pushes of late rows at once do not make one another run again", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    const { mark } = await storage.lateRows.read(ITEMS, { lateAfter: null, isForOwnPush: false });
    const aborted = await abortedTransactions(database);
    const pushes = Array.from({ length: 6 }, (_, n) =>
      writeTo(storage, ITEMS, rows(200, n, `${n} `)),
    );
    await Promise.all(pushes);
    expect(await abortedTransactions(database)).toBe(aborted);
    const { from } = await storage.lateRows.read(ITEMS, { lateAfter: mark, isForOwnPush: false });
    expect(from).toBe(LATE);
  });

  it("D-7.4 what commits have noted does not pile up where no run reads it", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    for (let n = 0; n < 130; n++) await writeTo(storage, ITEMS, rows(1, n));
    expect(await database.db.collection("repsync_late_rows").countDocuments()).toBeLessThan(102);
  });
});

/** The number of transactions that the server has ended without a commit: conflicts, and what repsync gave up. */
async function abortedTransactions({ db }: TestDatabase): Promise<number> {
  const { transactions } = await db.admin().serverStatus();
  return Number(transactions.totalAborted);
}

async function acquired({ leases }: RunStorage): Promise<HeldLease> {
  const request = { name: "sync pull items", holder: "run", ttlMs: TTL_MS };
  const lease = await leases.acquire(request);
  if ("heldBy" in lease) throw new Error(`The lease is held by "${lease.heldBy}"`);
  return lease;
}
