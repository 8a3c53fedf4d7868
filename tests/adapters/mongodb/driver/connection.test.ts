// Opening, losing and regaining MongoDB: lost replies, conflicts, unusable deployments.

import { describe, expect, spyOn, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandStartedEvent, type Document, MongoClient } from "mongodb";
import { openMongoStorage } from "../../../../src/adapters/mongodb/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { type AppError, isAppError } from "../../../../src/domain/shared/errors.ts";
import { LEASES } from "../../../../src/repositories/run-collections.ts";
import { asWrites, TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { freePort } from "../../../e2e/support/free-port.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { findMongod } from "../../../support/stores/mongod-binary.mjs";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";
import { databaseTest as it, type TestDatabase } from "../support.ts";

const ITEMS = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: {
    id: { type: "integer", auto_increment: true },
    k: { type: "text" },
    at: { type: "datetime" },
    v: { type: "integer" },
  },
});
const AT = "2024-01-01T00:00:00Z";
const NETWORK_FAILURE = { closeConnection: true } as const;
const WRITES = ["insert", "update", "delete", "findAndModify", "create", "createIndexes"];

describe.skipIf(!mongoAvailable)("MongoDB connection", () => {
  it("S-4.2.11 a commit whose reply is lost is written once and acknowledged", async (database) => {
    const storage = await database.open("&appName=lost_commit");
    const table = await TableUnderTest.prepare(storage, ITEMS);
    for (const failure of [
      NETWORK_FAILURE,
      { errorCode: 91 },
      { errorCode: 11602, errorLabels: ["RetryableWriteError"] },
      { writeConcernError: { code: 91, errmsg: "shutting down" } },
      { writeConcernError: { code: 64, errmsg: "waiting timed out" } },
      { errorCode: 251, errorLabels: ["TransientTransactionError"] },
    ]) {
      for (const times of [1, 3]) {
        await withFailure(
          database,
          { ...failure, failCommands: ["commitTransaction"], times, appName: "lost_commit" },
          () => table.write({ k: "a", at: AT, v: times }, { k: "b", at: null, v: times }),
        );
        expect(await table.rows()).toEqual([
          { id: 2, k: "b", at: null, v: times },
          { id: 1, k: "a", at: AT, v: times },
        ]);
      }
    }
  });

  it("S-4.2.11 a batch whose connection breaks is sent again", async (database) => {
    const storage = await database.open("&appName=lost_batch");
    const table = await TableUnderTest.prepare(storage, ITEMS);
    for (const failCommands of [
      ["insert"],
      ["update"],
      ["findAndModify"],
      ["abortTransaction", "update"],
    ]) {
      for (const failure of [
        NETWORK_FAILURE,
        { errorCode: 112, errorLabels: ["TransientTransactionError"] },
        { errorCode: 10107 },
        { errorCode: 8, errorLabels: ["TransientTransactionError"] },
        { errorCode: 8, errorLabels: ["RetryableWriteError"] },
      ]) {
        await withFailure(
          database,
          { ...failure, failCommands, times: 2, appName: "lost_batch" },
          () => table.write({ k: failCommands.join(), at: AT, v: 1 }),
        );
      }
    }
    expect(await table.count()).toBe(4);
  });

  it("D-3.4 a page whose connection breaks is read again", async (database) => {
    const storage = await database.open("&appName=lost_page");
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "a", at: AT, v: 1 }, { k: "b", at: AT, v: 2 });
    for (const failure of [NETWORK_FAILURE, { errorCode: 246 }, { errorCode: 13436 }]) {
      for (const failCommands of [["find"], ["aggregate"]]) {
        await withFailure(
          database,
          { ...failure, failCommands, times: 3, appName: "lost_page" },
          async () => {
            expect(await table.page({ offsetRows: 1 })).toMatchObject({
              totalRows: 2,
              rows: [{ k: "b" }],
            });
            expect(await storage.memory.readAll()).toEqual(new Map());
          },
        );
      }
    }
  });

  it("S-4.2.11, D-11.2.3 write() that never gets an answer says whether the outcome is known", async (database) => {
    const storage = await database.open("&appName=no_answer", hastyClock());
    await storage.tables.prepare([ITEMS]);
    const failing = async (failCommands: string[], failure: Document) => {
      const failed = { ...failure, failCommands, appName: "no_answer" };
      return await withFailure(database, { ...failed, times: 1000 }, () =>
        refusalOf(writeTo(storage, ITEMS, asWrites([{ k: "a", at: null, v: 1 }]))),
      );
    };
    expect(await failing(["commitTransaction"], NETWORK_FAILURE)).toMatchObject({
      kind: "store_unavailable",
      message: "The connection to the store broke during a commit: its outcome is unknown",
    });
    // The transaction that was never committed holds its rows for a minute.
    await database.db.client.db("admin").command({ killAllSessions: [] });
    expect(await failing(["update"], NETWORK_FAILURE)).toMatchObject({
      kind: "store_unavailable",
      message: "MongoDB cannot be reached",
    });
    expect(await failing(["update"], { errorCode: 13 })).toMatchObject({
      kind: "commit_failed",
      message: "MongoDB refused the batch: Unauthorized",
    });
    const conflict = { errorCode: 112, errorLabels: ["TransientTransactionError"] };
    expect(await failing(["update"], conflict)).toMatchObject({
      kind: "commit_failed",
      message: "MongoDB could not commit the batch in time: WriteConflict",
    });
    for (const errorCode of [388, 290]) {
      expect(await failing(["update"], { errorCode })).toMatchObject({ kind: "batch_too_large" });
    }
    const lease = { name: "a", holder: "b", turn: 1, ttlMs: 1, endsAtMs: 1 };
    for (const call of [
      () => storage.tables.count(ITEMS),
      () => storage.memory.readAll(),
      () => storage.documents.transact({ name: "test" }, async (tx) => tx.put(LEASES, lease)),
    ]) {
      const failCommands = ["find", "aggregate", "update"];
      const refused = await withFailure(
        database,
        { errorCode: 13, failCommands, appName: "no_answer", times: 1 },
        () => refusalOf(call()),
      );
      expect(refused).toMatchObject({
        kind: "store_unavailable",
        message: "MongoDB refused the request: Unauthorized",
      });
    }
  });

  it("D-3.10 count() throws for a table whose collection was dropped", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    expect(await storage.tables.count(ITEMS)).toBe(0);
    await database.db.collection("items").drop();
    expect(await refusalOf(storage.tables.count(ITEMS))).toMatchObject({
      kind: "store_unavailable",
      message: "MongoDB refused the request: NamespaceNotFound",
    });
  });

  it("D-1.3 options of a URL that an application has for itself change nothing", async (database) => {
    for (const [n, options] of [
      "&raw=true&promoteValues=false&promoteBuffers=true",
      "&useBigInt64=true&bsonRegExp=true",
      "&promoteLongs=false&w=0&journal=false&retryWrites=false&readPreference=secondary",
    ].entries()) {
      const table = await TableUnderTest.prepare(await database.open(options), ITEMS);
      await table.write({ k: `k${n}`, v: 2 ** 40 });
      expect(await table.count()).toBe(n + 1);
      expect(await table.column("v")).toEqual(Array(n + 1).fill(2 ** 40));
    }
  });

  it("D-1.3 every write waits for a majority and its disks, whatever the URL says", async (database) => {
    const emitted = spyOn(MongoClient.prototype, "emit");
    const storage = await database.open("&w=1&journal=false");
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "a", v: 1 });
    const writes = emitted.mock.calls.flatMap((call) => {
      const [name, event] = call as readonly unknown[];
      if (name !== "commandStarted") return [];
      const { commandName, command } = event as CommandStartedEvent;
      const isWrite = WRITES.includes(commandName) && command["autocommit"] === undefined;
      const isDecisive = isWrite || commandName === "commitTransaction";
      return isDecisive ? [{ commandName, concern: command["writeConcern"] }] : [];
    });
    emitted.mockRestore();
    const names = writes.map(({ commandName }) => commandName);
    const expected = ["commitTransaction", "createIndexes", "findAndModify", "update"];
    expect(names).toEqual(expect.arrayContaining(expected));
    for (const { concern } of writes) expect(concern).toMatchObject({ w: "majority", j: true });
  });

  it("D-1.3 tombstones are read in a snapshot, whatever the URL says", async (database) => {
    const table = { ...ITEMS, deletes: true };
    const storage = await database.open("&readConcernLevel=local");
    await storage.tables.prepare([table]);
    const emitted = spyOn(MongoClient.prototype, "emit");
    expect(await storage.tombstones.byKeys(table, [{ k: "a" }])).toEqual([]);
    const levels = emitted.mock.calls.flatMap((call) => {
      const [name, event] = call as readonly unknown[];
      if (name !== "commandStarted") return [];
      const { command } = event as CommandStartedEvent;
      return command["find"] === "repsync_tombstones" ? [command["readConcern"]?.level] : [];
    });
    emitted.mockRestore();
    expect(levels).toEqual(["snapshot"]);
  });

  it("D-10.4 a start goes on when servers change their roles while it looks at the store", async (database) => {
    for (const failCommands of [["find"], ["listCollections"]]) {
      const failure = { errorCode: 189, failCommands, times: 5, appName: "changing" };
      await withFailure(database, failure, () => database.open("&appName=changing"));
    }
  });

  it("D-11.4.1 a start that is refused leaves no connection", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "a", at: AT, v: 1 });
    const url = `${database.url}&appName=refused`;
    const tables = [makeTable({ upsert_key: ["v"], columns: { v: { type: "text" } } })];
    const refusal = await refusalOf(openMongoStorage({ url, clock: new SystemClock(), tables }));
    expect(refusal.kind).toBe("schema_conflict");
    const admin = database.db.client.db("admin");
    const all = { $currentOp: { allUsers: true, idleConnections: true } };
    const ofIt = { $match: { appName: "refused" } };
    const isGone = async () => !(await admin.aggregate([all, ofIt]).hasNext());
    await pollUntil("its connections to end", isGone);
  });

  it("D-1.3 a URL without a database of its own, or that cannot be read, is refused", async ({
    url,
  }) => {
    const refusal = (text: string) =>
      refusalOf(openMongoStorage({ url: text, clock: new SystemClock() }));
    const needed =
      "The MongoDB URL needs a database name of its own, as in mongodb://host/repsync?replicaSet=rs0";
    const unusable = "it has none that can be used (in a password, write / as %2F)";
    const hosts = "mongodb://me:s3cret@127.0.0.1:1";
    for (const [text, message] of [
      [hosts, `${needed}: it has none`],
      [`${hosts}/`, `${needed}: it has none`],
      [`${hosts}/?replicaSet=rs0`, `${needed}: it has none`],
      [`${hosts}/admin`, `${needed}: ${unusable}`],
      ["mongodb://me:s3/cret@127.0.0.1:1/db", `${needed}: ${unusable}`],
      [
        `${hosts}/db?nonsense=1`,
        "The MongoDB URL cannot be read: option nonsense is not supported",
      ],
      [
        `${url}&compressors=snappy`,
        "The MongoDB URL asks for what needs the package snappy, which is not installed",
      ],
    ] as const) {
      const error = await refusal(text);
      expect(error).toMatchObject({ kind: "invalid_request", message });
    }
    const credentials = url.replace("mongodb://", "mongodb://me:s3cret@");
    const error = await refusal(credentials);
    expect(error).toMatchObject({
      kind: "store_unavailable",
      message: "MongoDB refused the credentials of the URL",
    });
    expect(Bun.inspect(error)).not.toContain("s3cret");
  });

  test("D-6.8, D-10.4 a deployment that is not there is reported by its hosts when the time is over", async () => {
    const port = await freePort();
    const url = `mongodb://me:s3cret@127.0.0.1:${port}/db?serverSelectionTimeoutMS=100`;
    const error = await refusalOf(openMongoStorage({ url, clock: hastyClock() }));
    expect(error).toMatchObject({
      kind: "store_unavailable",
      message: `MongoDB at 127.0.0.1:${port} cannot be reached`,
    });
  });

  test("D-1.3 a single server, and one whose replica set was never started, are refused with what to do", async () => {
    const binary = await findMongod();
    if ("reason" in binary) throw new Error(binary.reason);
    for (const [options, message, hint] of [
      [
        [],
        "MongoDB is a single server without transactions",
        "Start mongod with --replSet rs0 and run rs.initiate() once",
      ],
      [
        ["--replSet", "rs0"],
        "MongoDB runs with --replSet but without a replica set",
        "Run rs.initiate() once",
      ],
    ] as const) {
      await withMongod([binary.path, ...options], async (port) => {
        const url = `mongodb://127.0.0.1:${port}/db?serverSelectionTimeoutMS=3000`;
        const refused = refusalOf(openMongoStorage({ url, clock: hastyClock() }));
        expect(await refused).toMatchObject({ kind: "store_unavailable", message, hint });
      });
    }
  }, 120_000);
});

