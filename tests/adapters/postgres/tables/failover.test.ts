// A server whose backends are ended, that is killed and started again, or that goes silent, while several instances write and read.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import type { OpenOptions } from "../../../../src/adapters/postgres/driver/open-database.ts";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { brokenBatches, ITEMS, Traffic } from "../../../contract/tables/store-traffic.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { withRunParts } from "../../../support/run-parts.ts";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../../support/stores/postgres-server.ts";
import { startRelay } from "../../../support/tcp-relay.ts";

const ROUNDS = 3;
const TEST_TIMEOUT_MS = 240_000;
const END_BACKENDS = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'repsync' and datname = current_database()`;

describe.skipIf("reason" in findPostgres())("PostgreSQL failover", () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres({ isDurable: true });
  }, TEST_TIMEOUT_MS);

  afterAll(async () => {
    await server?.stop();
  }, TEST_TIMEOUT_MS);

  const makeDatabase = async (name: string) => {
    const admin = new SQL({ url: server.uri("postgres"), max: 1 });
    await admin.unsafe(`create database ${name} template template0`);
    await admin.close();
    return server.uri(name);
  };

  const open = async (url: string, options: Partial<OpenOptions> = {}) => {
    const storage = await openPostgresStorage({ url, clock: new SystemClock(), ...options });
    await storage.documents.prepare(COLLECTIONS);
    return withRunParts(storage);
  };

  /** Plays `harm` again and again while two instances write and read. */
  const playTraffic = async (url: string, harm: () => Promise<void>) => {
    const instances = [await open(url), await open(url)] as const;
    await instances[0].tables.prepare([ITEMS]);
    const traffic = new Traffic(instances);
    for (let round = 0; round < ROUNDS; round++) {
      await traffic.progress();
      await harm();
    }
    await traffic.progress();
    await traffic.stop();
    const rows = await new TableUnderTest(instances[1], ITEMS).rows();
    expect(brokenBatches(rows)).toEqual([]);
    expect(new Set(rows.map((row) => row["batch"]))).toEqual(traffic.acknowledged);
    for (const storage of instances) await storage.close();
  };

  test(
    "D-3.8 ended backends lose no acknowledged push, tear none and fail none",
    async () => {
      const url = await makeDatabase("ended");
      const admin = new SQL({ url, max: 1 });
      let ended = 0;
      await playTraffic(url, async () => {
        for (let i = 0; i < 20; i++) ended += (await admin.unsafe(END_BACKENDS)).length;
      });
      expect(ended).toBeGreaterThan(0);
      await admin.close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "D-3.8 a server that is killed and started again loses no acknowledged push, tears none and fails none",
    async () => {
      const url = await makeDatabase("killed");
      await playTraffic(url, async () => {
        await server.kill();
        await server.restart();
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "D-3.8 connections that go silent are given up for new ones, and their locks go",
    async () => {
      const url = new URL(await makeDatabase("silent"));
      const relay = startRelay(server.port);
      const near = await open(url.href);
      url.port = String(relay.port);
      const callLimit = { triesMs: 10_000, endMs: 10_000 };
      const far = await open(url.href, { callLimit });
      const table = await TableUnderTest.prepare(far, ITEMS);
      const row = { k: "a", at: null, batch: "1" };
      await table.write(row);
      relay.silence();
      await table.write({ ...row, batch: "2" });
      expect(await far.tables.count(ITEMS)).toBe(1);

      const vanished = far.documents.transact({ name: "test.vanish" }, async (tx) => {
        await tx.tables.write(ITEMS, [{ index: 0, row: { ...row, batch: "3" } }]);
        relay.silence();
        await tx.tables.write(ITEMS, [{ index: 0, row: { ...row, batch: "4" } }]);
      });
      await expect(vanished).rejects.toMatchObject({ kind: "store_unavailable" });
      await new TableUnderTest(near, ITEMS).write({ ...row, batch: "5" });
      expect((await table.rows()).map(({ batch }) => batch)).toEqual(["5"]);
      await far.close();
      await near.close();
      relay.close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "D-6.8 ping() of a server that went silent gives up in its time",
    async () => {
      const url = new URL(await makeDatabase("pinged"));
      const relay = startRelay(server.port);
      url.port = String(relay.port);
      const storage = await open(url.href);
      relay.silence();
      await expect(storage.ping(200)).rejects.toMatchObject({
        kind: "store_unavailable",
        message: "PostgreSQL did not answer within 200 ms",
      });
      await storage.ping(10_000);
      await storage.close();
      relay.close();
    },
    TEST_TIMEOUT_MS,
  );
});
