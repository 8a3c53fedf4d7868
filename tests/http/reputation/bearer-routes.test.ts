// What every route of a signed-in user does with credentials and bodies that are not right. D-5.4, D-5.5.
import { afterEach, describe, expect, test } from "bun:test";
import { SignJWT } from "jose";
import { RawConnection } from "../support/raw-http.ts";
import { releaseResources } from "../support/resources.ts";
import { startApp } from "../support/sync-app.ts";
import { ADMIN_ENV, Person } from "./people.ts";

afterEach(releaseResources);

const SECRET = "a secret of at least thirty-two bytes";
const ENV = { ...ADMIN_ENV, JWT_SECRET: SECRET };

const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/v1/me"],
  ["DELETE", "/v1/me"],
  ["PATCH", "/v1/me/profile"],
  ["GET", "/v1/me/reputation"],
  ["GET", "/v1/me/usage"],
  ["GET", "/v1/me/accesses"],
  ["GET", "/v1/me/consents"],
  ["POST", "/v1/me/consents"],
  ["DELETE", "/v1/me/consents/1"],
  ["GET", "/v1/me/api-keys"],
  ["POST", "/v1/me/api-keys"],
  ["DELETE", "/v1/me/api-keys/some-id-1"],
  ["POST", "/v1/me/api-keys/some-id-1/rotate"],
  ["DELETE", "/v1/sessions/current"],
  ["PUT", "/v1/admin/accounts/ana/plan"],
];

const BODY_ROUTES = ROUTES.filter(([method]) => method === "POST" || method[0] === "P");

function token(claims: Record<string, unknown>, secret = SECRET) {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const all = { iss: "repsync", aud: "repsync", sub: "ana", role: "user", jti: "no-such-session" };
  return new SignJWT({ ...all, iat: nowSeconds, exp: nowSeconds + 600, ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(secret));
}

describe("credentials of a signed-in user", () => {
  test.each(ROUTES)("D-5.5, D-5.2 %s %s takes a good token only", async (method, path) => {
    const app = await startApp({ env: ENV });
    const ana = await Person.signUp(app, "ana");
    const key = await ana.issueKey();
    const [head = "", payload = ""] = ana.token.split(".");
    const none = Buffer.from('{"alg":"none"}').toString("base64url");
    const refused: [Record<string, string>, string][] = [
      [{}, "token_missing"],
      [{ "X-API-Key": key }, "token_missing"],
      [{ Authorization: "" }, "token_missing"],
      [{ Authorization: "Bearer" }, "token_invalid"],
      [{ Authorization: "Basic YW5hOnB3" }, "token_invalid"],
      [{ Authorization: `Bearer ${key}` }, "token_invalid"],
      [{ Authorization: "Bearer x.y.z" }, "token_invalid"],
      [{ Authorization: `Bearer ${head}.${payload}.` }, "token_invalid"],
      [{ Authorization: `Bearer ${none}.${payload}.` }, "token_invalid"],
      [{ Authorization: `Bearer ${await token({})}` }, "token_invalid"],
      [{ Authorization: `Bearer ${await token({ role: "administrator" })}` }, "token_invalid"],
      [{ Authorization: `Bearer ${await token({}, "x".repeat(40))}` }, "token_invalid"],
      [{ Authorization: `Bearer ${await token({ aud: "other" })}` }, "token_invalid"],
      [{ Authorization: `Bearer ${await token({ exp: 1 })}` }, "token_expired"],
      [{ Cookie: "repsync_session=x" }, "token_invalid"],
    ];
    for (const [headers, code] of refused) {
      const reply = await app.send(path, { method, headers });
      expect([headers, reply.status, reply.json["code"]]).toEqual([headers, 401, code]);
      expect(reply.headers.get("www-authenticate")).toStartWith("Bearer");
    }
    await ana.send("/v1/sessions/current", { method: "DELETE" });
    expect((await ana.send(path, { method })).json["code"]).toBe("token_invalid");
  });

  test.each(BODY_ROUTES)(
    "D-3.11, D-3.5.8 %s %s checks the token before the body is read",
    async (method, path) => {
      const app = await startApp({ env: ENV });
      const connection = await RawConnection.open(app.url);
      const lines = [`${method} ${path} HTTP/1.1`, "Host: localhost", "Content-Length: 1000"];
      await connection.write(`${lines.join("\r\n")}\r\n\r\n{`);
      expect((await connection.readReply({ toHead: false })).status).toBe(401);
      connection.close();
    },
  );

  test.each(BODY_ROUTES)(
    "D-5.2 %s %s refuses bodies that are no object or too large",
    async (method, path) => {
      const app = await startApp({ env: ENV });
      const who = await Person.signIn(app, "root");
      const statusOf = async (body: string) => (await who.send(path, { method, body })).status;
      expect(await statusOf("x".repeat(65 * 1024))).toBe(413);
      for (const body of ["[]", "null", "1", "{", '"text"', "\u0000", '{"unknown":1}']) {
        expect([body, await statusOf(body)]).toEqual([body, 400]);
      }
      const deep = `${'{"name":'.repeat(5_000)}1${"}".repeat(5_000)}`;
      expect([400, 404, 413]).toContain(await statusOf(deep));
    },
  );

  test("D-5.4 the role is that of the account, not of the token", async () => {
    const app = await startApp({ env: ENV });
    const ana = await Person.signUp(app, "ana");
    const claims = JSON.parse(Buffer.from(ana.token.split(".")[1] ?? "", "base64url").toString());
    const forged = await token({ ...claims, role: "administrator" });
    const headers = { Authorization: `Bearer ${forged}` };
    const reply = await app.send("/v1/admin/accounts/ana/plan", { method: "PUT", headers });
    expect([reply.status, reply.json["code"]]).toEqual([403, "forbidden"]);
  });
});
