// Passwords that change, and sessions that end with them. D-8.7.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { makeTempFolder } from "../../support/make-temp-folder.ts";
import { type SyncApp, startApp } from "../../support/sync-app.ts";
import { dataOf, jsonBody, PASSWORD, Person } from "../people.ts";
import { onReputationBackends, startReputation } from "../reputation-backends.ts";

const NEW = "a new password of ana";
const change = (current_password: string, new_password: string) =>
  jsonBody({ current_password, new_password }, "PUT");

async function signIn(app: SyncApp, password: string): Promise<number> {
  const request = jsonBody({ username: "ana", password });
  const headers = { ...request.headers, "X-Forwarded-For": "203.0.113.200" };
  return (await app.send("/v1/sessions", { ...request, headers })).status;
}

onReputationBackends(
  "passwords",
  (backend) => {
    test("D-8.7 a new password ends all other sessions at once, on every instance", async () => {
      const shared = { STORAGE_URL: await backend.makeUrl() };
      const app = await startReputation(backend, shared);
      const other = await startReputation(backend, shared);
      const ana = await Person.signUp(app, "ana");
      const bea = await Person.signUp(app, "bea");
      const others = [await Person.signIn(app, "ana"), await Person.signIn(other, "ana")];
      const reply = await ana.send("/v1/me/password", change(PASSWORD, NEW));
      expect([reply.status, dataOf(reply)]).toEqual([200, { status: "changed" }]);
      for (const one of others) {
        const ended = await one.send("/v1/me");
        expect([ended.status, ended.json["code"]]).toEqual([401, "token_invalid"]);
      }
      expect((await ana.send("/v1/me")).status).toBe(200);
      expect((await bea.send("/v1/me")).status).toBe(200);
      expect(await signIn(other, PASSWORD)).toBe(401);
      expect(await signIn(other, NEW)).toBe(200);
    });

    test("D-8.7 a wrong password counts as a failed sign-in, and ten end the tries", async () => {
      const app = await startReputation(backend);
      const ana = await Person.signUp(app, "ana");
      for (let n = 0; n < 10; n++) {
        const wrong = await ana.send("/v1/me/password", change(`wrong ${n}`, NEW));
        expect([wrong.status, wrong.json["code"]]).toEqual([401, "credentials_invalid"]);
      }
      const spent = await ana.send("/v1/me/password", change(PASSWORD, NEW));
      expect([spent.status, spent.json["code"]]).toEqual([429, "rate_limited"]);
      expect(spent.headers.has("retry-after")).toBe(true);
      expect(await signIn(app, PASSWORD)).toBe(429);
    });

    test("D-8.7 all sessions of an account end at once, on every instance", async () => {
      const shared = { STORAGE_URL: await backend.makeUrl() };
      const app = await startReputation(backend, shared);
      const other = await startReputation(backend, shared);
      const ana = await Person.signUp(app, "ana");
      const bea = await Person.signUp(app, "bea");
      const elsewhere = await Person.signIn(other, "ana");
      const reply = await ana.send("/v1/sessions", { method: "DELETE" });
      expect([reply.status, dataOf(reply)]).toEqual([200, { status: "ended" }]);
      for (const one of [ana, elsewhere]) expect((await one.send("/v1/me")).status).toBe(401);
      expect((await bea.send("/v1/me")).status).toBe(200);
    });
  },
  { isFile: true },
);

test.each(["short", "x".repeat(201)])(
  "D-8.7 the rules of signing up hold for %j",
  async (password) => {
    const app = await startApp({ env: { TRUSTED_PROXY_HOPS: "1" } });
    const ana = await Person.signUp(app, "ana");
    const reply = await ana.send("/v1/me/password", change(PASSWORD, password));
    expect(reply.status).toBe(400);
    expect(reply.json["errors"]).toMatchObject([{ pointer: "/new_password" }]);
  },
);

test("D-8.7 nothing that is stored of a session makes a token", async () => {
  const file = join(makeTempFolder(), "repsync.db");
  const app = await startApp({ env: { STORAGE_URL: `sqlite:${file}`, TRUSTED_PROXY_HOPS: "1" } });
  const { token } = await Person.signUp(app, "ana");
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const database = new Database(file, { readonly: true });
  const rows = database.query<{ doc: string }, []>("SELECT doc FROM repsync_sessions").all();
  database.close();
  expect(rows.length).toBe(1);
  expect(String(claims.jti).length).toBeGreaterThan(20);
  expect(JSON.stringify(rows)).not.toContain(claims.jti);
});

test("D-8.7 ADMIN_USERNAME of somebody who is no administrator ends the start", async () => {
  const file = join(makeTempFolder(), "repsync.db");
  const storage = { STORAGE_URL: `sqlite:${file}`, TRUSTED_PROXY_HOPS: "1" };
  await Person.signUp(await startApp({ env: storage }), "ana");
  const starting = startApp({
    env: { ...storage, ADMIN_USERNAME: "ana", ADMIN_PASSWORD: PASSWORD },
  });
  await expect(starting).rejects.toMatchObject({ kind: "invalid_request" });
});
