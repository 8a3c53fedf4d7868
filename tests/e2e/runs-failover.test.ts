// The server that both stores of a run are on is killed in the middle of it.
import { expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { startReplicaSet } from "../support/stores/mongo-replica-set.ts";
import { findPostgres, startPostgres } from "../support/stores/postgres-server.ts";
import { mongoAvailable } from "../support/stores/shared-mongo.ts";
import { itemsOf, makeRunService } from "./support/run-service.ts";

setDefaultTimeout(600_000);

const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 2);
const ROWS = 600;

/** Plays rounds in whose runs `harm` is done after the first batch, and `mend` when they have ended. */
async function harmAndCheck(
  [here, there]: readonly [string, string],
  harm: () => Promise<void>,
  mend: () => Promise<void>,
): Promise<void> {
  const remote = await makeRunService({ STORAGE_URL: there });
  const local = await makeRunService({ STORAGE_URL: here, SYNC_REMOTE_URL: remote.url });
  await Promise.all([remote.start(), local.start()]);
  for (let round = 0; round < ROUNDS; round++) {
    await local.push(itemsOf("local", round, ROWS));
    await remote.push(itemsOf("remote", round, ROWS));
    const direction = round % 2 === 0 ? "push" : "pull";
    let isHarmed = false;
    for await (const text of local.stream({ table: "items", direction })) {
      if (isHarmed || !text.includes('"type":"batch"')) continue;
      isHarmed = true;
      await harm();
    }
    expect(isHarmed).toBe(true);
    await mend();
    const reply = await local.ask("/trigger", { table: "items" });
    const result = await reply.json();
    expect([round, reply.status, result]).toMatchObject([round, 200, { status: "success" }]);
    const rows = await local.rows();
    expect(rows.length).toBe(2 * ROWS);
    expect(await remote.rows()).toEqual(rows);
    expect(rows.every((row) => row.includes(`version ${round}`))).toBe(true);
  }
  for (const end of [local, remote]) {
    expect(await end.process().stop()).toEqual({ code: 0, signal: null });
  }
}

test.skipIf(!mongoAvailable)(
  `D-4.5, D-4.6, D-4.8 runs survive a killed primary of MongoDB (${ROUNDS} rounds)`,
  async () => {
    const set = await startReplicaSet({ members: 3 });
    try {
      let primary = await set.primary();
      const harm = async () => {
        primary = await set.primary();
        await primary.kill();
      };
      const mend = async () => {
        await primary.restart();
        await set.primary();
      };
      await harmAndCheck([set.uri("here"), set.uri("there")], harm, mend);
    } finally {
      await set.stop();
    }
  },
);

test.skipIf("reason" in findPostgres())(
  `D-4.5, D-4.6, D-4.8 runs go on when PostgreSQL is killed and started again (${ROUNDS} rounds)`,
  async () => {
    const server = await startPostgres({ isDurable: true });
    try {
      const admin = new SQL({ url: server.uri("postgres"), max: 1 });
      for (const name of ["here", "there"]) await admin.unsafe(`create database ${name}`);
      await admin.close();
      const harm = async () => {
        await server.kill();
        await server.restart();
      };
      await harmAndCheck([server.uri("here"), server.uri("there")], harm, async () => {});
    } finally {
      await server.stop();
    }
  },
);
