import { describe, expect, test } from "bun:test";
import { RawConnection } from "../../support/raw-http.ts";
import { startApp } from "../../support/sync-app.ts";
import { ADMIN_ENV, dataOf, jsonBody, PASSWORD, Person } from "../people.ts";
import { USER_ROUTES } from "../routes.ts";

const ANA = { username: "ana", email: "ana@example.com", password: PASSWORD };

describe("signup", () => {
  test("D-5.4 signUp() makes an account on the free plan, and its profile", async () => {
    const app = await startApp();
    const reply = await app.send("/v1/signup", jsonBody({ ...ANA, display_name: "Ana Á." }));
    expect(reply.status).toBe(201);
    expect(dataOf(reply)).toEqual({
      username: "ana",
      email: "ana@example.com",
      plan: "free",
      role: "user",
    });
    const [profile] = await app.records("profiles");
    expect(profile).toMatchObject({ username: "ana", display_name: "Ana Á.", verified: false });
  });

  test("D-5.4, D-5.2 signUp() refuses what is taken, also the name of a synced profile", async () => {
    const app = await startApp();
    await app.push("profiles", { records: [{ username: "cleo" }] });
    await app.send("/v1/signup", jsonBody(ANA));
    const codeOf = async (body: object) => {
      const reply = await app.send("/v1/signup", jsonBody({ ...ANA, ...body }));
      return [reply.status, reply.json["code"]];
    };
    expect(await codeOf({ email: "other@example.com" })).toEqual([409, "username_taken"]);
    expect(await codeOf({ username: "bea", email: "ANA@EXAMPLE.com" })).toEqual([
      409,
      "email_taken",
    ]);
    expect(await codeOf({ username: "cleo", email: "c@example.com" })).toEqual([
      409,
      "username_taken",
    ]);
  });

  test("D-1.3.16 signUp() is forbidden where it is disabled, before the body is read", async () => {
    const app = await startApp({ env: { SIGNUP_ENABLED: "false" } });
    const reply = await app.send("/v1/signup", { method: "POST", body: "not json" });
    expect([reply.status, reply.json["code"]]).toEqual([403, "forbidden"]);
  });
});

