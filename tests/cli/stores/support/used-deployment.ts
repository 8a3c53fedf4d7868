// A deployment with everything that one in use holds, and what it shows of that through its interface.
import { expect } from "bun:test";
import type { Environment } from "../../../../src/app/config.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { serviceEnv } from "../../../e2e/support/service-process.ts";
import { ADMIN_ENV, jsonBody, Person } from "../../../http/reputation/people.ts";
import { makeTempFolder } from "../../../http/support/make-temp-folder.ts";
import type { JsonFields, Reply } from "../../../http/support/sync-app.ts";
import { TABLES as HTTP_TABLES } from "../../../http/support/tables.ts";
import { type RunApp, startRunApp } from "../../../http/sync-runs/support/run-apps.ts";
import { type CliResult, runCli } from "../../support/run-cli.ts";

const { samples, versions } = HTTP_TABLES;
/** With deletes, with a row of every type, and one in which rows are rejected. */
const TABLES: Readonly<Record<string, TableEntry>> = {
  samples,
  versions: { ...versions, deletes: true },
  listings: HTTP_TABLES.listings,
};
const SHORTER: Readonly<Record<string, TableEntry>> = {
  ...TABLES,
  samples: {
    ...samples,
    columns: { ...samples.columns, a_text: { type: "text", max_length: 20 } },
  },
};

export const ENV = { ...ADMIN_ENV, SYNC_LAG_SECONDS: "0", TRUSTED_PROXY_HOPS: "1" };

const SAMPLES = [
  { name: "all", a_text: "Ünïcode \u{1f600}", an_integer: 7, a_bigint: "9223372036854775807" },
  { name: "more", a_numeric: "123456789012345678901.5", a_real: 1.5, a_boolean: true },
  { name: "odd", an_integer: "no number", a_boolean: "maybe", a_datetime: "soon", a_json: [1] },
  { name: "times", a_datetime: "2024-05-01T10:00:00.123456Z", a_date: "2024-05-01" },
  { name: "json", a_json: { b: [1, null, { c: "$d" }] }, a_text: "nul \u0000 in it" },
  { name: "long", a_text: "longer than twenty characters" },
  { name: "longer", a_text: "even longer than twenty characters" },
];
const AT = "2024-05-01T10:00:0";

/** A deployment on a store, with its remote, and the command line on the same store. */
export interface UsedDeployment {
  readonly app: RunApp;
  readonly remote: RunApp;
  readonly key: string;
  readonly restart: (url: string, env?: Environment) => Promise<RunApp>;
  readonly cli: (url: string, args: readonly string[], env?: Environment) => Promise<CliResult>;
}

/** Makes one and uses all of it. */
export async function useDeployment(url: string): Promise<UsedDeployment> {
  const remote = await startRunApp({ env: ENV, tables: SHORTER });
  const restart = (STORAGE_URL: string, env: Environment = {}) =>
    startRunApp({
      env: { ...ENV, STORAGE_URL, SYNC_REMOTE_URL: remote.url, ...env },
      tables: TABLES,
    });
  const app = await restart(url);
  await push(
    app,
    "samples",
    SAMPLES.map((row) => ({ required: "r", ...row })),
  );
  const numbered = ["one", "two"].map((sku) => ({ shop: "s", sku, price: "1.50", views: "12" }));
  await push(app, "listings", numbered);
  await push(
    app,
    "versions",
    ["a", "b", "c"].map((name, n) => ({ name, at: `${AT}${n}Z`, body: name })),
  );
  await push(remote, "versions", [{ name: "there", at: `${AT}5Z`, body: "there" }]);
  expect((await app.trigger()).status).toBe(200);
  const rejected = await app.items("/rejected");
  const dropped = rejected.find(({ key }) => JSON.stringify(key) === '{"name":"longer"}');
  await app.ask(`/rejected/${dropped?.["id"]}`, { method: "DELETE" });
  const deleted = [{ key: { name: "a" }, deleted_at: "2024-06-01T00:00:00Z" }];
  const reply = await app.push("versions", { records: [], deleted });
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
  await app.trigger({ direction: "push", dry_run: true });
  const key = await usePeople(app);
  const folder = makeTempFolder();
  const files = serviceEnv(folder, TABLES);
  const cli = (STORAGE_URL: string, args: readonly string[], env: Environment = {}) => {
    const more = { ...ENV, STORAGE_URL, SYNC_REMOTE_URL: remote.url, LOG_LEVEL: "", ...env };
    const set = Object.entries({ ...files, ...more }).filter(([, value]) => value !== undefined);
    return runCli(args, { folder, env: Object.fromEntries(set) as Record<string, string> });
  };
  return { app, remote, key, restart, cli };
}

