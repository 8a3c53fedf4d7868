// Every collection of a new deployment has its place in what copies take along.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { MongoClient } from "mongodb";
import { KEPT, LEFT_OUT } from "../../../../src/adapters/mongodb/copies/contents.ts";
import { PLAIN_DOCUMENTS } from "../../../../src/adapters/mongodb/copies/portable-documents.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { MONGODB } from "../../../http/support/backends.ts";
import { releaseResources } from "../../../http/support/resources.ts";
import { startRunApp } from "../../../http/sync-runs/support/run-apps.ts";

/** Those of which an entry is more or less than a document. */
const OTHER_COLLECTIONS = ["repsync_store", "repsync_delete_recorder", "repsync_counters"];
/** Made anew by a start, or put together before a move. */
const NOT_MOVED = ["repsync_tables", "repsync_versions", "repsync_audit_segments"];

afterEach(releaseResources);
setDefaultTimeout(60_000);

test.skipIf(!MONGODB.isAvailable)(
  "D-10.7 a copy takes every collection along, or is told to leave it out",
  async () => {
    const url = await MONGODB.makeUrl();
    await startRunApp({ env: { STORAGE_URL: url } });
    const client = new MongoClient(url);
    try {
      const collections = await client.db().listCollections({}, { nameOnly: true }).toArray();
      const own = collections.map(({ name }) => name).filter((name) => name.startsWith("repsync_"));
      const owned = COLLECTIONS.map(({ name }) => `repsync_${name}`);
      expect([...KEPT, ...owned, ...LEFT_OUT].sort()).toEqual(own.sort());
      const moved = Object.values(PLAIN_DOCUMENTS).map(({ collection }) => collection);
      const known = [
        ...new Set([...moved, ...OTHER_COLLECTIONS, ...NOT_MOVED, ...owned, ...LEFT_OUT]),
      ];
      expect(known.sort()).toEqual(own.sort());
    } finally {
      await client.close();
    }
  },
);
