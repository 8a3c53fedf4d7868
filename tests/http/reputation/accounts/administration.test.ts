// What administrators do to accounts, as they and the accounts' owners see it. D-8.8.
import { expect, test } from "bun:test";
import type { Reply, SyncApp } from "../../support/sync-app.ts";
import { dataOf, jsonBody, lookUp, PASSWORD, Person } from "../people.ts";
import { onReputationBackends, startReputation } from "../reputation-backends.ts";

const NEW = "a new password of ana";
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const codeOf = ({ status, json }: Reply) => [status, json["code"]];

async function signIn(app: SyncApp, username: string, password = PASSWORD): Promise<Reply> {
  return await app.send("/v1/sessions", jsonBody({ username, password }));
}

/** Two services on one store, with an administrator, and a business with a key at the other. */
async function startTwo(backend: Parameters<typeof startReputation>[0]) {
  const shared = { STORAGE_URL: await backend.makeUrl() };
  const app = await startReputation(backend, shared);
  const other = await startReputation(backend, shared);
  const root = await Person.signIn(app, "root");
  const shop = await Person.signUp(other, "shop");
  const key = await shop.issueKey();
  const act = (path: string, method = "POST") =>
    root.send(`/v1/admin/accounts/${path}`, { method });
  const usernames = async (search: string) => {
    const { items } = dataOf(await root.send(`/v1/admin/accounts${search}`)) as {
      items: { username: string }[];
    };
    return items.map(({ username }) => username);
  };
  return { app, other, root, shop, key, act, usernames };
}

onReputationBackends(
  "administration",
  (backend) => {
    test("D-8.8 a suspended account is refused everywhere at once, and goes on after it is restored", async () => {
      const { other, shop, key, act } = await startTwo(backend);
      const ana = await Person.signUp(other, "ana");
      await ana.consent();
      expect((await lookUp(other, key, { username: "ana" })).status).toBe(200);
      const suspended = await act("shop/suspend");
      expect(suspended.status).toBe(200);
      expect(dataOf(suspended)).toMatchObject({ username: "shop", status: "suspended" });
      const refused = await lookUp(other, key, { username: "ana" });
      expect(codeOf(refused)).toEqual([403, "account_suspended"]);
      expect(refused.headers.has("ratelimit")).toBe(false);
      expect(codeOf(await lookUp(other, `${key}x`, { username: "ana" }))).toEqual([
        401,
        "api_key_invalid",
      ]);
      expect(codeOf(await shop.send("/v1/me"))).toEqual([401, "token_invalid"]);
      expect(codeOf(await signIn(other, "shop", "a wrong password"))).toEqual([
        401,
        "credentials_invalid",
      ]);
      expect(codeOf(await signIn(other, "shop"))).toEqual([403, "account_suspended"]);
      const restored = await act("shop/restore");
      expect(dataOf(restored)).toMatchObject({ username: "shop", status: "active" });
      expect((await lookUp(other, key, { username: "ana" })).status).toBe(200);
      const again = await Person.signIn(other, "shop");
      const usage = dataOf(await again.send("/v1/me/usage"));
      expect(usage).toMatchObject({ month: { used: 2 }, days: { length: 31 } });
      const { items } = dataOf(await ana.send("/v1/me/accesses"));
      expect(items).toHaveLength(2);
    });

    test("D-8.8 a suspended person's own profile is answered as before", async () => {
      const { app, key, act } = await startTwo(backend);
      const ana = await Person.signUp(app, "ana");
      await ana.consent();
      await act("ana/suspend");
      expect((await lookUp(app, key, { username: "ana" })).status).toBe(200);
    });

    test("D-8.8 accounts are listed by name, in parts and by text, with their last sign-in", async () => {
      const { root, other, usernames } = await startTwo(backend);
      for (const name of ["ana", "anabel", "zoe"]) await Person.signUp(other, name);
      expect(await usernames("")).toEqual(["ana", "anabel", "root", "shop", "zoe"]);
      expect(await usernames("?query=ANA")).toEqual(["ana", "anabel"]);
      expect(await usernames("?query=zoe%40example")).toEqual(["zoe"]);
      expect(await usernames("?query=%25")).toEqual([]);
      expect(await usernames("?query=.*")).toEqual([]);
      const first = dataOf(await root.send("/v1/admin/accounts?limit=2&query=a"));
      expect(await usernames(`?limit=2&query=a&cursor=${first["next_cursor"]}`)).toEqual([
        "shop",
        "zoe",
      ]);
      const [item] = first["items"] as [Record<string, unknown>];
      expect(item).toEqual({
        ...{ username: "ana", email: "ana@example.com", role: "user", plan: "free" },
        status: "active",
        created_at: expect.stringMatching(TIME),
        last_sign_in_at: expect.stringMatching(TIME),
      });
    });

    test("D-8.8 one account is shown with its usage", async () => {
      const { root, other, key } = await startTwo(backend);
      await lookUp(other, key, { username: "nobody" });
      const shown = dataOf(await root.send("/v1/admin/accounts/shop"));
      expect(shown).toMatchObject({
        ...{ username: "shop", status: "active", plan: "free" },
        usage: { plan: "free", minute: { limit: 30, used: 1 }, month: { used: 1 } },
      });
      expect(codeOf(await root.send("/v1/admin/accounts/nobody"))).toEqual([404, "not_found"]);
    });

    test("D-8.8 an erasure by an administrator takes everything, and the name", async () => {
      const { app, other, key, act } = await startTwo(backend);
      const ana = await Person.signUp(other, "ana");
      await ana.consent();
      const erased = await act("ana", "DELETE");
      expect([erased.status, dataOf(erased)]).toEqual([200, { username: "ana", status: "erased" }]);
      expect(codeOf(await ana.send("/v1/me"))).toEqual([401, "token_invalid"]);
      expect(codeOf(await lookUp(other, key, { username: "ana" }))).toEqual([
        404,
        "profile_not_found",
      ]);
      const signUp = { username: "ana", email: "ana@example.com", password: PASSWORD };
      expect(codeOf(await app.send("/v1/signup", jsonBody(signUp)))).toEqual([
        409,
        "username_taken",
      ]);
      expect(codeOf(await act("ana", "DELETE"))).toEqual([404, "not_found"]);
    });

    test("D-8.8 a password set by an administrator ends the old one and all sessions", async () => {
      const { root, other } = await startTwo(backend);
      const ana = await Person.signUp(other, "ana");
      const path = "/v1/admin/accounts/ana/password";
      const set = (new_password: string) => root.send(path, jsonBody({ new_password }, "PUT"));
      expect(codeOf(await set("short"))).toEqual([400, "invalid_request"]);
      expect((await ana.send("/v1/me")).status).toBe(200);
      const changed = dataOf(await set(NEW));
      expect(changed).toEqual({ username: "ana", status: "changed" });
      expect(codeOf(await ana.send("/v1/me"))).toEqual([401, "token_invalid"]);
      expect((await signIn(other, "ana")).status).toBe(401);
      expect((await signIn(other, "ana", NEW)).status).toBe(200);
    });

    test("D-8.8 nobody suspends or erases themselves here, and the last administrator stays", async () => {
      const { root, act } = await startTwo(backend);
      for (const reply of [
        await act("root/suspend"),
        await act("root", "DELETE"),
        await root.send("/v1/me", { method: "DELETE" }),
      ]) {
        expect(codeOf(reply)).toEqual([409, "conflict"]);
      }
      expect((await root.send("/v1/me")).status).toBe(200);
    });
  },
  { isFile: true },
);

