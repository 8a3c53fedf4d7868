// Every status that the OpenAPI document gives an operation under /v1 is one that it really answers. D-6.8, D-5.2.
// That no other is answered every request of the HTTP tests checks.
import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { keyBytes } from "../../../src/ports/stored-documents.ts";
import { keepResource } from "../../support/resources.ts";
import { openApiDocument } from "../support/check-reply.ts";
import { holdTurns } from "../support/held-turns.ts";
import { makeTempFolder } from "../support/make-temp-folder.ts";
import { type Reply, type RequestOptions, type SyncApp, startApp } from "../support/sync-app.ts";
import { ADMIN_ENV, dataOf, jsonBody, PASSWORD, Person } from "./people.ts";
import { nameOf, ROUTES, type RouteUnderTest } from "./routes.ts";

const ISSUER = "https://id.example.com/";
/** So many requests are one too many for every limit. */
const MANY = 31;
/** A bug's status: nothing here provokes one. */
const UNSEEN = ["500"];

/** An identity provider's token for a name that belongs to an account of this service. */
async function strangersToken() {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), alg: "EdDSA" };
  const fetchKeys = () => Response.json({ keys: [jwk] });
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: fetchKeys });
  keepResource(() => server.stop(true));
  const claims = { iss: ISSUER, aud: "repsync-test", sub: "ana" };
  const token = new SignJWT(claims).setProtectedHeader({ alg: "EdDSA" }).setExpirationTime("1h");
  const env = { JWT_JWKS_URL: server.url.href, JWT_ISSUER: ISSUER, JWT_AUDIENCE: "repsync-test" };
  return { token: await token.sign(privateKey), env };
}

/** A service on a file with `ana`, who consents to nothing, and a key of hers. */
async function startScene(env: Record<string, string> = {}) {
  const file = join(makeTempFolder(), "repsync.db");
  const storage = { STORAGE_URL: `sqlite:${file}`, TRUSTED_PROXY_HOPS: "1" };
  const limit = { ACCOUNT_WRITES_PER_MINUTE: String(MANY - 1) };
  const app = await startApp({ env: { ...ADMIN_ENV, ...storage, ...limit, ...env } });
  const ana = await Person.signUp(app, "ana");
  const root = await Person.signIn(app, "root");
  return { app, file, ana, root, key: await ana.issueKey() };
}

type Scene = Awaited<ReturnType<typeof startScene>>;

/** A request that is good in everything but what `options` says. */
async function call(
  { app, ana, root, key }: Scene,
  route: RouteUnderTest,
  options: RequestOptions & { readonly path?: string } = {},
): Promise<Reply> {
  const { path = route.path, ...rest } = options;
  const { token } = route.credential === "administrator" ? root : ana;
  const good = route.body === undefined ? {} : jsonBody(route.body, route.method);
  const credential: Record<string, string> =
    route.credential === "api_key" ? { "X-API-Key": key } : { Authorization: `Bearer ${token}` };
  const headers = { ...good.headers, ...credential, ...options.headers };
  return await app.send(path, { method: route.method, ...good, ...rest, headers });
}

/** The last of many requests. */
async function last(times: number, send: () => Promise<Reply>): Promise<Reply> {
  const replies = await Promise.all(Array.from({ length: times }, send));
  return replies.toSorted((a, b) => a.status - b.status).at(-1) as Reply;
}

/** What was good may have ended the account, after 429 there are no calls left, and after 503 there is no store. */
function compareMildestFirst(a: string, b: string): number {
  const rank = (status: string) => ["200", "201", "429", "503"].indexOf(status);
  return rank(a) - rank(b);
}

/** The file goes, and with it three tables, as what is open can still be read. */
function harm(file: string): void {
  const database = new Database(file);
  database.run("DROP TABLE repsync_sessions");
  database.run("DROP TABLE repsync_sign_ins");
  database.run("DROP TABLE repsync_accounts");
  database.close();
  rmSync(file);
}

/** Changes an account as another program may. */
function changeAccount(database: Database, username: string, changes: object): void {
  const find = "SELECT doc FROM repsync_accounts WHERE doc ->> 'username' = ?";
  const found = database.query<{ doc: string }, [string]>(find).get(username);
  const doc = JSON.stringify({ ...JSON.parse(found?.doc ?? "{}"), ...changes });
  database.run("UPDATE repsync_accounts SET doc = ? WHERE doc ->> 'username' = ?", [doc, username]);
}

