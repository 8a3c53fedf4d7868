// Stores on the shared replica set, each in a database of its own, with a bare client beside them.

import { test } from "bun:test";
import { type Db, MongoClient } from "mongodb";
import { openMongoStorage } from "../../../src/adapters/mongodb/storage.ts";
import { SystemClock } from "../../../src/adapters/system/system.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { COLLECTIONS } from "../../../src/repositories/collections.ts";
import { releaseResources } from "../../support/resources.ts";
import { type RunStorage, withRunParts } from "../../support/run-parts.ts";
import { giveBackDatabase, takeDatabase } from "../../support/stores/mongo-databases.ts";
import { takeShardProblems, watchShardKeys } from "../../support/stores/shard-keys.ts";

const TEST_TIMEOUT_MS = 120_000;

/** One test's database. */
export interface TestDatabase {
  readonly url: string;
  /** The database as other programs see it. */
  readonly db: Db;
  /** Opens an instance, closed after the test. `options` are added to the URL; `storeClock` is in place of the server's. */
  open(
    options?: string,
    clock?: Pick<Clock, "monotonicMs">,
    storeClock?: Pick<Clock, "nowMs">,
  ): Promise<RunStorage>;
  /** Rejects when something was asked without the shard key. */
  dispose(): Promise<void>;
}

watchShardKeys();

/** An empty database on the shared replica set. */
export async function makeDatabase(): Promise<TestDatabase> {
  const url = await takeDatabase();
  const client = new MongoClient(url, { writeConcern: { w: "majority" } });
  const opened: FullStorage[] = [];
  return {
    url,
    db: client.db(),
    async open(options = "", clock = new SystemClock(), storeClock) {
      const time = storeClock === undefined ? {} : { storeClock };
      const watched = `${url + options}&monitorCommands=true`;
      const storage = await openMongoStorage({
        url: watched,
        clock,
        collections: COLLECTIONS,
        ...time,
      });
      opened.push(storage);
      // As a service does at its start.
      await storage.documents.prepare(COLLECTIONS);
      return withRunParts(storage);
    },
    async dispose() {
      for (const storage of opened) await storage.close();
      const problems = takeShardProblems(client.db().databaseName);
      await client.close();
      await giveBackDatabase(url);
      if (problems.length > 0) throw new Error(`Without the shard key: ${problems.join("; ")}`);
    },
  };
}

/** Defines a test with a database of its own. */
export function databaseTest(name: string, body: (database: TestDatabase) => Promise<void>): void {
  test(
    name,
    async () => {
      const database = await makeDatabase();
      try {
        await body(database);
      } finally {
        await releaseResources();
        await database.dispose();
      }
    },
    TEST_TIMEOUT_MS,
  );
}

/** Lets the server's time pass for leases: their ends come nearer. */
export async function makeOlder({ db }: TestDatabase, durationMs: number): Promise<void> {
  const older = [{ $set: { endsAtMs: { $subtract: ["$endsAtMs", durationMs] } } }];
  await db.collection("repsync_leases").updateMany({}, older);
}
