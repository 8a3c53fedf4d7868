// Two processes on one store: a SQLite file, or a database of a MongoDB replica set.
import { expect, test } from "bun:test";
import { MongoClient } from "mongodb";
import { ADMIN_ENV, jsonBody, Person } from "../http/reputation/people.ts";
import { MONGODB, onEveryBackend } from "../http/support/backends.ts";
import { SYNC_KEY } from "../http/support/sync-app.ts";
import { type ServiceProcess, startService } from "./support/service-process.ts";

onEveryBackend("two services on one store", (backend) => {
  async function startTwo(): Promise<[ServiceProcess, ServiceProcess]> {
    const env = { STORAGE_URL: await backend.makeUrl() };
    return await Promise.all([startService({ env }), startService({ env })]);
  }

  test("D-3.4 what one acknowledged the other serves at once, its counts and pages too", async () => {
    const services = await startTwo();
    for (let i = 1; i <= 20; i++) {
      const [writer, reader] = i % 2 === 0 ? services : services.toReversed();
      await writer?.push("notes", { records: [{ name: `n${100 + i}`, body: String(i) }] });
      const page = await reader?.pull("notes", `?offset=${i - 1}`);
      expect(page?.json).toMatchObject({ total: i, records: [{ name: `n${100 + i}` }] });
      const status = await reader?.send("/api/v1/sync/status");
      expect(status?.json["table_counts"]).toMatchObject({ notes: i });
    }
  });

  test("D-3.8, D-3.4 a reader never sees half of a push of the other process", async () => {
    const [writer, reader] = await startTwo();
    let isWriting = true;
    const write = async () => {
      for (let version = 1; version <= 15; version++) {
        const records = Array.from({ length: 300 }, (_, i) => ({
          name: `n${i}`,
          body: `v${version}`,
        }));
        records.push({ name: `of v${version}`, body: "new" });
        await writer.push("notes", { records });
      }
      isWriting = false;
    };
    const seen = new Set<unknown>();
    const read = async () => {
      while (isWriting) {
        const { json } = await reader.pull("notes");
        const rows = json["records"] as { name: string; body: string }[];
        expect(json["total"]).toBe(rows.length);
        const updated = rows.filter(({ body }) => body !== "new");
        const versions = new Set(updated.map(({ body }) => body));
        expect(versions.size).toBeLessThanOrEqual(1);
        // One new row came with each version.
        const [version = "v0"] = versions;
        expect(rows.length - updated.length).toBe(Number(version.slice(1)));
        seen.add(version);
      }
    };
    await Promise.all([write(), read(), read()]);
    expect(seen.size).toBeGreaterThan(1);
    expect((await reader.pull("notes")).json["total"]).toBe(315);
  });

  test("D-3.8 pushes of both at once are all written", async () => {
    const services = await startTwo();
    const pushes = Array.from({ length: 40 }, (_, i) => {
      const records = Array.from({ length: 50 }, (_, row) => ({ name: `p${i} r${row}` }));
      return services[i % 2]?.push("notes", { records });
    });
    const replies = await Promise.all(pushes);
    expect(replies.map((reply) => reply?.status)).toEqual(pushes.map(() => 200));
    for (const { pull } of services) {
      expect((await pull("notes", "?limit=1")).json["total"]).toBe(2000);
    }
  });
});

test.skipIf(!MONGODB.isAvailable)(
  "D-7.6.4 the first push sends a delete of another program that the instance which records deletes did not live to see",
  async () => {
    const tables = {
      items: {
        ...{ timestamp_column: "at", upsert_key: ["k"], deletes: true },
        columns: { k: { type: "text" }, at: { type: "datetime" } },
      },
    };
    const remote = await startService({ tables });
    const STORAGE_URL = await MONGODB.makeUrl();
    const start = () =>
      startService({ tables, env: { ...ADMIN_ENV, STORAGE_URL, SYNC_REMOTE_URL: remote.url } });
    const recording = await start();
    const records = ["a", "b"].map((k) => ({ k, at: "2026-01-01T00:00:00Z" }));
    for (const end of [recording, remote]) await end.push("items", { records });
    // Answered once it records.
    const listed = await recording.send("/api/v1/sync/deleted/items", {
      headers: { "X-Sync-Key": SYNC_KEY },
    });
    expect([listed.status, listed.json["items"]]).toEqual([200, []]);
    const other = await start();
    const admin = await Person.signIn(other, "root");
    recording.kill("SIGKILL");
    await recording.ended;
    const client = new MongoClient(STORAGE_URL);
    await client.db().collection("items").deleteOne({ k: "a" });
    await client.close();
    const run = await admin.send(
      "/api/v1/sync/trigger",
      jsonBody({ table: "items", direction: "push" }),
    );
    expect(run.json).toMatchObject({ status: "success", deleted_there: 1 });
    expect((await remote.pull("items")).json["records"]).toMatchObject([{ k: "b" }]);
  },
);
