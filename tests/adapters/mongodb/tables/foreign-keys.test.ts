// Key columns of collections that another program filled.

import { describe, expect } from "bun:test";
import { type Db, Decimal128, Double, Long, ObjectId } from "mongodb";
import { openMongoStorage } from "../../../../src/adapters/mongodb/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { ColumnType } from "../../../../src/domain/sync/table/column-types.ts";
import { ADVICE } from "../../../contract/tables/foreign-items.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest as it } from "../support.ts";

const FOREIGN = ", which another program made, cannot be used";
const GREATEST = Long.fromString("9223372036854775807");

/** Values of key columns in which a push finds its row, and others. */
const FORMS: readonly (readonly [ColumnType, readonly unknown[], readonly unknown[]])[] = [
  [
    "text",
    ["", "5", "é"],
    [new ObjectId(), 5, true, ["a"], { a: 1 }, Decimal128.fromString("1"), new Date(0)],
  ],
  [
    "integer",
    [5, Long.MIN_VALUE, GREATEST, new Double(-7), { json: '"x"' }],
    [...[1.5, 2 ** 53, -(2 ** 53), Number.NaN].map((number) => new Double(number)), ...["5", [5]]],
  ],
  [
    "bigint",
    [5, GREATEST, new Double(2 ** 53 - 1)],
    ["5", Decimal128.fromString("5"), new Double(1e25)],
  ],
  ["boolean", [true, false], [1, "true"]],
  [
    "date",
    ["2024-02-29", "2000-02-29", "2023-02-28", "2023-12-31", "2023-11-30", { json: '"soon"' }],
    [
      ...[new Date(0), "2024-05-01T00:00:00", "soon", "2024-13-01", "2023-04-31", "2024-02-30"],
      ...["2023-02-29", "1900-02-29", "0000-01-01"],
    ],
  ],
  [
    "datetime",
    ["2024-05-01T10:00:00", "2024-05-01T10:00:00.120", "2024-05-01T10:00:00.120003"],
    [
      ...[new Date(0), "2024-05-01T10:00:00Z", "2024-05-01T10:00:00.000", "2024-05-01"],
      "2024-02-30T10:00:00",
    ],
  ],
];

async function namesOf(db: Db): Promise<string[]> {
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  return found.map(({ name }) => name).toSorted();
}

const tableOf = (type: ColumnType, name: string) =>
  makeTable({ upsert_key: ["k"], columns: { k: { type } } }, name);

describe.skipIf(!mongoAvailable)("MongoDB keys of other programs", () => {
  it("D-11.4.2 are refused in a form that no push looks for, as it would write a second row", async (database) => {
    const storage = await database.open();
    for (const [type, fits, others] of FORMS) {
      const table = tableOf(type, `of_${type}`);
      const documents = database.db.collection(table.name);
      for (const k of others) {
        await documents.insertOne({ k });
        const preparing = storage.tables.prepare([table]);
        await expect(preparing, String(k)).rejects.toMatchObject({ kind: "schema_conflict" });
        await documents.deleteMany({});
      }
      await documents.insertMany(fits.map((k) => ({ k })));
      const rows = await TableUnderTest.prepare(storage, table);
      const before = await rows.rows();
      await rows.write(...before);
      expect(await rows.rows()).toEqual(before);
    }
  });

  it("D-11.4.2 are refused beside times that no read could go on behind", async (database) => {
    const { db, url } = database;
    const columns = { k: { type: "text" }, at: { type: "datetime" } } as const;
    const table = makeTable({ upsert_key: ["k"], timestamp_column: "at", columns }, "timed");
    const documents = db.collection("timed");
    await documents.insertMany([
      { k: "a", at: [new Date(0)] },
      { k: "b", at: new Date(0) },
    ]);
    const open = () => openMongoStorage({ url, clock: new SystemClock(), tables: [table] });
    const refusal = {
      message: `Table "timed"${FOREIGN}: its timestamp column "at" holds lists, undefined, or times beyond the year 275760: store times, or null${ADVICE}`,
    };
    await expect(open()).rejects.toMatchObject(refusal);
    for (const endless of [Long.MIN_VALUE, Long.MAX_VALUE]) {
      await documents.updateOne({ k: "a" }, [{ $set: { at: { $toDate: endless } } }]);
      await expect(open()).rejects.toMatchObject(refusal);
    }
    await documents.updateOne({ k: "a" }, { $set: { at: { some: "thing" } } });
    await (await open()).close();
  });

  it("D-11.4.2 are refused by their types, with what to store, before anything is written", async (database) => {
    const { db, url } = database;
    await db.collection("a").insertMany([{ k: new ObjectId() }, { k: 5 }, { k: "x" }]);
    await db.collection("b").insertMany([{ k: "5" }, { k: 5 }]);
    await db.collection("c").insertMany([{ k: "1 May" }]);
    await db.collection("d").insertMany([{ k: 1 }]);
    await db.collection("e").insertMany([{ k: 5 }]);
    await db.collection("f").insertMany([{ k: new Date(0) }]);
    const types = ["text", "integer", "date", "boolean", "datetime", "text"] as const;
    const tables = types.map((type, n) => tableOf(type, "abcdef".charAt(n)));
    const before = await namesOf(db);
    const opening = openMongoStorage({ url, clock: new SystemClock(), tables });
    await expect(opening).rejects.toMatchObject({
      kind: "schema_conflict",
      message:
        `Table "a"${FOREIGN}: its key column "k" holds values of other BSON types (int, objectId): store texts${ADVICE}\n` +
        `Table "b"${FOREIGN}: its key column "k" holds values of other BSON types (string): store whole numbers of type int or long${ADVICE}\n` +
        `Table "c"${FOREIGN}: its key column "k" holds texts in another form: store texts like 2024-05-01${ADVICE}\n` +
        `Table "d"${FOREIGN}: its key column "k" holds values of other BSON types (int): store true or false${ADVICE}\n` +
        `Table "e"${FOREIGN}: its key column "k" holds values of other BSON types (int): store texts like 2024-05-01T10:00:00.123 (UTC, no zone)${ADVICE}\n` +
        `Table "f"${FOREIGN}: its key column "k" holds BSON dates: store texts like 2024-05-01T10:00:00.123 (UTC, no zone)${ADVICE}`,
    });
    expect(await namesOf(db)).toEqual(before);
  });
});
