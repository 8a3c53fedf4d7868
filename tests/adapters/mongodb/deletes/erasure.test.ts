import { describe, expect } from "bun:test";
import { SystemTimer } from "../../../../src/adapters/system/system.ts";
import { makeReputation } from "../../../../src/app/reputation.ts";
import {
  AUDIT_KEY,
  MAC,
  NAME_KEY,
  PLATFORM_ACCOUNTS,
  PROFILES,
} from "../../../contract/lookups/reputation-harness.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { forgetful, realScene } from "../reputation-support.ts";
import { databaseTest } from "../support.ts";

const TABLE = { ...PLATFORM_ACCOUNTS, deletes: true };

describe.skipIf(!mongoAvailable)("MongoDB: erased people and tombstones", () => {
  databaseTest(
    "D-7.6 an erasure forgets the tombstones of one name, and of no text that looks like it",
    async ({ open, db }) => {
      const storage = await open();
      await storage.tables.prepare([PROFILES, TABLE]);
      const registry = new Map([PROFILES, TABLE].map((table) => [table.name, table]));
      const options = { mac: MAC, auditKey: AUDIT_KEY, nameKey: NAME_KEY, makeAlert: null };
      const clock = { monotonicMs: () => 0 };
      const kept = { ...options, makeCache: forgetful, clock, timer: new SystemTimer() };
      const stores = makeReputation(storage, registry, kept);
      await realScene({ ...stores, storage }).enrol("ana");
      const keys = [
        { username: "ana", platform: "ebay" },
        { username: "ana$", platform: '"username":"ana"' },
        { username: "anabel", platform: "ebay" },
        { username: 'bea","username":"ana', platform: "ebay" },
      ];
      const rows = keys.map((key) => ({ ...key, updated_at: "2024-05-01T10:00:00Z" }));
      await writeTo(storage, TABLE, asWrites(rows));
      await db.collection("platform_accounts").deleteMany({});
      expect(await stores.membership.erase("ana")).toBe("erased");
      const query = { after: null, sinceTime: null, limitRows: 100 };
      const { items } = await storage.tombstones.list(TABLE, query);
      const names = items.map(({ key }) => String(key["username"])).sort();
      expect(names).toEqual(["ana$", "anabel", 'bea","username":"ana']);
    },
  );
});
