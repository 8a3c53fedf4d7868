// A user of the database who may not do all that a table needs.

import { describe, expect } from "bun:test";
import type { Db } from "mongodb";
import { openMongoStorage } from "../../../../src/adapters/mongodb/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
import { ADVICE, ENTRY, ROW } from "../../../contract/tables/foreign-items.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest as it, type TestDatabase } from "../support.ts";

const GOODS = makeTable(ENTRY, "goods");
const RECORDED = makeTable({ ...ENTRY, deletes: true }, "goods");
const FOREIGN = 'Table "goods", which another program made, cannot be used';
const LACKS = "the user of STORAGE_URL lacks privileges there";
const USER = "limited";
const PASSWORD = "p-of-a-test";

interface Privilege {
  readonly actions: readonly string[];
  /** One collection; all of them by default. */
  readonly collection?: string;
}

/** Opens the store as a user with these privileges alone. */
async function openAs(
  { db, url }: TestDatabase,
  privileges: readonly Privilege[],
  tables: readonly Table[],
): Promise<void> {
  const on = privileges.map(({ actions, collection = "" }) => {
    return { resource: { db: db.databaseName, collection }, actions };
  });
  await db.command({ createRole: USER, privileges: on, roles: [] });
  await db.command({ createUser: USER, pwd: PASSWORD, roles: [USER] });
  try {
    const address = url.replace("mongodb://", `mongodb://${USER}:${PASSWORD}@`);
    const storage = await openMongoStorage({ url: address, clock: new SystemClock(), tables });
    await storage.tables.prepare(tables);
    await storage.close();
  } finally {
    await db.command({ dropUser: USER });
    await db.command({ dropRole: USER });
  }
}

const WRITING = ["find", "insert", "update", "remove", "collStats"];
const MAKING = [...WRITING, "createIndex", "listCollections", "listIndexes"];

async function stateOf(db: Db): Promise<unknown> {
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  const indexes = await db.collection("goods").indexes();
  return [found.map(({ name }) => name).toSorted(), indexes];
}

describe.skipIf(!mongoAvailable)("MongoDB rights", () => {
  for (const [what, tables, privileges, lacking] of [
    [
      "to write",
      [GOODS],
      [{ actions: ["find", "collStats"] }],
      "insert, update, remove, createIndex (role readWrite)",
    ],
    ["to make an index", [GOODS], [{ actions: WRITING }], "createIndex (role readWrite)"],
    [
      "to have deletes recorded",
      [RECORDED],
      [{ actions: MAKING }],
      "changeStream (role readWrite), collMod (role dbAdmin)",
    ],
    [
      "on this collection",
      [RECORDED],
      [{ actions: [...MAKING, "changeStream"] }, { actions: ["collMod"], collection: "others" }],
      "collMod (role dbAdmin)",
    ],
  ] as const) {
    it(`D-11.4.2 a user without the right ${what} is told before anything is written`, async (database) => {
      const { db } = database;
      await db.collection("goods").insertOne({ ...ROW, at: "2024-01-01T00:00:00" });
      const before = await stateOf(db);
      await expect(openAs(database, privileges, tables)).rejects.toMatchObject({
        kind: "schema_conflict",
        message: `${FOREIGN}: ${LACKS}: ${lacking}${ADVICE}`,
      });
      expect(await stateOf(db)).toEqual(before);
    });
  }

  it("D-11.4.2 a user who may do what is left to be done is enough", async (database) => {
    const { db } = database;
    await db.collection("goods").insertOne({ ...ROW, at: "2024-01-01T00:00:00" });
    await openAs(database, [{ actions: MAKING }], [GOODS]);
    const own = { actions: [...MAKING, "changeStream"] };
    await openAs(database, [own, { actions: ["collMod"], collection: "goods" }], [RECORDED]);
    await openAs(database, [{ actions: [...WRITING, "changeStream"] }], [RECORDED]);
  });
});
