// Administrators verify the audit log in a stream of events. D-9.5.
import { expect, test } from "bun:test";
import { pollUntil } from "../../../support/time/poll-until.ts";
import { holdTurns } from "../../support/held-turns.ts";
import { RawConnection } from "../../support/raw-http.ts";
import { type Reply, type SyncApp, startApp } from "../../support/sync-app.ts";
import { ADMIN_ENV, lookUp, Person } from "../people.ts";
import { onReputationBackends, startReputation } from "../reputation-backends.ts";

const PATH = "/v1/admin/audit/verify";
const POST = { method: "POST" };

function eventsOf(reply: Reply): readonly unknown[] {
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.text
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => JSON.parse(block.slice("data: ".length)));
}

/** Asks on a bare socket, and reads until the work has begun and is held. */
async function openHeldStream(app: SyncApp, { token }: Person): Promise<RawConnection> {
  const connection = await RawConnection.open(app.url);
  const lines = [`POST ${PATH} HTTP/1.1`, "Host: localhost", `Authorization: Bearer ${token}`];
  await connection.write(`${lines.join("\r\n")}\r\nContent-Length: 0\r\n\r\n`);
  const head = await connection.readUntil('data: {"type":"progress","records":0}\n\n');
  expect(head).toContain("Content-Type: text/event-stream\r\n");
  return connection;
}

onReputationBackends(
  "verifying the audit log",
  (backend) => {
    test("D-9.5 tells how far it has come, over the chains of all instances, and what it found", async () => {
      const url = await backend.makeUrl();
      const shared = { ...backend, makeUrl: async () => url };
      const [app, other] = [await startReputation(shared), await startReputation(shared)];
      const root = await Person.signIn(app, "root");
      expect(eventsOf(await root.send(PATH, POST))).toEqual([
        { type: "progress", records: 0 },
        { type: "done", problem: null, chains: 0, records: 0 },
        { type: "finished" },
      ]);
      const key = await (await Person.signUp(app, "ana")).issueKey();
      for (const one of [app, other, other]) await lookUp(one, key, { username: "ana" });
      const reply = await root.send(PATH, POST);
      expect(eventsOf(reply)).toEqual([
        { type: "progress", records: 0 },
        { type: "progress", records: 1 },
        { type: "progress", records: 3 },
        { type: "done", problem: null, chains: 2, records: 3 },
        { type: "finished" },
      ]);
      expect(reply.headers.get("cache-control")).toBe("private, no-store");
      expect(reply.headers.get("x-accel-buffering")).toBe("no");
    });

    test("D-9.5 names the first problem of a log that is not as it was written", async () => {
      const url = await backend.makeUrl();
      const shared = { ...backend, makeUrl: async () => url };
      const app = await startReputation(shared);
      const key = await (await Person.signUp(app, "ana")).issueKey();
      await lookUp(app, key, { username: "ana" });
      // With another pepper nothing in the log is signed.
      const other = await startReputation(shared, { API_KEY_PEPPER: "x".repeat(32) });
      const root = await Person.signIn(other, "root");
      const [, done, finished] = eventsOf(await root.send(PATH, POST));
      expect(done).toEqual({
        type: "done",
        problem: {
          kind: "head",
          chain_id: expect.stringMatching(/^[0-9a-f]{16}$/),
          seq: null,
          message: expect.stringContaining("its head is not as signed"),
        },
        chains: 0,
        records: 0,
      });
      expect(finished).toEqual({ type: "finished" });
    });

    test("D-9.5 one verification at a time in a process; a client that leaves makes place for the next", async () => {
      const { time, release } = holdTurns();
      const app = await startApp({ backend, env: ADMIN_ENV, time });
      const root = await Person.signIn(app, "root");
      const first = await openHeldStream(app, root);
      const second = await root.send(PATH, POST);
      expect([second.status, second.json["code"]]).toEqual([409, "conflict"]);
      first.close();
      release();
      await pollUntil("the first to end", async () => (await root.send(PATH, POST)).status === 200);
    });

    test("D-9.5 a service that stops ends a verification", async () => {
      const { time, release } = holdTurns();
      const app = await startApp({ backend, env: ADMIN_ENV, time });
      const stream = await openHeldStream(app, await Person.signIn(app, "root"));
      await app.stopRuns();
      release();
      const rest = await stream.readUntil('data: {"type":"finished"}\n\n');
      expect(rest).toContain('data: {"type":"error","error":"The service is stopping');
    });

    test("D-9.5, D-5.7 is for administrators only", async () => {
      const app = await startReputation(backend);
      const reply = await (await Person.signUp(app, "ana")).send(PATH, POST);
      expect([reply.status, reply.json["code"]]).toEqual([403, "forbidden"]);
    });
  },
  { isFile: true },
);