/** The request for another account than ana's. */
function toAccount(username: string) {
  return (scene: Scene, route: RouteUnderTest) =>
    call(scene, route, { path: route.path.replace("ana", username) });
}

/** How a status comes about, where no rule of `provoke` does it. */
const SPECIAL: Readonly<Record<string, (scene: Scene, route: RouteUnderTest) => Promise<Reply>>> = {
  "200 POST /v1/sessions": (scene, route) =>
    call(scene, route, jsonBody({ username: "ana", password: PASSWORD })),
  "200 DELETE /v1/me/consents/{id}": async (scene, route) =>
    call(scene, route, { path: `/v1/me/consents/${await scene.ana.consent()}` }),
  "200 DELETE /v1/me/api-keys/{id}": async (scene, route) => {
    const { id } = dataOf(await scene.ana.post("/v1/me/api-keys", { name: "k" }));
    return await call(scene, route, { path: `/v1/me/api-keys/${id}` });
  },
  "201 POST /v1/me/api-keys/{id}/rotate": async (scene, route) => {
    const { id } = dataOf(await scene.ana.post("/v1/me/api-keys", { name: "k" }));
    return await call(scene, route, { path: `/v1/me/api-keys/${id}/rotate` });
  },
  "409 POST /v1/me/api-keys": async (scene, route) => {
    const database = new Database(scene.file);
    const found = database.query<{ doc: string }, []>("SELECT doc FROM repsync_keys").all();
    const docs = found.map(({ doc }) => JSON.parse(doc));
    const own = docs.find(({ username }) => username === "ana");
    const add = database.prepare("INSERT INTO repsync_keys (key, doc, at_order) VALUES (?, ?, ?)");
    for (let n = 0; n < 100; n++) {
      const copy = { ...own, id: `many-${n}`, hash: `many-${n}`, number: 1_000 + n };
      const key = ["ana", copy.id];
      add.run(keyBytes(key), JSON.stringify(copy), keyBytes(["ana", copy.number, ...key]));
    }
    const reply = await call(scene, route);
    database.run("DELETE FROM repsync_keys WHERE doc ->> 'id' LIKE 'many-%'");
    database.close();
    return reply;
  },
  "409 POST /v1/me/api-keys/{id}/rotate": async (scene, route) => {
    const { id } = dataOf(await scene.ana.post("/v1/me/api-keys", { name: "k" }));
    const path = `/v1/me/api-keys/${id}/rotate`;
    await scene.ana.post(path, {});
    return await call(scene, route, { path });
  },
  "401 POST /v1/sessions": (scene, route) => call(scene, route),
  "403 POST /v1/sessions": (scene, route) =>
    call(scene, route, { headers: { "Sec-Fetch-Site": "cross-site" } }),
  "409 POST /v1/signup": (scene, route) =>
    call(scene, route, jsonBody({ ...route.body, username: "ana" })),
  "404 GET /v1/me/profile": (scene, route) => scene.root.send(route.path),
  "404 PATCH /v1/me/profile": (scene, route) =>
    scene.root.send(route.path, jsonBody(route.body, "PATCH")),
  "404 GET /v1/me/reputation": (scene, route) => scene.root.send(route.path),
  "404 PUT /v1/admin/accounts/{username}/plan": (scene, route) =>
    call(scene, route, { path: "/v1/admin/accounts/nobody/plan" }),
  "200 POST /v1/admin/accounts/{username}/release": async (scene, route) => {
    const bea = await Person.signUp(scene.app, "bea");
    await bea.send("/v1/me", { method: "DELETE" });
    return await call(scene, route, { path: "/v1/admin/accounts/bea/release" });
  },
  "409 POST /v1/admin/audit/verify": async (_, { method, path }) => {
    const { time, release } = holdTurns();
    const app = await startApp({ env: ADMIN_ENV, time });
    const root = await Person.signIn(app, "root");
    const headers = { Authorization: `Bearer ${root.token}` };
    const held = await fetch(`${app.url}${path}`, { method, headers });
    const reader = held.body?.getReader();
    await reader?.read();
    const reply = await root.send(path, { method });
    release();
    await reader?.cancel();
    return reply;
  },
  ...Object.fromEntries(
    [
      "GET /v1/admin/accounts/{username}",
      "DELETE /v1/admin/accounts/{username}",
      "POST /v1/admin/accounts/{username}/suspend",
      "POST /v1/admin/accounts/{username}/restore",
      "PUT /v1/admin/accounts/{username}/password",
    ].map((name) => [`404 ${name}`, toAccount("nobody")]),
  ),
  "409 DELETE /v1/admin/accounts/{username}": toAccount("root"),
  "409 POST /v1/admin/accounts/{username}/suspend": toAccount("root"),
  "409 PUT /v1/admin/accounts/{username}/password": async (scene, route) => {
    const database = new Database(scene.file);
    changeAccount(database, "ana", { passwordHash: null, issuer: "https://id" });
    const reply = await call(scene, route);
    changeAccount(database, "ana", { passwordHash: "x" });
    database.close();
    return reply;
  },
  "409 DELETE /v1/me": ({ root }, { method, path }) => root.send(path, { method }),
  "429 POST /v1/signup": (scene, route) => last(MANY, () => call(scene, route)),
  "409 PUT /v1/me/password": async ({ app, file }, { path, method, body }) => {
    const bea = await Person.signUp(app, "bea");
    const database = new Database(file);
    changeAccount(database, "bea", { passwordHash: null });
    database.close();
    return await bea.send(path, jsonBody(body, method));
  },
  "429 DELETE /v1/me": async ({ app }, { method, path }) => {
    const bea = await Person.signUp(app, "bea");
    await last(MANY, () => bea.post("/v1/me/consents", {}));
    return await bea.send(path, { method });
  },
  "429 POST /v1/sessions": (scene, route) => last(11, () => call(scene, route)),
};

