import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../.ci/setup.mjs";
import { OTHER_PEPPER } from "../../../src/usecases/reputation/accounts/secrets.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { SYNC_KEY } from "../../http/support/sync-app.ts";
import {
  BUN,
  type Command,
  MAIN,
  runProcess,
  serviceEnv,
  startProcess,
  startService,
} from "../support/service-process.ts";

const START: Command = [...BUN, MAIN];

/** What an environment goes before. */
const SETTINGS = "PORT=1\nSYNC_ENABLED=true\nSYNC_MAX_BATCH_SIZE=7\nSTORAGE_URL=sqlite::memory:\n";

/** Starts the service with these settings alone, and waits until it listens. */
async function serve(options: Parameters<typeof startProcess>[1], args: readonly string[] = []) {
  const started = startProcess([...START, ...args], options);
  const url = await started.waitFor("address", ({ stdout }) => /http:\S+/.exec(stdout())?.[0]);
  return { started, url };
}

describe("a start that succeeds", () => {
  test("D-1.3.21, D-1.3.1, D-10.4, D-1.1 the first line on stdout names the real address, and the others what one process serves", async () => {
    const service = await startService();
    expect(service.stdout()).toMatch(/^repsync is listening on http:\/\/127\.0\.0\.1:\d{2,5}\n/);
    expect(service.url).not.toEndWith(":0");
    const replies = [
      await service.send("/v1/health"),
      await service.send("/v1/me"),
      await service.push("notes", { records: [{ name: "a" }] }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 401, 200]);
    const children = `/proc/${service.pid}/task/${service.pid}/children`;
    if (existsSync(children)) expect(readFileSync(children, "utf8")).toBe("");
    await service.stop();
    const { url } = service;
    expect(service.stdout().trimEnd().split("\n")).toEqual([
      `repsync is listening on ${url}`,
      `  console   ${url}/console`,
      expect.stringMatching(/^ {2}store {5}sqlite:\S+, new$/),
      "  sync      on, 9 tables",
      "  remote    none: set SYNC_REMOTE_URL to run against another deployment",
      "  schedule  none",
      `  docs      ${url}/swagger`,
      "There is no administrator yet; make one with: repsync admin create NAME",
    ]);
    expect(service.stderr()).toBe("");
  });

  test("D-1.3 nothing has to be set: the built-in registry, a database in ./data, sync disabled", async () => {
    const folder = makeTempFolder();
    const { url } = await serve({ folder, env: { PORT: "0" } });
    const status = await (await fetch(`${url}/api/v1/sync/status`)).json();
    expect(status).toMatchObject({ tables: [] });
    expect((await fetch(`${url}/api/v1/sync/pull/profiles`)).status).toBe(403);
    expect(existsSync(join(folder, "data", "repsync.db"))).toBeTrue();
  });

  test.each<[title: string, files: Record<string, string>, key: string, options?: string[]]>([
    [
      "D-1.2, D-1.3 of .env are settings too, and the environment wins",
      { ".env": `${SETTINGS}SYNC_API_KEY="from .env"\n` },
      "from .env",
    ],
    [
      "D-10.4, D-10.13 of --env-file replace those of .env, and the environment goes before either",
      { ".env": "SYNC_TYPO=1\n", "other.env": `${SETTINGS}SYNC_API_KEY=other\n` },
      "other",
      ["--env-file", "other.env"],
    ],
    [
      "D-1.3 of .env are taken as they stand",
      { ".env": `${SETTINGS}SYNC_API_KEY=corr$ect-horse\n` },
      "corr$ect-horse",
    ],
  ])("%s", async (_title, files, key, options = []) => {
    const folder = makeTempFolder();
    copyFileSync(join(ROOT, "bunfig.toml"), join(folder, "bunfig.toml"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const env = { PORT: "0", SYNC_MAX_BATCH_SIZE: "8" };
    const { url } = await serve({ folder, env }, options);
    const headers = { "X-Sync-Key": key };
    const reply = await fetch(`${url}/api/v1/sync/pull/profiles`, { headers });
    expect([reply.status, await reply.json()]).toMatchObject([200, { limit: 8 }]);
  });

  test("D-1.3 another pepper than the store began with is told", async () => {
    const folder = makeTempFolder();
    for (const [pepper, told] of [
      ["first pepper, of at least 32 bytes", false],
      ["second pepper, of at least 32 bytes", true],
      ["first pepper, of at least 32 bytes", false],
    ] as const) {
      const { started } = await serve({ folder, env: { PORT: "0", API_KEY_PEPPER: pepper } });
      started.kill("SIGTERM");
      await started.ended;
      expect([pepper, started.stderr().includes(OTHER_PEPPER)]).toEqual([pepper, told]);
    }
  });

  test("D-1.3 a folder named .env holds no settings", async () => {
    const folder = makeTempFolder();
    mkdirSync(join(folder, ".env"));
    await serve({ folder, env: { PORT: "0" } });
  });

  test("D-10.4 sync without a key is told once, and answers 500", async () => {
    const env = { PORT: "0", SYNC_ENABLED: "true", STORAGE_URL: "sqlite::memory:" };
    const { started, url } = await serve({ env });
    expect((await fetch(`${url}/api/v1/sync/pull/profiles`)).status).toBe(500);
    started.kill("SIGTERM");
    await started.ended;
    const said = started.stdout() + started.stderr();
    expect(said.split("SYNC_API_KEY is not set").length - 1).toBe(1);
  });
});

describe("a start that fails", () => {
  test("D-1.3.20, D-1.3, D-2.1 all problems are printed at once, exit code 2, and no secret", async () => {
    const folder = makeTempFolder();
    const registryFile = join(folder, "tables.json");
    const tables = { a: { upsert_key: ["x"], columns: { y: { type: "text" } } }, b: {} };
    writeFileSync(registryFile, JSON.stringify({ tables }));
    const ended = await runProcess(START, {
      folder,
      env: {
        PORT: "99999",
        STORAGE_URL: "mysql://user:hunter2@db/x",
        SYNC_API_KEY: "hunter3",
        SYNC_MAX_BATCH_SIZE: "0",
        SYNC_LAG_SECONDS: "-1",
        SYNC_REMOTE_URL: "ftp://user:hunter4@host",
        SYNC_TABLES: registryFile,
        SYNC_TYPO: "hunter5",
        JWT_SECRET: "hunter6",
        ADMIN_PASSWORD: "hunter7 hunter8",
        LOG_LEVEL: "loud",
      },
    });
    expect([ended.code, ended.stdout]).toEqual([2, ""]);
    const lines = ended.stderr.trimEnd().split("\n");
    expect(lines[0]).toBe("repsync cannot start; the configuration has these problems:");
    expect(lines.at(-1)).toBe(".env.example describes the settings");
    const named = lines.slice(1, -1).map((line) => /^- (\w+)/.exec(line)?.[1] ?? line);
    expect(named.toSorted()).toEqual([
      "ADMIN_USERNAME",
      "JWT_SECRET",
      "LOG_LEVEL",
      "PORT",
      "STORAGE_URL",
      "SYNC_LAG_SECONDS",
      "SYNC_MAX_BATCH_SIZE",
      "SYNC_REMOTE_URL",
      "SYNC_TABLES",
      "SYNC_TABLES",
      "SYNC_TABLES",
      "SYNC_TYPO",
    ]);
    expect(ended.stderr).not.toContain("hunter");
    expect(existsSync(join(folder, "data"))).toBeFalse();
  });

  test("D-10.4, D-10.13 lines of .env that are no settings, and a file that is not there, are exit code 2", async () => {
    const folder = makeTempFolder();
    const text = 'PORT=0\nSYNC_API_KEY: hunter2\nexport HOST="127.0.0.1\n';
    writeFileSync(join(folder, ".env"), text);
    const ended = await runProcess(START, { folder });
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr.trimEnd().split("\n")).toEqual([
      "The file .env has these problems:",
      "- line 2 is no setting, such as NAME=value",
      "- line 3: the quotes of HOST do not close",
    ]);
    for (const option of [["--env-file", "nowhere.env"], ["--env-file=nowhere.env"]]) {
      const missing = await runProcess([...START, ...option], { folder });
      expect(missing).toMatchObject({ code: 2, stdout: "" });
      expect(missing.stderr).toBe(
        "The file nowhere.env cannot be read: there is no such file or folder\nName a file of settings after --env-file; repsync init writes one, .env\n",
      );
    }
  });

  test("D-10.4, D-12.2 MongoDB or PostgreSQL out of reach: its hosts are named, then the start fails", async () => {
    const closed = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
    const hosts = `127.0.0.1:${closed.port},localhost:${closed.port}`;
    await closed.stop(true);
    const silent = Bun.listen({
      ...{ hostname: "127.0.0.1", port: 0 },
      socket: { open: (socket) => void socket.end(), data: () => {} },
    });
    const host = `127.0.0.1:${silent.port}`;
    const starts = [
      {
        STORAGE_URL: `mongodb://me:s3cret@${hosts}/db?replicaSet=rs0`,
        notice: `MongoDB at ${hosts} cannot be reached yet; it is tried for 20 s`,
        end: `MongoDB at ${hosts} cannot be reached\n`,
      },
      {
        STORAGE_URL: `postgres://me:s3cret@${host}/db`,
        notice: `PostgreSQL at ${host}`,
        end: `PostgreSQL at ${host} cannot be reached, or does not answer\n`,
      },
    ].map((store) => {
      const env = { PORT: "0", STORAGE_URL: store.STORAGE_URL, LOG_LEVEL: "warn" };
      return { ...store, started: startProcess(START, { env }) };
    });
    for (const { started, notice } of starts) {
      await started.waitFor("the hosts", ({ stdout, stderr }) =>
        (stdout() + stderr()).includes(notice) ? true : null,
      );
    }
    silent.stop(true);
    for (const { started, end } of starts) {
      expect(await started.ended).toEqual({ code: 1, signal: null });
      expect(started.stderr()).toContain(`repsync cannot start: ${end}`);
      expect(started.stdout() + started.stderr()).not.toContain("s3cret");
    }
  });

  test("D-1.3.1 a second instance on the same port says so, and leaves the first alone", async () => {
    const first = await startService();
    const { port } = new URL(first.url);
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder), PORT: port };
    const second = await runProcess(START, { folder, env });
    expect([second.code, second.stdout]).toEqual([1, ""]);
    const lines = second.stderr.trimEnd().split("\n");
    expect(lines.length).toBe(1);
    expect(lines[0]).toStartWith(`repsync cannot start: Cannot listen on 127.0.0.1:${port}: `);
    expect(lines[0]).toContain("in use");
    expect(second.stderr).not.toContain(SYNC_KEY);
    // Its store was closed in order: nothing is left in the log that SQLite writes ahead.
    expect(existsSync(join(folder, "repsync.db-wal"))).toBeFalse();
    expect((await first.pull("notes")).status).toBe(200);
  });

  test("D-1.3.2 a file that is no database is refused, and stays as it is", async () => {
    const folder = makeTempFolder();
    const file = join(folder, "repsync.db");
    writeFileSync(file, "Dear diary, ".repeat(1000));
    const ended = await runProcess(START, { folder, env: serviceEnv(folder) });
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr).toMatch(/^repsync cannot start: The database [^\n]+\n[^\n]+\n$/);
    expect(await Bun.file(file).text()).toBe("Dear diary, ".repeat(1000));
  });

  test("D-1.3.1 an address that cannot be had is named", async () => {
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder), HOST: "not.a.host.invalid" };
    const ended = await runProcess(START, { folder, env });
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr).toStartWith(
      "repsync cannot start: Cannot listen on not.a.host.invalid:0: HOST is not an address of this machine",
    );
  });
});
