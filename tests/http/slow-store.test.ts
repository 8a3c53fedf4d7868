// Replies that take longer than a connection may be silent, as MongoDB takes its time.
import { expect, test } from "bun:test";
import { MongoClient } from "mongodb";
import { REQUEST_DEADLINE_MS } from "../../src/domain/shared/limits.ts";
import { keepResource } from "../support/resources.ts";
import { fileOf, resultOf } from "./rows/support/import-replies.ts";
import { MONGODB, onBackends } from "./support/backends.ts";
import { SYNC_KEY, startApp } from "./support/sync-app.ts";
import { startRunApp } from "./sync-runs/support/run-apps.ts";

const APP_NAME = "repsync_slow";
const headers = { "X-Sync-Key": SYNC_KEY };

onBackends([MONGODB], "a slow store", () => {
  test("D-3.12.1 no reply of the sync interface is cut while the store takes its time", async () => {
    const url = await MONGODB.makeUrl();
    const env = { STORAGE_URL: `${url}&appName=${APP_NAME}` };
    const app = await startApp({ env, idleTimeoutSeconds: 1 });
    const client = new MongoClient(url);
    keepResource(() => client.close());
    const failPoint = (mode: string, more: object = {}) =>
      client.db("admin").command({ configureFailPoint: "failCommand", mode, ...more });
    const failCommands = ["find", "aggregate", "update", "insert"];
    const slow = { appName: APP_NAME, failCommands, blockConnection: true, blockTimeMS: 10_000 };
    await failPoint("alwaysOn", { data: slow });
    try {
      const asked = [
        app.pull("notes"),
        app.send("/api/v1/sync/schema/notes", { headers }),
        app.send("/api/v1/sync/status"),
        app.push("notes", { records: [{ name: "a" }] }),
      ];
      // All of them have been cut by then, where they are.
      const silent = await app
        .raw(
          `POST /api/v1/sync/push/notes HTTP/1.1\r\nHost: localhost\r\nX-Sync-Key: ${SYNC_KEY}\r\nContent-Length: 9\r\n\r\n`,
        )
        .catch(() => null);
      expect(silent).toBeNull();
      await failPoint("off");
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    } finally {
      await failPoint("off");
    }
  });

  test("D-14.4.2 an import waits for the rows of its table for longer than a request may", async () => {
    const url = await MONGODB.makeUrl();
    const app = await startRunApp({ env: { STORAGE_URL: url } });
    const client = new MongoClient(url);
    keepResource(() => client.close());
    const namespace = `${client.db().databaseName}.notes`;
    const slow = { blockConnection: true, blockTimeMS: REQUEST_DEADLINE_MS + 500 };
    const data = { namespace, failCommands: ["find"], ...slow };
    const command = { configureFailPoint: "failCommand", mode: { times: 1 }, data };
    await client.db("admin").command(command);
    const reply = await app.ask("/import/notes", fileOf("name\nana\n"));
    expect(resultOf(reply)).toMatchObject({ type: "done", new: 1 });
  });

  test("D-6.8, D-10.5 a store that lets its user read nothing any more is told by health and readiness", async () => {
    const url = await MONGODB.makeUrl();
    const app = await startApp({ env: { STORAGE_URL: `${url}&appName=${APP_NAME}` } });
    const client = new MongoClient(url);
    keepResource(() => client.close());
    const failPoint = (mode: string, more: object = {}) =>
      client.db("admin").command({ configureFailPoint: "failCommand", mode, ...more });
    const statuses = () =>
      Promise.all(
        ["/v1/health", "/v1/health/ready", "/v1/health/live"].map(
          async (path) => (await app.send(path)).status,
        ),
      );
    const unauthorized = { errorCode: 13, failCommands: ["find", "aggregate"], appName: APP_NAME };
    await failPoint("alwaysOn", { data: unauthorized });
    try {
      expect((await app.pull("notes")).status).toBe(503);
      expect(await statuses()).toEqual([503, 503, 200]);
    } finally {
      await failPoint("off");
    }
    expect(await statuses()).toEqual([200, 200, 200]);
  });
});
