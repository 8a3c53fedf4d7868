// Whose name it is: what sign-up refuses, and what sync may change of a profile with an owner. D-8.1.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { releaseResources } from "../support/resources.ts";
import type { SyncApp } from "../support/sync-app.ts";
import { jsonBody, PASSWORD } from "./people.ts";
import { onEveryReputationBackend, startReputation } from "./reputation-backends.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

async function signUp(app: SyncApp, username: string) {
  const body = { username, email: `${username}@example.com`, password: PASSWORD };
  const reply = await app.send("/v1/signup", jsonBody(body));
  return [reply.status, reply.json["code"]];
}

onEveryReputationBackend("names", (backend) => {
  test("D-8.1 a name that only has platform accounts by sync cannot be signed up", async () => {
    const app = await startReputation(backend);
    const handle = { username: "dian", platform: "github", handle: "dian-real", verified: true };
    expect((await app.push("platform_accounts", { records: [handle] })).json["upserted"]).toBe(1);
    expect(await signUp(app, "dian")).toEqual([409, "username_taken"]);
    expect(await signUp(app, "dia")).toEqual([201, undefined]);
  });

  test("D-8.1 the name of ADMIN_USERNAME cannot be signed up while it has no account", async () => {
    const app = await startReputation(backend);
    const root = jsonBody({ username: "root", password: PASSWORD });
    const { json } = await app.send("/v1/sessions", root);
    const { token } = json["data"] as { token: string };
    const headers = { Authorization: `Bearer ${token}` };
    expect((await app.send("/v1/me", { method: "DELETE", headers })).status).toBe(200);
    expect(await signUp(app, "root")).toEqual([409, "username_taken"]);
  });
});