async function usePeople(app: RunApp): Promise<string> {
  const ana = await Person.signUp(app, "ana");
  const acme = await Person.signUp(app, "acme");
  const gone = await Person.signUp(app, "gone");
  const hidden = await Person.signUp(app, "hidden");
  await push(app, "platform_accounts", [
    { username: "ana", platform: "github", handle: "ana", verified: true },
    { username: "gone", platform: "github", handle: "gone", verified: true },
  ]);
  await hidden.send("/v1/me/profile", jsonBody({ public: false }, "PATCH"));
  await ana.consent();
  await hidden.consent("profile_lookup");
  const key = await acme.issueKey();
  await acme.issueKey();
  for (const name of ["ana", "ana", "gone", "nobody"]) await lookUp(app, key, name);
  expect((await gone.send("/v1/me", { method: "DELETE" })).status).toBe(200);
  await app.admin.send("/v1/admin/accounts/hidden/suspend", jsonBody({}));
  return key;
}

async function push(app: RunApp, table: string, records: readonly object[]): Promise<void> {
  const { status, text } = await app.push(table, { records });
  if (status !== 200) throw new Error(text);
}

/** The status and the code of a lookup. */
export async function lookUp(app: RunApp, key: string, name: string) {
  const path = `/v1/public/profiles/${name}/reputation`;
  const { status, json } = await app.send(path, { headers: { "X-API-Key": key } });
  return [status, json["code"] ?? null];
}

/** Fields that say when they were asked, or that the asking itself changes. */
const OF_THE_MOMENT = new Set([
  ...["timestamp", "server_time", "request_id", "last_sign_in_at", "cursor", "next_cursor"],
  ...["session_expires_at", "elapsed_ms", "reset_at", "resets_at", "trust_cursor"],
]);

/** Everything that it shows, the same of two stores that hold the same. */
export async function shownBy(app: RunApp): Promise<Readonly<Record<string, unknown>>> {
  const ana = await Person.signIn(app, "ana");
  const acme = await Person.signIn(app, "acme");
  const shown: Record<string, unknown> = {};
  const show = async (name: string, asking: Promise<Reply>) => {
    const { status, json } = await asking;
    shown[name] = { status, json: settled(json) };
  };
  for (const table of ["profiles", "platform_accounts", ...Object.keys(TABLES)]) {
    await show(`pull ${table}`, app.pull(table));
    await show(`schema ${table}`, withKey(app, `/api/v1/sync/schema/${table}`));
  }
  await show("status", app.send("/api/v1/sync/status"));
  await show("deleted", withKey(app, "/api/v1/sync/deleted/versions"));
  await show("runs", app.ask("/runs"));
  await show("rejected", app.ask("/rejected"));
  for (const path of ["/v1/me", "/v1/me/consents", "/v1/me/accesses", "/v1/me/reputation"]) {
    await show(`ana ${path}`, ana.send(path));
  }
  for (const path of ["/v1/me/api-keys", "/v1/me/usage"])
    await show(`acme ${path}`, acme.send(path));
  await show("accounts", app.admin.send("/v1/admin/accounts"));
  await show("audit", app.admin.send("/v1/admin/audit?limit=100"));
  const taken = jsonBody({ username: "gone", email: "g@example.com", password: "long enough 1" });
  await show("an erased name", app.send("/v1/signup", taken));
  return shown;
}

function withKey(app: RunApp, path: string): Promise<Reply> {
  return app.send(path, { headers: { "X-Sync-Key": "correct horse battery staple" } });
}

function settled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(settled);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value as JsonFields).filter(([name]) => !OF_THE_MOMENT.has(name));
  return Object.fromEntries(fields.map(([name, member]) => [name, settled(member)]));
}