describe("sessions", () => {
  const WITH_BODY = USER_ROUTES.filter(({ body }) => body !== undefined);
  const RUN_ROUTES = ["trigger", "trigger-sse", "compare"].map((name) => ({
    method: "POST",
    path: `/api/v1/sync/${name}`,
    body: { table: "notes" },
  }));

  test.each([...WITH_BODY, ...RUN_ROUTES].map((route) => [`${route.method} ${route.path}`, route]))(
    "D-6.3 %s does nothing for a session that ended while the body was on its way",
    async (_, { method, path, body }) => {
      const app = await startApp({ env: ADMIN_ENV });
      const root = await Person.signIn(app, "root");
      const text = JSON.stringify(body);
      const connection = await RawConnection.open(app.url);
      await connection.write(
        `${method} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${root.token}\r\n` +
          `Content-Length: ${text.length}\r\n\r\n${text.slice(0, 1)}`,
      );
      // Some requests later the service has seen the head above.
      for (let i = 0; i < 3; i++) expect((await root.send("/v1/me")).status).toBe(200);
      const ended = await root.send("/v1/sessions/current", { method: "DELETE" });
      expect(ended.status).toBe(200);
      await connection.write(text.slice(1));
      expect((await connection.readReply()).status).toBe(401);
    },
  );

  test("D-5.4 signIn() gives a token and a cookie, each good for /v1/me, until signOut()", async () => {
    const app = await startApp();
    await app.send("/v1/signup", jsonBody(ANA));
    const credentials = { username: "ana", password: PASSWORD };
    const reply = await app.send("/v1/sessions", jsonBody(credentials));
    expect(reply.status).toBe(200);
    const { token, ...rest } = dataOf(reply);
    expect(rest).toMatchObject({ token_type: "Bearer", role: "user" });
    const cookie = reply.headers.get("set-cookie") ?? "";
    expect(cookie).toContain(`repsync_session=${token};`);
    expect(cookie).toMatch(/HttpOnly.*SameSite=Strict/);
    const claims = JSON.parse(
      Buffer.from(String(token).split(".")[1] ?? "", "base64url").toString(),
    );
    expect(claims).toMatchObject({ iss: "repsync", aud: "repsync", sub: "ana", role: "user" });
    expect(claims.exp - claims.iat).toBe(3_600);
    const asBearer = { headers: { Authorization: `Bearer ${token}` } };
    const asCookie = {
      headers: { Cookie: `other=1; repsync_session=${token}`, "Sec-Fetch-Site": "same-origin" },
    };
    expect((await app.send("/v1/me", asBearer)).status).toBe(200);
    expect((await app.send("/v1/me", asCookie)).status).toBe(200);
    const ended = await app.send("/v1/sessions/current", { method: "DELETE", ...asCookie });
    expect([ended.status, dataOf(ended)]).toEqual([200, { status: "ended" }]);
    expect(ended.headers.get("set-cookie")).toContain("Max-Age=0");
    for (const options of [asBearer, asCookie]) {
      const after = await app.send("/v1/me", options);
      expect([after.status, after.json["code"]]).toEqual([401, "token_invalid"]);
    }
  });

  test("D-5.5 erasing the account takes the cookie away, which names the person", async () => {
    const app = await startApp();
    await app.send("/v1/signup", jsonBody(ANA));
    const signedIn = await app.send(
      "/v1/sessions",
      jsonBody({ username: "ana", password: PASSWORD }),
    );
    const Cookie = `repsync_session=${dataOf(signedIn)["token"]}`;
    const headers = { Cookie, "Sec-Fetch-Site": "same-origin" };
    const erased = await app.send("/v1/me", { method: "DELETE", headers });
    expect([erased.status, dataOf(erased)]).toEqual([200, { status: "erased" }]);
    expect(erased.headers.get("set-cookie")).toBe(
      "repsync_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict",
    );
  });

  test("D-5.4 a wrong password and an unknown name are told alike", async () => {
    const app = await startApp();
    await app.send("/v1/signup", jsonBody(ANA));
    const bodies = [
      { username: "ana", password: "wrong password" },
      { username: "nobody", password: PASSWORD },
    ];
    const replies = await Promise.all(
      bodies.map((body) => app.send("/v1/sessions", jsonBody(body))),
    );
    for (const reply of replies) {
      expect([reply.status, reply.json["code"]]).toEqual([401, "credentials_invalid"]);
      expect(reply.json["detail"]).toBe("Username or password is wrong");
      expect(reply.headers.has("www-authenticate")).toBe(true);
    }
  });

  test("D-5.4 after 10 failures an account is 429, also with the right password; guesses at once learn no more", async () => {
    const app = await startApp();
    await app.send("/v1/signup", jsonBody(ANA));
    const guess = (password: string) =>
      app.send("/v1/sessions", jsonBody({ username: "ana", password }));
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) => guess(`a wrong one ${i}`)),
    );
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(10).fill(429)]);
    const right = await guess(PASSWORD);
    expect([right.status, right.json["code"]]).toEqual([429, "rate_limited"]);
    expect(Number(right.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test.each(["a\u0000@b.c", "a\u200b@b.c", "a@b\u202e.c", "<a@b.c>", "a b@c.d"])(
    "D-5.2 signUp() refuses the address %j",
    async (email) => {
      const app = await startApp();
      const reply = await app.send("/v1/signup", jsonBody({ ...ANA, email }));
      expect([reply.status, reply.json["errors"]]).toEqual([
        400,
        [{ pointer: "/email", detail: "Must be an e-mail address" }],
      ]);
    },
  );

  test("D-5.4, D-5.2 a name of any length is told as any other that is wrong", async () => {
    const app = await startApp();
    for (const username of ["x".repeat(60_000), "\u0000", "$ne"]) {
      const reply = await app.send("/v1/sessions", jsonBody({ username, password: PASSWORD }));
      expect([reply.status, reply.json["code"]]).toEqual([401, "credentials_invalid"]);
    }
  });

  test("D-5.4, D-1.3.18 addresses are those behind as many proxies as are trusted", async () => {
    const app = await startApp({ env: { TRUSTED_PROXY_HOPS: "1" } });
    const signUp = (n: number, forwarded: string) => {
      const body = { username: `u${n}`, email: `u${n}@example.com`, password: "short" };
      return app.send("/v1/sessions", {
        ...jsonBody({ username: body.username, password: "wrong password" }),
        headers: { "X-Forwarded-For": forwarded, "Content-Type": "application/json" },
      });
    };
    const many = Array.from({ length: 31 }, (_, n) => signUp(n, `10.0.0.${n}, 203.0.113.9`));
    const statuses = (await Promise.all(many)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429).length).toBe(1);
    expect((await signUp(99, "203.0.113.9, 203.0.113.10")).status).toBe(401);
  });

  test("D-4.1, D-1.3.12 the configured administrator is made at start, once", async () => {
    const app = await startApp({ env: ADMIN_ENV });
    const root = await Person.signIn(app, "root");
    expect(dataOf(await root.send("/v1/me"))).toEqual({
      username: "root",
      email: "",
      plan: "free",
      role: "administrator",
    });
  });
});
