// What one caller can do to others. D-8.5.
import { expect, test } from "bun:test";
import { SystemTimer } from "../../../../src/adapters/system/system.ts";
import type { Environment } from "../../../../src/app/config.ts";
import { FakeClock } from "../../../support/time/fake-clock.ts";
import type { Backend } from "../../support/backends.ts";
import { type SyncApp, startApp } from "../../support/sync-app.ts";
import { ADMIN_ENV, jsonBody, PASSWORD, Person } from "../people.ts";
import { onReputationBackends, startReputation } from "../reputation-backends.ts";
import { USER_ROUTES } from "../routes.ts";

const DAY_MS = 86_400_000;
const PROXY = { TRUSTED_PROXY_HOPS: "1" };

async function signIn(app: SyncApp, username: string, password: string, address: string) {
  const request = jsonBody({ username, password });
  const headers = { ...request.headers, "X-Forwarded-For": address };
  return (await app.send("/v1/sessions", { ...request, headers })).status;
}

/** Two instances on one store. */
async function startTwo(backend: Backend, env: Environment = {}) {
  const shared = { STORAGE_URL: await backend.makeUrl(), ...env };
  const first = await startReputation(backend, shared);
  return [first, await startReputation(backend, shared)] as const;
}

onReputationBackends(
  "abuse",
  (backend) => {
    test("D-8.5.1 an account makes so many changes in a minute, over all its routes and on every instance", async () => {
      const [app, other] = await startTwo(backend, { ACCOUNT_WRITES_PER_MINUTE: "5" });
      const ana = await Person.signUp(app, "ana");
      const bea = await Person.signUp(app, "bea");
      const elsewhere = await Person.signIn(other, "ana");
      const grant = { purpose: "profile_lookup" };
      const statuses: number[] = [];
      for (let n = 0; n < 3; n++) {
        statuses.push((await ana.post("/v1/me/consents", grant)).status);
        statuses.push((await elsewhere.post("/v1/me/api-keys", { name: "n" })).status);
      }
      expect(statuses).toEqual([201, 201, 201, 201, 201, 429]);
      for (const { method, path, body } of USER_ROUTES) {
        if (method === "GET" || !path.startsWith("/v1/me")) continue;
        const reply = await ana.send(
          path,
          body === undefined ? { method } : jsonBody(body, method),
        );
        expect([path, reply.status, reply.json["code"]]).toEqual([path, 429, "rate_limited"]);
        expect(reply.headers.get("retry-after")).toMatch(/^[1-9]\d?$/);
      }
      expect((await ana.send("/v1/me")).status).toBe(200);
      expect((await bea.post("/v1/me/consents", grant)).status).toBe(201);
    });

    test("D-8.5.4 failed sign-ins lock out strangers' addresses, not those that signed in before", async () => {
      const [app, other] = await startTwo(backend);
      await Person.signUp(app, "ana");
      expect(await signIn(app, "ana", PASSWORD, "203.0.113.1")).toBe(200);
      expect(await signIn(app, "ana", PASSWORD, "2001:db8:0:1::a")).toBe(200);
      for (let n = 0; n < 10; n++) {
        expect(await signIn(app, "ana", "a wrong password", `198.51.100.${n}`)).toBe(401);
      }
      expect(await signIn(other, "ana", PASSWORD, "198.51.100.77")).toBe(429);
      expect(await signIn(other, "ana", PASSWORD, "203.0.113.1")).toBe(200);
      expect(await signIn(other, "ana", PASSWORD, "2001:db8:0:1:b::")).toBe(200);
      expect(await signIn(other, "ana", PASSWORD, "2001:db8:0:2::a")).toBe(429);
    });

    test("D-8.5.4 an address is known for a year after the last sign-in from it, not after the first", async () => {
      const clock = new FakeClock();
      const time = { clock, timer: new SystemTimer() };
      const app = await startApp({ backend, env: PROXY, time });
      await Person.signUp(app, "ana");
      for (const days of [0, 364]) {
        clock.advance(days * DAY_MS);
        expect(await signIn(app, "ana", PASSWORD, "203.0.113.1")).toBe(200);
      }
      clock.advance(2 * DAY_MS);
      for (let n = 0; n < 10; n++) {
        expect(await signIn(app, "ana", "a wrong password", `198.51.100.${n}`)).toBe(401);
      }
      expect(await signIn(app, "ana", PASSWORD, "198.51.100.77")).toBe(429);
      expect(await signIn(app, "ana", PASSWORD, "203.0.113.1")).toBe(200);
    });
  },
  { isFile: true },
);

test("D-8.5.4 a known address has no more tries than any address", async () => {
  const app = await startApp({ env: PROXY });
  await Person.signUp(app, "ana");
  expect(await signIn(app, "ana", PASSWORD, "203.0.113.1")).toBe(200);
  const statuses: number[] = [];
  for (let n = 0; n < 31; n++) {
    statuses.push(await signIn(app, "ana", "a wrong password", "203.0.113.1"));
  }
  expect(statuses).toEqual([...Array(30).fill(401), 429]);
});

test("D-8.5.2 limits by address go by the IPv6 network", async () => {
  const app = await startApp({ env: PROXY });
  for (let n = 0; n < 30; n++) {
    expect(await signIn(app, `nobody-${n}`, PASSWORD, `2001:db8:0:1::${n + 1}`)).toBe(401);
  }
  expect(await signIn(app, "nobody", PASSWORD, "2001:db8:0:1:ffff::1")).toBe(429);
  expect(await signIn(app, "nobody", PASSWORD, "2001:db8:0:2::1")).toBe(401);
});

test("D-8.5.3 with 100 passwords waiting the next is 503 at once, and no failed sign-in", async () => {
  const app = await startApp({ env: { ...ADMIN_ENV, ...PROXY } });
  const tries = Array.from({ length: 140 }, (_, n) =>
    signIn(app, "root", "a wrong password", `203.0.113.${n}`),
  );
  const statuses = await Promise.all(tries);
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0);
  expect(new Set(statuses)).toEqual(new Set([401, 429, 503]));
  expect(statuses.filter((status) => status === 401).length).toBe(10);
});