describe("documented statuses", () => {
  let documented: readonly (readonly [status: string, route: RouteUnderTest])[] = [];
  let stranger: Awaited<ReturnType<typeof strangersToken>>;

  beforeAll(async () => {
    const { paths } = await openApiDocument((await startScene()).app.url);
    documented = ROUTES.flatMap((route) => {
      const { responses } = paths[route.template]?.[route.method.toLowerCase()] ?? {
        responses: {},
      };
      const statuses = Object.keys(responses).filter((status) => !UNSEEN.includes(status));
      return statuses.map((status) => [status, route] as const);
    });
    stranger = await strangersToken();
  });

  async function provoke(scene: Scene, status: string, route: RouteUnderTest): Promise<Reply> {
    const isClosed = route.template === "/v1/signup" && status === "403";
    const special = SPECIAL[`${status} ${nameOf(route)}`];
    if (special !== undefined) return await special(scene, route);
    const isLookup = route.credential === "api_key";
    switch (status) {
      case "400":
        return route.body === undefined
          ? await call(scene, route, { path: `${route.path}?limit=0` })
          : await call(scene, route, { body: "[]" });
      case "401":
        return await scene.app.send(route.path, { method: route.method });
      case "403": {
        if (isLookup) return await call(scene, route);
        if (isClosed) return await signUpWhereClosed(route);
        const headers = { Authorization: `Bearer ${stranger.token}` };
        return await call(scene, route, { headers });
      }
      case "404":
        return await call(scene, route, isLookup ? { path: route.path.replace("ana", "x") } : {});
      case "405":
        return await scene.app.send(route.path, { method: "OPTIONS" });
      case "413":
        return await call(scene, route, { body: "x".repeat(70_000) });
      case "429":
        return await last(MANY, () => call(scene, route));
      case "503":
        harm(scene.file);
        return await call(scene, route);
      default:
        if (isLookup) await scene.ana.consent();
        return await call(scene, route);
    }
  }

  async function signUpWhereClosed(route: RouteUnderTest): Promise<Reply> {
    const env = { STORAGE_URL: "sqlite::memory:", SIGNUP_ENABLED: "false" };
    const app: SyncApp = await startApp({ env });
    return await app.send(route.path, jsonBody(route.body, route.method));
  }

  test.each(ROUTES.map((route) => [nameOf(route), route] as const))(
    "D-6.8, D-5.2 %s answers each status that is documented",
    async (_name, route) => {
      const statuses = documented
        .filter(([, one]) => one === route)
        .map(([status]) => status)
        .sort(compareMildestFirst);
      expect(statuses.length).toBeGreaterThan(1);
      const scene = await startScene(stranger.env);
      for (const status of statuses) {
        const reply = await provoke(scene, status, route);
        expect([status, String(reply.status)]).toEqual([status, status]);
      }
    },
  );
});
