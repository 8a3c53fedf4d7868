// Accounts, keys, plans and the audit log by the command line, beside a service that runs on the same store.
import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { SystemTimer } from "../../src/adapters/system/system.ts";
import { serviceEnv } from "../e2e/support/service-process.ts";
import { lookUp, Person } from "../http/reputation/people.ts";
import { onOneBackend } from "../http/support/backends.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { startApp } from "../http/support/sync-app.ts";
import { startInTerminal } from "./support/cli-process.ts";
import { runCli } from "./support/run-cli.ts";
import { PASSWORD, PEOPLE, startBeside } from "./support/start-beside.ts";

setDefaultTimeout(120_000);

const DAY_MS = 86_400_000;

onOneBackend("repsync beside a service", (backend) => {
  test("D-4.12 admin create makes an administrator who can sign in at once", async () => {
    const { cli, signIn } = await startBeside(backend);
    const created = await cli(["admin", "create", "root"], `${PASSWORD}\nmore\n`);
    expect(created).toMatchObject({ code: 0, stderr: "" });
    expect(created.stdout).toBe('Administrator "root" can sign in at POST /v1/sessions\n');
    expect(await signIn("root")).toMatchObject({ status: 200, role: "administrator" });

    const again = await cli(["admin", "create", "root", "--json"], "another password");
    expect(again.code).toBe(1);
    expect(again.json).toEqual({
      error: 'The account "root" already exists',
      hint: "Choose another username",
    });
    expect(await signIn("root")).toMatchObject({ status: 200 });
  });

  test("D-8.2 accounts release makes an erased name free, and the running service knows at once", async () => {
    const { cli, signUp, signIn, post, service } = await startBeside(backend);
    await signUp();
    const { headers } = await signIn("ana");
    const signUpAgain = async () => (await post("/v1/signup", PEOPLE[0] ?? {})).status;
    const notTaken = await cli(["accounts", "release", "ana", "--json"]);
    expect(notTaken).toMatchObject({ code: 1 });
    expect(notTaken.json).toEqual({ error: "No erased account holds this name" });
    expect((await service.send("/v1/me", { method: "DELETE", headers })).status).toBe(200);
    expect(await signUpAgain()).toBe(409);
    const released = await cli(["accounts", "release", "ana", "--json"]);
    expect(released).toMatchObject({ code: 0, stderr: "" });
    expect(released.json).toEqual({ username: "ana", status: "released" });
    expect((await cli(["accounts", "release", "ana"])).code).toBe(1);
    expect(await signUpAgain()).toBe(201);
    const verified = await cli(["audit", "verify", "--json"]);
    expect(verified).toMatchObject({ code: 0, json: { status: "whole", records: 1 } });
  });

  test("D-14.9.1, D-8.8, D-5.5 the first characters of a key's id are enough to rotate and to revoke it", async () => {
    const { cli, signUp, lookUp } = await startBeside(backend);
    await signUp();
    const issue = ["keys", "create", "acme", "--name", "first", "--json"];
    const first = (await cli(issue)).json;
    const rotate = ["keys", "rotate", "acme"];
    const rotated = await cli([...rotate, first.id.slice(0, 8), "--json"]);
    expect([rotated.code, rotated.json.name]).toEqual([0, "first"]);
    expect(await lookUp(first.key)).toEqual([401, "api_key_revoked"]);
    expect(await lookUp(rotated.json.key)).toEqual([200, null]);
    // Another account's key is none of this one's.
    const later = await cli([...rotate, rotated.json.id, "--overlap-seconds", "60"]);
    expect(later.stdout).toMatch(/^rep_live_\S+\nKey "first" of "acme", shown this once\nid /);
    expect(later.stdout).toContain(`; ${rotated.json.id} ends in 60 s\n`);
    expect(await lookUp(rotated.json.key)).toEqual([200, null]);
    const foreign = await cli(["keys", "revoke", "ana", rotated.json.id.slice(0, 8)]);
    expect([foreign.code, foreign.stderr]).toEqual([1, "There is no such API key\n"]);
    const revoked = await cli(["keys", "revoke", "acme", rotated.json.id.slice(0, 4), "--json"]);
    expect([revoked.code, revoked.json.id]).toEqual([0, rotated.json.id]);
    expect(await lookUp(rotated.json.key)).toEqual([401, "api_key_revoked"]);
    const [, next = ""] = /\nid ([\w-]+);/.exec(later.stdout) ?? [];
    expect((await cli([...rotate, next])).stdout).toMatch(/ ends now\n$/);
    for (const [id, seconds, code] of [
      [next, "0", 1],
      ["nothing", "0", 1],
      [first.id, "86401", 2],
    ] as const) {
      const refused = await cli([...rotate, id, "--overlap-seconds", seconds]);
      expect([id, refused.code]).toEqual([id, code]);
    }
    const short = await cli(["keys", "revoke", "acme", rotated.json.id.slice(0, 3)]);
    expect([short.code, short.stderr]).toEqual([
      2,
      `"${rotated.json.id.slice(0, 3)}" is too short for the beginning of an id\nGive 4 characters at least\n`,
    ]);
  });

  test("D-5.5 keys are issued, listed and revoked, and the running service knows at once", async () => {
    const { cli, signUp, lookUp } = await startBeside(backend);
    await signUp();
    const name = ["--name", "shop checks"];
    const issued = await cli(["keys", "create", "acme", ...name]);
    expect(issued).toMatchObject({ code: 0, stderr: "" });
    const [key = "", title, details] = issued.stdout.split("\n");
    expect(key).toMatch(/^rep_live_[0-9A-Za-z]{36}$/);
    expect(title).toBe('Key "shop checks" of "acme", shown this once');
    expect(details).toMatch(/^id \S+, expires never$/);
    expect(await lookUp(key)).toEqual([200, null]);

    const expires = ["--expires", "2099-01-01"];
    const second = await cli(["keys", "create", "acme", "--name", "b", ...expires, "--json"]);
    expect(second.json).toMatchObject({ status: "active", expires_at: "2099-01-01T00:00:00Z" });
    const listed = await cli(["keys", "list", "acme", "--json"]);
    expect(listed.json.items).toMatchObject([
      { id: second.json.id, name: "b", last4: second.json.key.slice(-4) },
      { name: "shop checks", status: "active" },
    ]);
    expect((await cli(["keys", "list", "acme"])).stdout).not.toContain(key);

    const { id } = listed.json.items[1];
    const revoked = await cli(["keys", "revoke", "acme", id]);
    expect(revoked).toMatchObject({ code: 0, stdout: `Key "shop checks" (${id}) is revoked\n` });
    expect(await lookUp(key)).toEqual([401, "api_key_revoked"]);
    expect(await lookUp(second.json.key)).toEqual([200, null]);
    expect((await cli(["keys", "revoke", "acme", id, "--json"])).json.status).toBe("revoked");
  });

  test("D-5.7 plan set changes the limits of the next call", async () => {
    const { service, cli, signUp, signIn } = await startBeside(backend);
    await signUp();
    const numbers = ["--calls-per-month", "5", "--rate-limit-per-minute", "7"];
    const enterprise = await cli(["plan", "set", "acme", "enterprise", ...numbers]);
    expect(enterprise.stdout).toBe(
      '"acme" is on the plan enterprise: 5 calls per month, 7 per minute\n',
    );
    const { headers } = await signIn("acme");
    expect((await service.send("/v1/me/usage", { headers })).json["data"]).toMatchObject({
      ...{ plan: "enterprise", minute: { limit: 7 }, month: { limit: 5 } },
    });
    const unlimited = await cli(["plan", "set", "acme", "enterprise"]);
    expect(unlimited.stdout).toContain("unlimited calls per month, 6,000 per minute");
    const free = await cli(["plan", "set", "acme", "free", "--json"]);
    expect(free.json).toEqual({
      ...{ username: "acme", plan: "free", calls_per_month: null, rate_limit_per_minute: null },
    });
  });

  test("D-6.5 audit verify tells that the log is whole while the service runs, and names the first record that is not", async () => {
    const { cli, signUp, lookUp, storageUrl } = await startBeside(backend);
    const empty = await cli(["audit", "verify"]);
    expect(empty).toMatchObject({
      code: 0,
      stdout: "The audit log is whole: 0 records in 0 chains\n",
    });
    await signUp();
    const { key } = (await cli(["keys", "create", "acme", "--name", "a", "--json"])).json;
    for (let i = 0; i < 5; i++) expect(await lookUp(key)).toEqual([200, null]);
    const whole = await cli(["audit", "verify", "--json"]);
    expect(whole.code).toBe(0);
    expect(whole.json).toEqual({ status: "whole", chains: 1, records: 5, problem: null });

    changeRecord(storageUrl, 3);
    const broken = await cli(["audit", "verify"]);
    expect([broken.code, broken.stdout]).toEqual([1, ""]);
    expect(broken.stderr).toMatch(
      /^The audit log does not verify: Chain "[^"]+": record 3 is not as written\n$/,
    );
    const json = await cli(["audit", "verify", "--json"]);
    expect(json.code).toBe(1);
    expect(json.json).toMatchObject({ status: "broken", problem: { kind: "changed", seq: 3 } });
    const pruned = await cli(["audit", "prune"]);
    expect([pruned.code, pruned.stdout]).toEqual([1, ""]);
    expect(pruned.stderr).toContain("record 3 is not as written");
  });

  test("D-8.9 audit verify --heads finds a log that was removed since its heads were kept", async () => {
    const { cli, signUp, lookUp, storageUrl, folder } = await startBeside(backend);
    await signUp();
    const { key } = (await cli(["keys", "create", "acme", "--name", "a", "--json"])).json;
    for (let i = 0; i < 2; i++) expect(await lookUp(key)).toEqual([200, null]);
    const file = join(folder, "heads.json");
    const written = await cli(["audit", "heads", "--out", file]);
    expect(written).toMatchObject({
      code: 0,
      stdout: "1 head written: keep the file on another machine\n",
    });
    const shown = JSON.parse((await cli(["audit", "heads"])).stdout);
    expect(shown.heads).toEqual([expect.objectContaining({ seq: 2, chainNumber: 1 })]);
    expect(await lookUp(key)).toEqual([200, null]);
    const whole = await cli(["audit", "verify", "--heads", file]);
    expect(whole).toMatchObject({
      code: 0,
      stdout: "The audit log is whole: 3 records in 1 chain\n",
    });
    removeLog(storageUrl);
    expect((await cli(["audit", "verify"])).code).toBe(0);
    const gone = await cli(["audit", "verify", "--heads", file]);
    expect([gone.code, gone.stdout]).toEqual([1, ""]);
    expect(gone.stderr).toMatch(
      /^The audit log does not verify: Chain "[^"]+": record 1 is gone\n$/,
    );
    for (const other of [join(folder, "none.json"), join(folder, "tables.json")]) {
      expect((await cli(["audit", "verify", "--heads", other])).code).toBe(2);
    }
  });
});

