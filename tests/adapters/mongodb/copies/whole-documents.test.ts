// What other programs keep in documents of tables goes back into MongoDB as it was.

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import {
  Binary,
  BSON,
  Decimal128,
  type Document,
  Double,
  Long,
  MongoClient,
  ObjectId,
} from "mongodb";
import { NodeMac } from "../../../../src/adapters/node-crypto/node-crypto.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { storeAt } from "../../../../src/app/stores.ts";
import { copyStore } from "../../../../src/usecases/operations/copy-store.ts";
import { MONGODB } from "../../../http/support/backends.ts";
import { keepResource, releaseResources } from "../../../http/support/resources.ts";
import { MemoryLogger } from "../../../support/memory-logger.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

const TABLE = makeTable({
  upsert_key: ["name"],
  timestamp_column: "at",
  columns: {
    id: { type: "integer", auto_increment: true },
    name: { type: "text" },
    at: { type: "datetime" },
    price: { type: "real" },
  },
});
const oid = (n: number) => new ObjectId(n.toString(16).padStart(24, "0"));
/** As other programs write them: other ids, fields and types, and fields that are missing. */
const FOREIGN = [
  { _id: oid(1), name: "own", at: "2024-01-01T00:00:00", price: new Double(-0), id: Long.ONE },
  { _id: "text", name: "other", at: new Date(0), price: Decimal128.fromString("1.50") },
  { _id: oid(3), more: { a: [1, null] }, name: "more", bytes: new Binary(Buffer.from("é")) },
];

/** With the type of each value. */
function textOf(document: Document): string {
  const fields = Object.entries(document).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return BSON.EJSON.stringify(Object.fromEntries(fields), { relaxed: false });
}

test.skipIf(!MONGODB.isAvailable)(
  "D-10.7 documents of MongoDB go back into MongoDB as they were, whatever another program keeps in them",
  async () => {
    const [from, to] = [await MONGODB.makeUrl(), await MONGODB.makeUrl()];
    const tools = { clock: new SystemClock(), logger: new MemoryLogger() };
    const storage = await storeAt(from).open(tools);
    await storage.tables.prepare([TABLE]);
    await writeTo(storage, TABLE, [{ index: 0, row: { name: "pushed", price: 0.5 } }]);
    await storage.close();
    const collectionOf = (url: string) => {
      const client = new MongoClient(url);
      keepResource(() => client.close());
      return client.db().collection<{ _id: unknown }>("items");
    };
    await collectionOf(from).insertMany(FOREIGN);
    const source = await storeAt(from).openStopped(tools);
    keepResource(async () => source.close());
    const options = { ...tools, adminUsername: null, tables: ["items"], by: "move" } as const;
    const target = await storeAt(to).claim(options);
    await copyStore(source, { target, mac: new NodeMac() }, {});
    await target.finish("5f1e");
    const stored = async (url: string) => {
      const raw = await collectionOf(url).find({}, { promoteValues: false }).toArray();
      return raw.map(textOf).sort();
    };
    const before = await stored(from);
    expect(before).toHaveLength(4);
    expect(await stored(to)).toEqual(before);
  },
);
