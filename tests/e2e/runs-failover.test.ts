// The primary of a replica set is killed in the middle of runs that have both of their stores on it.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { releaseResources } from "../http/support/resources.ts";
import { startReplicaSet } from "../support/mongo-replica-set.ts";
import { mongoAvailable } from "../support/shared-mongo.ts";
import { itemsOf, makeRunService } from "./support/run-service.ts";

afterEach(releaseResources);
setDefaultTimeout(600_000);

const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 2);
const ROWS = 600;

test.skipIf(!mongoAvailable)(
  `D-4.5, D-4.6, D-4.8 runs survive a killed primary of MongoDB (${ROUNDS} rounds)`,
  async () => {
    const set = await startReplicaSet({ members: 3 });
    try {
      const remote = await makeRunService({ STORAGE_URL: set.uri("there") });
      const SYNC_REMOTE_URL = remote.url;
      const local = await makeRunService({ STORAGE_URL: set.uri("here"), SYNC_REMOTE_URL });
      await Promise.all([remote.start(), local.start()]);
      for (let round = 0; round < ROUNDS; round++) {
        await local.push(itemsOf("local", round, ROWS));
        await remote.push(itemsOf("remote", round, ROWS));
        const direction = round % 2 === 0 ? "push" : "pull";
        const primary = await set.primary();
        let isKilled = false;
        for await (const text of local.stream({ table: "items", direction })) {
          if (isKilled || !text.includes('"type":"batch"')) continue;
          isKilled = true;
          await primary.kill();
        }
        expect(isKilled).toBe(true);
        await primary.restart();
        await set.primary();
        const reply = await local.ask("/trigger", { table: "items" });
        const result = await reply.json();
        expect([round, reply.status, result]).toMatchObject([round, 200, { status: "success" }]);
        const here = await local.rows();
        expect(here.length).toBe(2 * ROWS);
        expect(await remote.rows()).toEqual(here);
        expect(here.every((row) => row.includes(`version ${round}`))).toBe(true);
      }
      for (const end of [local, remote]) {
        expect(await end.process().stop()).toEqual({ code: 0, signal: null });
      }
    } finally {
      await set.stop();
    }
  },
);
