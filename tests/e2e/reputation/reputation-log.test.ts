// What the service writes about itself holds no secret: no password, token, key, address or name, whatever goes wrong.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ADMIN_ENV, jsonBody, lookUp, PASSWORD, Person } from "../../http/reputation/people.ts";
import { BODY_ROUTES, ROUTES } from "../../http/reputation/routes.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { startService } from "../support/service-process.ts";

const PEPPER = "a pepper of at least thirty-two bytes";
const JWT_SECRET = "a jwt secret of more than thirty-two bytes";

test("D-5.2, D-5.6, D-1.3.12 the log at its finest has no secret and no name, in failures too", async () => {
  const folder = makeTempFolder();
  const env = { ...ADMIN_ENV, LOG_LEVEL: "debug", API_KEY_PEPPER: PEPPER, JWT_SECRET };
  const service = await startService({ folder, env });
  const ana = await Person.signUp(service, "ana-of-the-log");
  const root = await Person.signIn(service, "root");
  const key = await ana.issueKey();
  await ana.consent();
  await lookUp(service, key, { username: "ana-of-the-log" });
  await lookUp(service, `${key}x`, { username: "hidden-name" });
  const wrong = { username: "ana-of-the-log", password: "a wrong password" };
  await service.send("/v1/sessions", jsonBody(wrong));
  for (const route of BODY_ROUTES) {
    for (const body of ['{"password":"a secret in no JSON', '{"a secret field":1}']) {
      await root.send(route.path, { method: route.method, body });
    }
  }
  await service.send(`/v1/me?token=${ana.token}`);
  const database = new Database(join(folder, "repsync.db"));
  const { hash } = database.query("SELECT doc ->> 'hash' AS hash FROM repsync_keys").get() as {
    hash: string;
  };
  database.run("DROP TABLE repsync_lookup_log");
  database.run("DROP TABLE repsync_consents");
  database.close();
  const failed = [
    await lookUp(service, key, { username: "ana-of-the-log" }),
    await ana.post("/v1/me/consents", { purpose: "reputation_lookup" }),
  ];
  rmSync(join(folder, "repsync.db"));
  for (const route of ROUTES.filter(({ method }) => method !== "GET")) {
    const options = route.body === undefined ? {} : jsonBody(route.body, route.method);
    failed.push(await ana.send(route.path, { method: route.method, ...options }));
  }
  expect(failed.filter(({ status }) => status === 503).length).toBeGreaterThan(3);
  expect(failed.filter(({ status }) => status === 500)).toEqual([]);
  for (const { text } of failed) expect(text).not.toMatch(/repsync_|\.db|SQL|\/tmp/);
  await service.stop();
  const log = service.stdout() + service.stderr();
  expect(log).toContain("Request answered");
  expect(log).toContain("Request failed");
  const secrets = [
    ...[key, ana.token, root.token, ana.token.split(".")[2] ?? "", hash, PASSWORD],
    ...[PEPPER, JWT_SECRET, "a wrong password", "a secret in no JSON", "a secret field"],
    ...["ana-of-the-log", "hidden-name", "ana-of-the-log@example.com", "$argon2id"],
    key.slice("rep_live_".length),
  ];
  expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
});
