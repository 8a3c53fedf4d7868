// What a start with `deletes` needs of the server.
import { describe, expect, test } from "bun:test";
import { versionProblem } from "../../../../src/adapters/mongodb/tables/table-fit.ts";
import { ITEMS } from "../../../contract/tables/tombstones/tombstone-table.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest } from "../support.ts";

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
});