onReputationBackends("administration, refused", (backend) => {
  test("D-8.8 others than administrators are refused, and learn nothing", async () => {
    const app = await startReputation(backend);
    const ana = await Person.signUp(app, "ana");
    for (const username of ["ana", "root", "nobody"]) {
      for (const [method, path] of [
        ["GET", ""],
        ["DELETE", ""],
        ["POST", "/suspend"],
        ["POST", "/restore"],
      ] as const) {
        const reply = await ana.send(`/v1/admin/accounts/${username}${path}`, { method });
        expect(codeOf(reply)).toEqual([403, "forbidden"]);
      }
    }
    expect(codeOf(await ana.send("/v1/admin/accounts"))).toEqual([403, "forbidden"]);
  });

  test("D-8.8 bad queries are refused with their place", async () => {
    const app = await startReputation(backend);
    const root = await Person.signIn(app, "root");
    for (const [search, pointer] of [
      ["?limit=0", "/limit"],
      ["?limit=1001", "/limit"],
      [`?query=${"x".repeat(255)}`, "/query"],
      ["?cursor=ana", "/cursor"],
    ]) {
      const reply = await root.send(`/v1/admin/accounts${search}`);
      expect(codeOf(reply)).toEqual([400, "invalid_request"]);
      expect(reply.json["errors"]).toMatchObject([{ pointer }]);
    }
    for (const search of [
      "?query=",
      "?limit=&cursor=",
      "?query=%00%27%22",
      "?query=%F0%9F%98%80",
    ]) {
      expect((await root.send(`/v1/admin/accounts${search}`)).status).toBe(200);
    }
  });
});
