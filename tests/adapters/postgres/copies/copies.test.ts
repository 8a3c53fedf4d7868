import { EmptyPostgres } from "../../../../src/adapters/postgres/copies/empty-postgres.ts";
import { openStoppedPostgres } from "../../../../src/adapters/postgres/copies/stopped-postgres.ts";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { copiesContract } from "../../../contract/copies/copies-contract.ts";
import { ABOUT } from "../../../contract/copies/dumped-deployment.ts";
import { makePostgresDatabase, postgresAvailable } from "../../../support/shared-postgres.ts";

const clock = new SystemClock();

copiesContract({
  name: "PostgreSQL",
  isAvailable: postgresAvailable,
  holds: "own types",
  makeUrl: () => makePostgresDatabase(),
  open: (url) => openPostgresStorage({ url, clock, collections: COLLECTIONS }),
  source: (url) => openStoppedPostgres({ url, clock, collections: COLLECTIONS }),
  claim: (url) =>
    EmptyPostgres.claim({
      ...{ url, clock, collections: COLLECTIONS, adminUsername: null, by: "move" },
      tables: ABOUT.tables.map(({ name }) => name),
      prepare: async (tables) => {
        const options = { url, clock, collections: COLLECTIONS, isFilling: true };
        const storage = await openPostgresStorage(options);
        await storage.documents.prepare(COLLECTIONS);
        await storage.tables.prepare(tables);
        await storage.close();
      },
    }),
});