/** Removes the whole log, and the mark that there was one. */
function removeLog(storageUrl: string): void {
  using database = new Database(storageUrl.slice("sqlite:".length));
  for (const table of ["repsync_audit", "repsync_lookup_log"]) database.run(`DELETE FROM ${table}`);
  database.run("DELETE FROM repsync_secrets WHERE doc ->> 'name' = 'first_lookup'");
}

/** Changes one stored field of one audit record, as nobody may. */
function changeRecord(storageUrl: string, seq: number): void {
  using database = new Database(storageUrl.slice("sqlite:".length));
  const isIt = "doc ->> 'kind' = 'block' AND doc ->> 'seq' = ?";
  const find = `SELECT bytes_packed AS packed FROM repsync_lookup_log WHERE ${isIt}`;
  const found = database.query<{ packed: Uint8Array }, [number]>(find).get(seq);
  const packed = withCode(found?.packed ?? new Uint8Array());
  database.run(`UPDATE repsync_lookup_log SET bytes_packed = ? WHERE ${isIt}`, [packed, seq]);
}

/** The bytes of a block whose records have another code. */
function withCode(packed: Uint8Array): Uint8Array {
  const [shared, own] = JSON.parse(new TextDecoder().decode(packed));
  const place = 5;
  const changed = shared.map((fields: unknown[]) => fields.with(place, "consent_required"));
  return new TextEncoder().encode(JSON.stringify([changed, own]));
}

