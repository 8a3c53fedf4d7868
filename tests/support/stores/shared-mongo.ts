// One single-member replica set for all tests of a process, started by the first that needs it. Workers have one each, as
// some tests make its commands fail.
import { afterAllTests } from "../test-run.ts";
import { startReplicaSet } from "./mongo-replica-set.ts";
import { findMongod } from "./mongod-binary.mjs";
import { startCluster } from "./mongos-cluster.ts";

type SharedMongo = { uri(dbName: string): string };

const isLeftOut = process.env["TEST_STORES"] === "sqlite";
const found = isLeftOut
  ? { reason: "TEST_STORES is sqlite" }
  : await findMongod({ say: (text) => console.error(text) });
const problem = "reason" in found ? found.reason : undefined;
if (problem && !isLeftOut) {
  if (process.env.CI === "true") throw new Error(`CI needs a mongod: ${problem}`);
  console.error(`\n*** MongoDB tests are SKIPPED, no mongod: ${problem} ***\n`);
}

/** Whether there is a mongod: `describe.skipIf(!mongoAvailable)`. The reason has been printed. */
export const mongoAvailable = problem === undefined;

let starting: Promise<SharedMongo> | undefined;

/** The shared set, or null when there is no mongod. Take a database name of your own per test. */
export async function sharedMongo(): Promise<SharedMongo | null> {
  if (!mongoAvailable) return null;
  starting ??= startAndStopLater();
  return await starting;
}

async function startAndStopLater(): Promise<SharedMongo> {
  const mongos = process.env["MONGOS_BINARY"];
  const set = mongos ? await startCluster(mongos) : await startReplicaSet({ members: 1 });
  // A worker of `bun test --parallel` never knows which file is its last; there the set ends with the process.
  if (process.env["BUN_TEST_WORKER_ID"] === undefined) afterAllTests(() => set.stop());
  return set;
}
