// What a start does whose collections are there.
import { afterEach, expect, test } from "bun:test";
import type { MongoDocuments } from "../../../../src/adapters/mongodb/documents/mongo-documents.ts";
import type { Collection } from "../../../../src/ports/documents.ts";
import { openMongo } from "../../../support/stores/document-stores.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";

let dispose = async () => {};
afterEach(() => dispose());

const ITEMS: Collection<{ readonly name: string; readonly n: number }> = {
  name: "items",
  keyOf: ({ name }) => [name],
  indexes: { n: ({ n }) => [n] },
};

test.skipIf(!mongoAvailable)(
  "a start makes a collection anew that was dropped, and an index that is declared now",
  async () => {
    const opened = await openMongo();
    dispose = opened.dispose;
    const { documents, db } = opened;
    const indexes = async () =>
      (await db.collection("repsync_items").indexes()).map(({ name }) => name).sort();
    const { name, keyOf } = ITEMS;
    await documents.prepare([{ name, keyOf }]);
    expect(await indexes()).toEqual(["_id_"]);
    await documents.transact({ name: "test" }, async (tx) => tx.put(ITEMS, { name: "a", n: 1 }));
    await documents.prepare([ITEMS]);
    expect(await indexes()).toEqual(["_id_", "n"]);
    const stretch = { index: "n", within: [[1]] };
    const read = () => documents.read({ name: "test" }, (at) => at.read({ from: ITEMS, stretch }));
    expect(await read()).toEqual([[{ name: "a", n: 1 }]]);
    await db.dropCollection("repsync_items");
    await documents.prepare([ITEMS]);
    expect([await indexes(), await read()]).toEqual([["_id_", "n"], [[]]]);
  },
);

test.skipIf(!mongoAvailable)(
  "a collection that is declared is made before the first write to it, whoever is first",
  async () => {
    const opened = await openMongo();
    dispose = opened.dispose;
    const { documents, db } = opened;
    const instances = [documents, await opened.openSecond()];
    for (const instance of instances) await instance.declare([ITEMS, { ...ITEMS, name: "others" }]);
    const count = async (instance: MongoDocuments) => {
      await instance.transact({ name: "test" }, async (tx) => {
        const [[found]] = await tx.read({ from: ITEMS, keys: [["a"]], lock: true });
        tx.put(ITEMS, { name: "a", n: (found?.n ?? 0) + 1 });
      });
    };
    await Promise.all([...instances, ...instances, ...instances].map(count));
    const keys = [["a"], ["b"]];
    const read = () => documents.read({ name: "test" }, (at) => at.read({ from: ITEMS, keys }));
    expect(await read()).toEqual([[{ name: "a", n: 6 }]]);
    const indexes = await db.collection("repsync_items").indexes();
    expect(indexes.map(({ name }) => name).sort()).toEqual(["_id_", "n"]);
    expect(await db.listCollections({ name: "repsync_others" }).toArray()).toEqual([]);
  },
);