describe("repsync on accounts", () => {
  test("D-6.5 audit prune keeps AUDIT_RETENTION_DAYS, and the rest verifies", async () => {
    const folder = makeTempFolder();
    const env = serviceEnv(folder);
    let daysAgo = 500;
    const nowMs = () => Date.now() - daysAgo * DAY_MS;
    const service = await startApp({
      env: { ...env, LOG_LEVEL: "silent", AUDIT_RETENTION_DAYS: "3650" },
      time: { clock: { nowMs, monotonicMs: () => performance.now() }, timer: new SystemTimer() },
    });
    const key = await (await Person.signUp(service, "acme")).issueKey();
    for (daysAgo of [500, 450, 20, 0]) await lookUp(service, key, { username: "nobody" });
    await service.stop();
    const cli = (args: string, more = {}) =>
      runCli(args.split(" "), { folder, env: { ...env, ...more } });
    expect((await cli("audit verify --json")).json).toMatchObject({ records: 4, problem: null });
    const pruned = await cli("audit prune");
    expect(pruned).toMatchObject({ code: 0, stdout: "2 records older than 400 days removed\n" });
    expect((await cli("audit verify --json")).json).toMatchObject({ records: 2, problem: null });
    const again = await cli("audit prune --json", { AUDIT_RETENTION_DAYS: "10" });
    expect(again.json).toEqual({ removed: 1, keep_days: 10, problem: null });
    expect((await cli("audit verify --json")).json).toMatchObject({ records: 1, problem: null });
  });

  test.each([
    [["admin", "create", "root"], "", "No password was given\nType it at the prompt"],
    [["admin", "create", "root"], "short", "A password has 10 to 200 characters"],
    [["admin", "create", ""], PASSWORD, "A username has 1 to 200 characters"],
    [["admin", "create", "ro\not"], PASSWORD, "A username has no control characters"],
    [["admin", "create", "root", PASSWORD], "", "Too many arguments"],
    [["keys", "create", "root", "--name", ""], "", "name: "],
    [["keys", "create", "root", "--name", "a", "--expires", "soon"], "", "expires_at: "],
    [["keys", "create", "root", "--name", "a", "--expires", "2001-01-01"], "", "expires_at: "],
    [
      ["plan", "set", "root", "free", "--calls-per-month", "5"],
      "",
      "calls_per_month: Only the enterprise",
    ],
    [
      ["plan", "set", "root", "enterprise", "--calls-per-month", "-5"],
      "",
      "It must be a whole number",
    ],
    [
      ["plan", "set", "root", "enterprise", "--calls-per-month", "0"],
      "",
      "calls_per_month: Must be a whole",
    ],
    [
      ["plan", "set", "root", "enterprise", "--rate-limit-per-minute", "0"],
      "",
      "rate_limit_per_minute: Must be a whole",
    ],
  ])("D-4.12, D-11.3.1 %p is a wrong command line, exit code 2", async (args, input, text) => {
    const folder = makeTempFolder();
    const admin = { ADMIN_USERNAME: "root", ADMIN_PASSWORD: "another password" };
    const env = { ...serviceEnv(folder), ...admin };
    const ended = await runCli(args, { folder, env, input });
    expect([ended.code, ended.stdout]).toEqual([2, ""]);
    expect(ended.stderr).toContain(text);
    expect(ended.stderr).not.toMatch(/\.ts|another password/);
  });

  test.each([
    [["keys", "create", "nobody", "--name", "a"], 'There is no account "nobody"'],
    [["keys", "list", "nobody"], 'There is no account "nobody"'],
    [["keys", "revoke", "nobody", "x"], 'There is no account "nobody"'],
    [["keys", "revoke", "root", "xxxx"], "There is no such API key"],
    [["plan", "set", "nobody", "free"], "There is no such account"],
  ])("D-4.12 %p fails as there is none, exit code 1", async (args, text) => {
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder), ADMIN_USERNAME: "root", ADMIN_PASSWORD: PASSWORD };
    const ended = await runCli(args, { folder, env });
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: `${text}\n` });
  });

  test("D-4.12, D-4.12.5 admin create asks twice on a terminal, and shows nothing that is typed", async () => {
    const folder = makeTempFolder();
    const env = serviceEnv(folder);
    const prompt = startInTerminal(["admin", "create", "root"], { folder, env });
    await prompt.waitFor("Password for root: ");
    prompt.type(`${PASSWORD}\r`);
    await prompt.waitFor("Repeat the password: ");
    prompt.type(`${PASSWORD}\r`);
    await prompt.waitFor('Administrator "root" can sign in');
    expect(await prompt.exited).toBe(0);
    expect(prompt.shown()).not.toContain(PASSWORD);

    const other = startInTerminal(["admin", "create", "boss"], { folder, env });
    await other.waitFor("Password for boss: ");
    other.type(`${PASSWORD}\r`);
    await other.waitFor("Repeat the password: ");
    other.type("something else\r");
    await other.waitFor("The two passwords differ");
    expect(await other.exited).toBe(2);
  });
});
