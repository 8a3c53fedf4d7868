// The floor on MongoDB: started on a database that the service has made, so indexes are the same.
import { Double, MongoClient } from "mongodb";
import type { BenchRow } from "../bench-rows.ts";
import { COLUMN_NAMES, serveFloor, TABLE_NAME } from "./serve-floor.ts";

const client = new MongoClient(process.env.FLOOR_TARGET ?? "");
await client.connect();
const collection = client.db().collection(TABLE_NAME);
const order = { updated_at: 1, shop: 1, sku: 1 } as const;
const hasRating = COLUMN_NAMES.includes("rating");
const projection = { _id: 0 };
const transaction = {
  readConcern: { level: "snapshot" },
  writeConcern: { w: "majority", j: true },
} as const;

serveFloor({
  readPage: (after, limit) =>
    collection
      .find(after === null ? {} : { updated_at: { $gt: after.slice(0, -1) } }, {
        sort: order,
        limit,
        projection,
        batchSize: limit + 1,
      })
      .toArray(),
  write: async (rows: readonly BenchRow[]) => {
    const operations = rows.map((row) => {
      const { shop, sku, ...fields } = row;
      const changed = {
        ...fields,
        ...(hasRating ? { rating: new Double(row.rating) } : {}),
        updated_at: row.updated_at.slice(0, -1),
      };
      return { updateOne: { filter: { shop, sku }, update: { $set: changed }, upsert: true } };
    });
    await client.withSession((session) =>
      session.withTransaction(
        () => collection.bulkWrite(operations, { session, ordered: false }),
        transaction,
      ),
    );
  },
});
