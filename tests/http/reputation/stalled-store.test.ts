// D-8.3 A server that takes nothing more to disk, as under `fsync` with `lock`, which backups use.
import { expect, setDefaultTimeout, test } from "bun:test";
import { MongoClient } from "mongodb";
import { MONGODB, onBackends } from "../support/backends.ts";
import type { Reply } from "../support/sync-app.ts";
import { jsonBody, lookUp, PASSWORD, Person } from "./people.ts";
import { startReputation } from "./reputation-backends.ts";

setDefaultTimeout(120_000);

const MAX_REPLY_MS = 10_000;

onBackends([MONGODB], "a store that stalls", () => {
  test("D-8.3 every request under /v1 is answered within 10 s, and works again afterwards", async () => {
    const url = await MONGODB.makeUrl();
    const app = await startReputation({ ...MONGODB, makeUrl: async () => url });
    const ana = await Person.signUp(app, "ana");
    const key = await ana.issueKey();
    await ana.consent();
    const ask = (): readonly (() => Promise<Reply>)[] => [
      () => lookUp(app, key, { username: "ana" }),
      () => lookUp(app, key, { username: "nobody" }),
      () => ana.send("/v1/me"),
      () => ana.post("/v1/me/api-keys", { name: "another" }),
      () => ana.post("/v1/me/consents", { purpose: "profile_lookup" }),
      () => ana.send("/v1/me/profile", jsonBody({ bio: "new" }, "PATCH")),
      () => ana.send("/v1/me/accesses"),
      () => app.send("/v1/sessions", jsonBody({ username: "ana", password: PASSWORD })),
    ];
    const statuses = async () =>
      await Promise.all(
        ask().map(async (send) => {
          const beganMs = performance.now();
          const { status } = await send();
          expect(performance.now() - beganMs).toBeLessThan(MAX_REPLY_MS);
          return status;
        }),
      );
    expect(await statuses()).toEqual([200, 404, 200, 201, 201, 200, 200, 200]);
    const client = new MongoClient(url);
    try {
      await client.db("admin").command({ fsync: 1, lock: true });
      try {
        // A second round, behind what hangs.
        for (let round = 0; round < 2; round++) {
          expect(await statuses()).toEqual(Array(8).fill(503));
        }
      } finally {
        await client.db("admin").command({ fsyncUnlock: 1 });
      }
      expect(await statuses()).toEqual([200, 404, 200, 201, 201, 200, 200, 200]);
    } finally {
      await client.close();
    }
  });
});
