// Several processes that would fill one database at the same time.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { MongoClient } from "mongodb";
import { claimEmptyDatabase } from "../../../../src/adapters/mongodb/copies/restore.ts";
import { isAppError } from "../../../../src/domain/shared/errors.ts";
import { MONGODB } from "../../../http/support/backends.ts";
import { keepResource, releaseResources } from "../../../http/support/resources.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

test.skipIf(!MONGODB.isAvailable)(
  "D-10.7 of those that would fill a database at once one does, and the others are refused",
  async () => {
    const client = new MongoClient(await MONGODB.makeUrl());
    keepResource(() => client.close());
    const claim = () => claimEmptyDatabase(client.db(), null, ["notes"]);
    const claims = await Promise.allSettled([claim(), claim(), claim()]);
    const [winner, ...more] = claims.filter(({ status }) => status === "fulfilled");
    expect(more).toEqual([]);
    for (const one of claims) {
      if (one.status === "rejected") expect(isAppError(one.reason, "invalid_request")).toBe(true);
    }
    if (winner?.status !== "fulfilled") throw new Error("Nobody fills it");
    await client.db().collection("notes").insertOne({ name: "a" });
    await expect(claim()).rejects.toThrow("holds the store");
    // Who began before the others ended, too.
    await winner.value.finish();
    await expect(claim()).rejects.toThrow("is not empty");
    expect(await client.db().collection("notes").countDocuments()).toBe(1);
  },
);
