import { describe, expect, test } from "bun:test";
import { PostgresDocuments } from "../../../../src/adapters/postgres/documents/postgres-documents.ts";
import { BunDriver, type Connection } from "../../../../src/adapters/postgres/driver/bun-driver.ts";
import { PostgresDatabase } from "../../../../src/adapters/postgres/driver/database.ts";
import { Failure } from "../../../../src/adapters/postgres/driver/errors.ts";
import { openDatabase } from "../../../../src/adapters/postgres/driver/open-database.ts";
import { PostgresTables } from "../../../../src/adapters/postgres/tables/postgres-tables.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { AppError } from "../../../../src/domain/shared/errors.ts";
import { type CallOptions, SYNC_CALLS } from "../../../../src/ports/documents.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { HurriedClock } from "../../../support/time/fake-clock.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";
import { databaseTest } from "../support.ts";

/** How a body ends that is tried on a server that never takes a connection, and after how long, as the call's clock knows it. */
async function failOn(options: CallOptions): Promise<{ error: AppError; triedMs: number }> {
  const clock = new HurriedClock(1_000);
  const driver = {
    connect: () => Promise.reject(new Failure(new Error("The connection broke"))),
    close: async () => {},
  };
  const database = new PostgresDatabase({ driver, clock });
  const documents = new PostgresDocuments(database, new PostgresTables(database, "public"));
  const error = await documents.transact(options, async () => {}).catch((thrown) => thrown);
  return { error, triedMs: clock.monotonicMs() };
}

/** The time alone. */
async function triedMs(options: CallOptions): Promise<number> {
  const tried = await failOn(options);
  expect(tried.error.kind).toBe("store_unavailable");
  return tried.triedMs;
}

test("D-8.3 a call on PostgreSQL without a limit ends within the deadline of a request, and one with a limit by that", async () => {
  const request = await triedMs({ name: "test.request" });
  expect([request > 9_000, request <= 14_000]).toEqual([true, true]);
  const run = await triedMs({ name: "test.run", limit: SYNC_CALLS });
  expect([run > 19_000, run <= 24_000]).toEqual([true, true]);
});

test.each([
  ["has time for tries until its end", { triesMs: 5_000, endMs: 5_000 }],
  ["ends before its tries do", { triesMs: 9_000, endMs: 5_000 }],
])("D-8.3 a call on PostgreSQL that %s says why the last try failed", async (_, limit) => {
  const { error } = await failOn({ name: "test.why", limit });
  expect([error.message, (error.cause as Error).message]).toEqual([
    "PostgreSQL cannot be reached, or does not answer",
    "The connection broke",
  ]);
});

test("D-8.3 a call that has ended is not done when its connection comes at last", async () => {
  const connecting = Promise.withResolvers<Connection>();
  const released = Promise.withResolvers<boolean>();
  const driver = { connect: () => connecting.promise, close: async () => {} };
  const database = new PostgresDatabase({ driver, clock: new SystemClock() });
  let isDone = false;
  const call = database.transact({ name: "test", limit: { triesMs: 0, endMs: 1 } }, async () => {
    isDone = true;
  });
  await expect(call).rejects.toMatchObject({ kind: "store_unavailable" });
  const fail = () => Promise.reject(new Error("Nothing is sent"));
  connecting.resolve({ query: fail, script: fail, release: released.resolve });
  expect([await released.promise, isDone]).toEqual([true, false]);
});

test("D-8.3 a server that cannot be reached takes no connection away", async () => {
  const url = "postgres://repsync@127.0.0.1:1/none";
  const driver = new BunDriver({ url, tls: false, maxConnections: 1 });
  for (let i = 0; i < 2; i++) await expect(driver.connect()).rejects.toThrow(Failure);
  await driver.close();
});

describe.skipIf(!postgresAvailable)("connections to PostgreSQL", () => {
  databaseTest(
    "D-8.3 what the server ended as the process stood still was not answered in time",
    async ({ sql, url }) => {
      const { database } = await openDatabase({ url, clock: new SystemClock() });
      const call = database.transact({ name: "test" }, async (tx) => {
        const [[pid] = []] = await tx.query("select pg_backend_pid()::text");
        await tx.script("set local idle_in_transaction_session_timeout = 1");
        const ended = () => sql`select from pg_stat_activity where pid::text = ${pid}`;
        await pollUntil("the server to end it", async () => (await ended()).length === 0);
        await tx.query("select 1");
      });
      await expect(call).rejects.toMatchObject({
        ...{ kind: "store_unavailable", isRecoverable: true },
        message: "PostgreSQL did not answer in time",
      });
      await database.close();
    },
  );

  databaseTest("D-8.3 who waits for one hears that the store is closed", async ({ url }) => {
    const driver = new BunDriver({ url, tls: false, maxConnections: 1 });
    await driver.connect();
    const waiting = driver.connect().catch(({ message }) => message);
    await driver.close();
    expect(await waiting).toBe("The store is closed");
    await expect(driver.connect()).rejects.toThrow("The store is closed");
  });

  databaseTest(
    "D-8.3 with one that broke go those that nobody uses, and who waits gets a new one",
    async ({ sql, url }) => {
      const driver = new BunDriver({ url, tls: false, maxConnections: 2 });
      const [first, second] = await Promise.all([driver.connect(), driver.connect()]);
      const open = async () => {
        const text = `select pid from pg_stat_activity
        where datname = current_database() and application_name = 'repsync'`;
        return (await sql.unsafe(text)).length;
      };
      await Promise.all([first, second].map((connection) => connection.query("select 1")));
      expect(await open()).toBe(2);
      second.release(true);
      first.release(false);
      await pollUntil("both to end", async () => (await open()) === 0);
      const used = await Promise.all([driver.connect(), driver.connect()]);
      const waiting = driver.connect();
      used[0].release(false);
      expect(await (await waiting).query("select 1::int4")).toEqual([[1]]);
      await driver.close();
    },
  );
});
