// What a start with `deletes` needs of the server.
import { describe, expect, test } from "bun:test";
import { versionProblem } from "../../../../src/adapters/mongodb/tables/table-fit.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { storeAt } from "../../../../src/app/stores.ts";
import { ITEMS } from "../../../contract/tables/tombstones/tombstone-table.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest } from "../support.ts";
import { documents, listedKeys, openInstance } from "./support.ts";

test("D-7.6 deletes needs MongoDB 6.0", () => {
  expect(versionProblem(17, [ITEMS])).toBeNull();
  expect(versionProblem(16, [ITEMS])).toBe(
    'Table "items": "deletes" needs MongoDB 6.0 or later: upgrade MongoDB, or remove "deletes" from the registry',
  );
});

describe.skipIf(!mongoAvailable)("MongoDB: a start with deletes", () => {
  databaseTest(
    "D-7.6 a server that refuses pre-images is a problem that says what is needed",
    async ({ open, db }) => {
      const storage = await open();
      const data = { failCommands: ["collMod"], errorCode: 13 };
      await db.admin().command({ configureFailPoint: "failCommand", mode: { times: 1 }, data });
      const preparing = storage.tables.prepare([ITEMS]);
      const message =
        'Table "items": "deletes" needs MongoDB with featureCompatibilityVersion 6.0 or later and the right to change the collection (role dbAdmin), but it answers Unauthorized';
      await expect(preparing).rejects.toMatchObject({ kind: "schema_conflict", message });
      await storage.tables.prepare([ITEMS]);
      expect(await storage.tombstones.end(ITEMS)).toMatch(/^[0-9a-f]{24}-0$/);
    },
  );

  databaseTest(
    "D-7.6, D-10.7 where each query has to use an index, deletes are recorded, and a copy finds an empty store",
    async ({ url, db }) => {
      const isAsked = (notablescan: boolean) =>
        db.admin().command({ setParameter: 1, notablescan });
      await isAsked(true);
      try {
        const { storage, logger } = await openInstance(url);
        for (const k of ["a", "b"]) {
          await db.collection("items").insertMany(documents(k));
          await db.collection("items").deleteOne({ k });
          expect(await listedKeys(storage)).toContain(k);
        }
        expect(logger.lines).toEqual([]);
        await storage.close();
        const tools = { clock: new SystemClock(), logger };
        const claim = { ...tools, adminUsername: "root", tables: ["items"], by: "move" } as const;
        await (await storeAt(url).claim(claim)).giveUp();
      } finally {
        await isAsked(false);
      }
    },
  );
});