/** Runs work while the server fails commands of one application, by its fail point. */
async function withFailure<T>(
  { db }: TestDatabase,
  failure: Document & { readonly times: number },
  work: () => Promise<T>,
): Promise<T> {
  const { times, ...data } = failure;
  const admin = db.client.db("admin");
  await admin.command({ configureFailPoint: "failCommand", mode: { times }, data });
  try {
    return await work();
  } finally {
    await admin.command({ configureFailPoint: "failCommand", mode: "off" });
  }
}

/** A clock by which every look takes three seconds, so that no test waits for a deadline. */
function hastyClock() {
  let nowMs = 0;
  return {
    monotonicMs() {
      nowMs += 3_000;
      return nowMs;
    },
  };
}

async function refusalOf(work: Promise<unknown>): Promise<AppError> {
  try {
    await work;
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
  throw new Error("Nothing was refused");
}

/** Runs a mongod of its own that ends with the work, or with this process. */
async function withMongod(
  command: readonly string[],
  work: (port: number) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "repsync-mongod-"));
  const port = await freePort();
  const untilStdinEnds = '"$@" </dev/null >/dev/null 2>&1 & read -r _; kill -9 $!; wait $!';
  const options = ["--bind_ip", "127.0.0.1", "--port", String(port), "--dbpath", folder];
  const child = spawn(
    "sh",
    ["-c", untilStdinEnds, "sh", ...command, ...options, "--nounixsocket"],
    {
      stdio: ["pipe", "ignore", "ignore"],
    },
  );
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    const url = `mongodb://127.0.0.1:${port}/?directConnection=true&serverSelectionTimeoutMS=60000`;
    const client = new MongoClient(url);
    await client.db("admin").command({ hello: 1 });
    await client.close();
    await work(port);
  } finally {
    child.stdin?.end();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}
