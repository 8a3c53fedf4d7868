// What `doctor` finds, beside running services and without them.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { OTHER_PEPPER } from "../../src/usecases/reputation/accounts/secrets.ts";
import { serviceEnv } from "../e2e/support/service-process.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { serveLocally } from "../http/support/serve-locally.ts";
import { keepResource } from "../support/resources.ts";
import { runCli } from "./support/run-cli.ts";
import { NOTES, startPair, statusReply } from "./support/running-pair.ts";

describe("repsync doctor", () => {
  test("D-1.3 tells when the store began with another pepper", async () => {
    const folder = makeTempFolder();
    const env = serviceEnv(folder);
    expect((await runCli(["doctor"], { folder, env })).code).toBe(0);
    const other = { ...env, API_KEY_PEPPER: "another pepper, of at least 32 bytes" };
    const { code, stdout } = await runCli(["doctor"], { folder, env: other });
    expect(stdout).toContain(`\nfail  API_KEY_PEPPER: ${OTHER_PEPPER}. Set API_KEY_PEPPER to`);
    expect(stdout).not.toContain("another pepper");
    expect(code).toBe(1);
    expect((await runCli(["doctor"], { folder, env })).code).toBe(0);
  });

  test("D-14.9.2 names settings that resemble known ones, of the environment and of .env", async () => {
    const folder = makeTempFolder();
    await Bun.write(`${folder}/.env`, "ADMIN_PASWORD=a long password\nUNRELATED=1\n");
    const env = { ...serviceEnv(folder), LOGLEVEL: "debug" };
    const { code, stdout, stderr } = await runCli(["doctor"], { folder, env });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").filter((line) => line.includes(" settings: "))).toEqual([
      "warn  settings: LOGLEVEL is no setting. Did you mean LOG_LEVEL?",
      "warn  settings: ADMIN_PASWORD is no setting. Did you mean ADMIN_PASSWORD?",
    ]);
    expect(stdout).not.toContain("a long password");
  });

  test("D-1.3 a setting that sync has not is told with the one that is meant", async () => {
    const { code, stdout } = await runCli(["doctor"], { env: { SYNC_SCHEDUL: "* * * * *" } });
    expect(code).toBe(2);
    expect(stdout).toContain(
      "fail  configuration: SYNC_SCHEDUL is not a setting; did you mean SYNC_SCHEDULE?",
    );
    expect(stdout).not.toContain("?.");
  });

  test("D-4.12 beside a process that writes it says soon what it could not do, and each leaves no more behind", async () => {
    const folder = makeTempFolder();
    const env = serviceEnv(folder);
    const url = "sqlite:./held.db";
    const doctor = () => runCli(["doctor"], { folder, env: { ...env, STORAGE_URL: url } });
    for (let n = 0; n < 2; n++) expect((await doctor()).code).toBe(0);
    const other = new Database(`${folder}/held.db`);
    keepResource(() => other.close());
    expect(other.query("SELECT * FROM repsync_turns").all()).toHaveLength(1);
    other.run("BEGIN IMMEDIATE");
    const startedAtMs = performance.now();
    const { code, stdout } = await doctor();
    expect(performance.now() - startedAtMs).toBeLessThan(9_000);
    expect(stdout).toContain(
      "\nfail  store: it can be read, but not written: The database is unavailable: another process is using it. Ask again in a moment\nok    tables: they exist",
    );
    expect(code).toBe(1);
  });

  test("D-10.7 begins a file where backups are made by the clock, and says where it cannot", async () => {
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder), BACKUP_SCHEDULE: "0 3 * * *" };
    const doctor = (BACKUP_FOLDER: string) =>
      runCli(["doctor"], { folder, env: { ...env, BACKUP_FOLDER } });
    const none = await doctor("./backups");
    expect(none.stdout).toContain(
      '\nwarn  backups: "./backups" cannot be listed: there is no such file or folder. Make it for the user of the service\n',
    );
    mkdirSync(`${folder}/backups`);
    const good = await doctor("./backups");
    expect(good.stdout).toContain(
      "\nok    backups: their folder can be written; there was none yet\n",
    );
    expect(readdirSync(`${folder}/backups`)).toEqual([]);
    const bad = await doctor("/proc");
    expect(bad.stdout).toContain('\nfail  backups: "/proc/doctor" cannot be written: ');
    writeFileSync(`${folder}/taken`, "");
    const taken = await doctor("./taken");
    expect(taken.stdout).toContain(
      '\nfail  backups: "./taken" cannot be listed: a part of its path is no folder',
    );
    expect([none.code, good.code, bad.code, taken.code]).toEqual([0, 0, 1, 1]);
  });

  test("D-4.12 says of each part that it is well, exit code 0", async () => {
    const { cli } = await startPair();
    const { code, stdout, stderr } = await cli("doctor");
    expect(stderr).toBe("");
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => /^(ok|warn|fail) +([A-Za-z_ ]+):/.exec(line)?.slice(1, 3))).toEqual([
      ["ok", "version"],
      ["ok", "configuration"],
      ["ok", "store"],
      ["ok", "tables"],
      ["ok", "API_KEY_PEPPER"],
      ["ok", "sync"],
      ["ok", "rejected records"],
      ["ok", "last run"],
      ["ok", "owners"],
      ["ok", "remote"],
      ["ok", "remote clock"],
      ["ok", "remote tables"],
      ["ok", "remote key"],
      ["ok", "remote registry"],
    ]);
    expect(code).toBe(0);
  });

  test("D-7.3.1 tells each difference between the registries in a line of its own", async () => {
    const number = { ...NOTES, columns: { ...NOTES.columns, body: { type: "integer" } } } as const;
    const { extra, ...rest } = { extra: { type: "text" }, ...NOTES.columns } as const;
    const cases: [TableEntry, number, string[]][] = [
      [
        number,
        0,
        [
          'warn  remote registry: A push of "notes" would do harm: "body" is integer here and text there. Make the columns equal in both registries',
        ],
      ],
      [
        { ...NOTES, columns: { extra, ...rest }, deletes: true },
        0,
        [
          'warn  remote registry: notes: Columns that the remote does not have are left out: "extra"',
          'warn  remote registry: notes: Deletes do not travel: "deletes" is on here and off there',
        ],
      ],
      [
        { columns: rest, upsert_key: ["name"] },
        1,
        [
          'fail  remote registry: Table "notes" has the timestamp column none here and "at" there. Make timestamp_column equal in both registries',
        ],
      ],
    ];
    for (const [local, code, lines] of cases) {
      const { cli } = await startPair({ local });
      const ended = await cli("doctor");
      const told = ended.stdout.split("\n").filter((line) => line.includes("remote registry"));
      expect(told.map((line) => line.split(". docs/sync.md")[0])).toEqual(lines);
      expect(ended.code).toBe(code);
    }
  });

  test("D-4.12 finds a key that the remote refuses, exit code 1, and does not show it", async () => {
    const { cli } = await startPair();
    const { code, stdout } = await cli("doctor", { SYNC_REMOTE_KEY: "another key" });
    expect(stdout).toContain(
      "\nfail  remote key: the remote refuses it. Give the SYNC_API_KEY of the remote (SYNC_REMOTE_KEY)\n",
    );
    expect(stdout).not.toContain("another key");
    expect(code).toBe(1);
  });

  test("D-4.12 tells a remote that fails at the key from one that refuses it", async () => {
    const tables = { tables: ["profiles"], table_counts: { profiles: 0 } };
    const fields = { ...tables, server_time: new Date().toISOString() };
    const remote = serveLocally(({ url }) =>
      url.endsWith("/status") ? statusReply(fields) : new Response("no", { status: 500 }),
    );
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder), SYNC_REMOTE_URL: remote };
    const { code, stdout } = await runCli(["doctor"], { folder, env });
    expect([code, stdout.includes("the remote refuses it")]).toEqual([1, false]);
    expect(stdout).toMatch(/\nfail {2}remote key: [^\n]* 500/);
  });

  test.each([
    [
      "remote: fail",
      1,
      { SYNC_REMOTE_URL: "http://127.0.0.1:9" },
      "Check the address (SYNC_REMOTE_URL)",
    ],
    ["remote: warn", 0, { SYNC_REMOTE_URL: "" }, "Set SYNC_REMOTE_URL"],
    ["sync: warn", 0, { SYNC_ENABLED: "" }, "Set SYNC_ENABLED=true"],
    ["sync: warn", 0, { SYNC_API_KEY: "short" }, "openssl rand -hex 32"],
    ["sync: warn", 0, { SYNC_API_KEY: "" }, "Set SYNC_API_KEY"],
    [
      "store: fail",
      1,
      { STORAGE_URL: "sqlite:/proc/none/x.db" },
      "Check that the file of the store",
    ],
    ["configuration: fail", 2, { PORT: "x" }, ".env.example"],
  ])("D-4.12 doctor finds %s, exit code %i", async (...[expected, code, more, hint]) => {
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder), LOG_LEVEL: "", ...more };
    const ended = await runCli(["doctor", "--json"], { folder, env });
    const [check, status] = expected.split(": ");
    const found = ended.json.findings.find((finding: { check: string }) => finding.check === check);
    expect(found).toMatchObject({ status, hint: expect.stringContaining(hint) });
    expect(ended).toMatchObject({ code, stderr: "" });
  });
});
