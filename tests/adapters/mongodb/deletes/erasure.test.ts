import { describe, expect } from "bun:test";
import type { Db, Document } from "mongodb";
import { makeReputation } from "../../../../src/app/services.ts";
import { LookupProcessor } from "../../../../src/repositories/lookups/lookup-processor.ts";
import {
  AUDIT_KEY,
  BY_ROOT,
  MAC,
  NAME_KEY,
  PLATFORM_ACCOUNTS,
  PROFILES,
  realScene,
} from "../../../contract/lookups/reputation-harness.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";
import { forgetful } from "../../../support/value-caches.ts";
import { databaseTest } from "../support.ts";
import { holdRecording } from "./support.ts";

const TABLE = { ...PLATFORM_ACCOUNTS, deletes: true };
const ANA_EBAY = { username: "ana", platform: "ebay" };

type Database = Parameters<Parameters<typeof databaseTest>[1]>[0];

async function openStores({ open }: Pick<Database, "open">) {
  const storage = await open();
  await storage.tables.prepare([PROFILES, TABLE]);
  const registry = new Map([PROFILES, TABLE].map((table) => [table.name, table]));
  const options = { mac: MAC, auditKey: AUDIT_KEY, nameKey: NAME_KEY, makeAlert: null };
  const clock = { monotonicMs: () => 0 };
  const stores = makeReputation(storage, registry, options);
  const parts = { ...stores.lookupParts, makeCache: forgetful, clock };
  const scene = realScene({ ...stores, lookupProcessor: new LookupProcessor(parts), storage });
  await scene.enrol("ana");
  return { storage, scene, ...stores };
}

/** The change stream is no collection's. */
const REFUSED_STREAM = {
  ...{ of: "$cmd.aggregate", failCommands: ["aggregate", "getMore"], errorCode: 13 },
};

function failPointOf(db: Db) {
  return (mode: "alwaysOn" | "off", { of = "", ...fields }: { of?: string } & Document = {}) => {
    const data = { namespace: `${db.databaseName}.${of}`, ...fields };
    return db.admin().command({ configureFailPoint: "failCommand", mode, data });
  };
}

async function tombstoneKeys({ tombstones }: Awaited<ReturnType<Database["open"]>>) {
  const query = { after: null, sinceTime: null, limitRows: 100 };
  const { items } = await tombstones.list(TABLE, query);
  return items.map(({ key }) => `${key["username"]} ${key["platform"]}`);
}

async function tombstoneNames({ tombstones }: Awaited<ReturnType<Database["open"]>>) {
  const query = { after: null, sinceTime: null, limitRows: 100 };
  const { items } = await tombstones.list(TABLE, query);
  return items.map(({ key }) => String(key["username"])).sort();
}

describe.skipIf(!mongoAvailable)("MongoDB: erased people and tombstones", () => {
  databaseTest(
    "D-7.6 an erasure forgets the tombstones of one name, and of no text that looks like it",
    async ({ open, db }) => {
      const { storage, membership } = await openStores({ open });
      const keys = [
        ANA_EBAY,
        { username: "ana$", platform: '"username":"ana"' },
        { username: "anabel", platform: "ebay" },
        { username: 'bea","username":"ana', platform: "ebay" },
      ];
      const rows = keys.map((key) => ({ ...key, updated_at: "2024-05-01T10:00:00Z" }));
      await writeTo(storage, TABLE, asWrites(rows));
      await db.collection("platform_accounts").deleteMany({});
      expect(await membership.erase("ana")).toBe("erased");
      const names = await tombstoneNames(storage);
      expect(names).toEqual(["ana$", "anabel", 'bea","username":"ana']);
      const noted = await db.collection("repsync_own_deletes").find().toArray();
      expect(JSON.stringify(noted)).not.toContain("ana");
    },
  );

  databaseTest(
    "D-8.2 no name of an erased person stays that a process left, where deletes are recorded no more",
    async ({ open, db }) => {
      const { storage, membership } = await openStores({ open });
      const deleted = [{ index: 0, key: ANA_EBAY, deletedAt: "2024-05-01T10:00:00Z" }];
      await writeTo(storage, TABLE, [], { deleted });
      await holdRecording(db);
      expect(await membership.erase("ana")).toBe("erased");
      await storage.close();
      const later = await open();
      await later.tables.prepare([PROFILES, PLATFORM_ACCOUNTS]);
      for (const name of ["repsync_own_deletes", "repsync_tombstones"]) {
        const left = await db.collection(name).find().toArray();
        expect(JSON.stringify(left)).not.toContain("ana");
      }
    },
  );

  databaseTest(
    "D-8.2, D-7.6 deletes that are recorded late are forgotten up to the erasure, and no later ones of who has the name then",
    async (database) => {
      const { db } = database;
      const { storage, membership, administration } = await openStores(database);
      const rows = db.collection("platform_accounts");
      const deleteRow = async (username: string, platform: string) => {
        await rows.insertOne({ username, platform, updated_at: "2024-05-01T10:00:00Z" });
        await rows.deleteOne({ username, platform });
      };
      await rows.insertOne({ username: "ana", platform: "etsy", updated_at: null });
      const failPoint = failPointOf(db);
      await failPoint("alwaysOn", REFUSED_STREAM);
      try {
        await deleteRow("ana", "ebay");
        await deleteRow("ana", "github");
        await deleteRow("bea", "ebay");
        expect(await membership.erase("ana")).toBe("erased");
        await administration.release("ana", BY_ROOT);
        await deleteRow("ana", "ebay");
        await storage.tables.prepare([{ ...TABLE, name: "others" }]);
      } finally {
        await failPoint("off");
      }
      expect(await tombstoneKeys(storage)).toEqual(["bea ebay", "ana ebay"]);
    },
  );

  databaseTest(
    "D-8.2, D-7.6 erasures that wait together for the recorder take longer than it may take for a piece",
    async (database) => {
      const { db } = database;
      const { storage, membership, scene } = await openStores(database);
      const others = ["bea", "cem", "dia", "eva"];
      for (const name of others) await scene.enrol(name);
      const failPoint = failPointOf(db);
      await failPoint("alwaysOn", REFUSED_STREAM);
      try {
        for (const name of ["ana", ...others]) await membership.erase(name);
        const slow = { blockConnection: true, blockTimeMS: 2_700 };
        await failPoint("alwaysOn", {
          of: "repsync_tombstones",
          failCommands: ["delete"],
          ...slow,
        });
        await pollUntil("recorder", () =>
          tombstoneKeys(storage).then(
            () => true,
            () => false,
          ),
        );
      } finally {
        await failPoint("off");
      }
      expect(await tombstoneKeys(storage)).toEqual([]);
    },
  );

  databaseTest(
    "D-8.2, D-7.6 a body that keeps a tombstone without a row runs again where the person is erased meanwhile",
    async ({ open }) => {
      const { storage, membership, names } = await openStores({ open });
      const deleted = [{ index: 0, key: ANA_EBAY, deletedAt: "2024-05-01T10:00:00Z" }];
      let attempts = 0;
      await storage.documents.transact({ name: "bury" }, async (tx) => {
        const facts = await names.readFactsWithin(tx, ["ana"]);
        if (++attempts === 1) await membership.erase("ana");
        if (!facts.get("ana")?.erased) await tx.tables.write(TABLE, [], { deleted });
      });
      expect(attempts).toBe(2);
      expect(await tombstoneNames(storage)).toEqual([]);
    },
  );
});
