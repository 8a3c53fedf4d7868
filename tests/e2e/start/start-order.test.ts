// A start changes nothing before it can serve. D-11.4.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { MongoClient } from "mongodb";
import { dropFacts, isPostgres, postgresLines } from "../../http/stores/support/raw-store.ts";
import { onEveryBackend } from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { freePort } from "../support/free-port.ts";
import {
  BUN,
  CLI,
  type Command,
  MAIN,
  runProcess,
  serviceEnv,
  startProcess,
  startService,
} from "../support/service-process.ts";

const START: Command = [...BUN, MAIN];
const EARLIER =
  'The store has format 0, which repsync 0.1.0 is the last to read, and this program knows 2 alone\nTake the tables out with "repsync export" of that version, and into a new store with "repsync import" of this one\n';
const LATER =
  "The store has format 3, and this program knows 2\nStart the version of repsync that wrote it, or a later one\n";

/** Everything that a store holds, byte by byte. */
async function contentsOf(url: string): Promise<object> {
  if (isPostgres(url)) return await postgresLines(url);
  if (!url.startsWith("sqlite:")) {
    const client = new MongoClient(url);
    try {
      const { collections } = await client.db().command({ dbHash: 1 });
      return collections;
    } finally {
      await client.close();
    }
  }
  const path = url.slice("sqlite:".length);
  const names = readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)));
  // The index of a log is not of the store: each reader writes there which part it reads.
  const kept = names.filter((name) => !name.endsWith("-shm")).sort();
  return Object.fromEntries(
    kept.map((name) => [name, readFileSync(join(dirname(path), name)).toString("base64")]),
  );
}

function startOn(url: string, others: Readonly<Record<string, string>> = {}) {
  const folder = makeTempFolder();
  const env = { ...serviceEnv(folder), STORAGE_URL: url, ...others };
  return { run: (command: Command) => runProcess(command, { folder, env }), folder, env };
}

/** A store as a program of format 0 has left it, with one row. */
async function makeFormerStore(url: string): Promise<void> {
  const service = await startService({ env: { STORAGE_URL: url } });
  await service.push("notes", { records: [{ name: "a" }] });
  expect((await service.stop()).code).toBe(0);
  await dropFacts(url);
}

onEveryBackend("a store of an earlier format", (backend) => {
  test("D-11.4.1 stays byte for byte as it was when the port is in use", async () => {
    const url = await backend.makeUrl();
    await makeFormerStore(url);
    const before = await contentsOf(url);
    const other = await startService({ env: { STORAGE_URL: "sqlite::memory:" } });
    const PORT = new URL(other.url).port;
    const ended = await startOn(url, { PORT }).run(START);
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr).toStartWith(
      `repsync cannot start: Cannot listen on 127.0.0.1:${PORT}: the port is in use`,
    );
    expect(await contentsOf(url)).toEqual(before);
  });

  test("D-11.4.1, D-10.7 is left alone by start and commands, which say so", async () => {
    const url = await backend.makeUrl();
    await makeFormerStore(url);
    const before = await contentsOf(url);
    const { run, folder } = startOn(url);
    const start = await run(START);
    expect([start.code, start.stderr]).toEqual([2, `repsync cannot start: ${EARLIER}`]);
    for (const args of [["status"], ["runs"], ["move", `sqlite:${join(folder, "new.db")}`]]) {
      const { code, stdout, stderr } = await run([...BUN, CLI, ...args]);
      expect([args, code, stdout, stderr]).toEqual([args, 1, "", EARLIER]);
    }
    // For it this is a check that fails.
    const doctor = await run([...BUN, CLI, "doctor"]);
    expect([doctor.code, doctor.stdout]).toEqual([
      1,
      expect.stringContaining(EARLIER.slice(0, EARLIER.indexOf("\n"))),
    ]);
    expect(await contentsOf(url)).toEqual(before);
  });
});

/** Has a file open, does nothing, and leaves in its log what it wrote. */
const OTHER_PROGRAM = `
  const { Database } = await import("bun:sqlite");
  const file = new Database(process.argv[1]);
  file.run("PRAGMA journal_mode = WAL");
  file.run("CREATE TABLE other (id)");
  console.log("open");
  setInterval(() => file, 1_000);
`;

test("D-11.4.1 a file of format 0 that an idle program has open stays as it was", async () => {
  const url = `sqlite:${join(makeTempFolder(), "repsync.db")}`;
  await makeFormerStore(url);
  // A process of its own: this one reads the file, which drops the locks that it may have on it.
  const program = startProcess([...BUN, "--eval", OTHER_PROGRAM, url.slice("sqlite:".length)]);
  await program.waitFor("its table", ({ stdout }) => stdout() || null);
  const before = await contentsOf(url);
  const ended = await startOn(url).run(START);
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining(EARLIER)]);
  expect(await contentsOf(url)).toEqual(before);
  program.kill("SIGKILL");
  await program.ended;
});

test("D-11.4.1 a later format, which a person has to mend, is exit code 2 and leaves the file as it was", async () => {
  const url = `sqlite:${join(makeTempFolder(), "repsync.db")}`;
  await makeFormerStore(url);
  const program = new Database(url.slice("sqlite:".length));
  program.run("CREATE TABLE repsync_store (name TEXT PRIMARY KEY, value TEXT NOT NULL)");
  program.run("INSERT INTO repsync_store VALUES ('format', '3')");
  program.run("PRAGMA journal_mode = DELETE");
  program.close();
  const before = await contentsOf(url);
  const start = await startOn(url).run(START);
  expect([start.code, start.stderr]).toEqual([2, `repsync cannot start: ${LATER}`]);
  const status = await startOn(url).run([...BUN, CLI, "status"]);
  expect([status.code, status.stderr]).toEqual([2, LATER]);
  expect(await contentsOf(url)).toEqual(before);
});

test("D-11.4.1 without a port no store is made; a file of 0 bytes counts as new, and the start says so", async () => {
  const path = join(makeTempFolder(), "data", "repsync.db");
  const other = await startService({ env: { STORAGE_URL: "sqlite::memory:" } });
  const PORT = new URL(other.url).port;
  expect((await startOn(`sqlite:${path}`, { PORT }).run(START)).code).toBe(1);
  expect(existsSync(dirname(path))).toBe(false);

  const empty = join(makeTempFolder(), "empty.db");
  writeFileSync(empty, "");
  for (const said of [`${empty}, new\n`, `${empty}\n`]) {
    const service = await startService({ env: { STORAGE_URL: `sqlite:${empty}` } });
    expect((await service.stop()).code).toBe(0);
    expect(service.stdout()).toContain(`  store     sqlite:${said}`);
  }
});

/** Root may write every file, unless it gives that right up. */
const WITHOUT_RIGHTS: readonly string[] =
  process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : [];

test("D-11.4.1 a file that may only be read is served by nobody, and the start says what to do", async () => {
  const folder = makeTempFolder();
  expect((await (await startService({ folder, tables: {} })).stop()).code).toBe(0);
  chmodSync(join(folder, "repsync.db"), 0o444);
  const command = [...WITHOUT_RIGHTS, ...START] as unknown as Command;
  const started = startProcess(command, { folder, env: serviceEnv(folder, {}) });
  expect(await started.ended).toEqual({ code: 1, signal: null });
  expect([started.stdout(), started.stderr()]).toEqual([
    "",
    "repsync cannot start: The database is unavailable: it is read-only\n" +
      "Check that the file of the store, with its -wal and -shm, can be read and written, and that its disk has room\n",
  ]);
});

test("D-11.4.1, D-10.5 while it starts, live is 200, ready says starting, and everything else is 503", async () => {
  const port = await freePort();
  const folder = makeTempFolder();
  // Nobody listens there, so the start goes on looking for the server.
  const STORAGE_URL = `mongodb://127.0.0.1:${await freePort()}/repsync`;
  const env = { ...serviceEnv(folder), STORAGE_URL, PORT: String(port) };
  const service = startProcess(START, { folder, env });
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  await pollUntil("the port", async () => (await ask("/").catch(() => null)) !== null);
  const live = await ask("/v1/health/live");
  expect([live.status, await live.json()]).toEqual([200, { status: "ok" }]);
  const ready = await ask("/v1/health/ready");
  expect([ready.status, await ready.json()]).toEqual([503, { status: "starting" }]);
  const health = await ask("/v1/health");
  expect(health.status).toBe(503);
  expect(await health.json()).toMatchObject({
    success: false,
    status: "degraded",
    db: "unavailable",
    php: `bun ${Bun.version}`,
    timestamp: expect.stringMatching(/^\d{4}-/),
  });
  const status = await ask("/api/v1/sync/status");
  expect([status.status, await status.json()]).toEqual([
    503,
    { error: "The service is starting; ask again in a moment" },
  ]);
  const me = await ask("/v1/me");
  expect([me.status, await me.json()]).toMatchObject([503, { code: "unavailable" }]);
  expect(me.headers.get("x-request-id")).toMatch(/^[\w-]{8,64}$/);
  service.kill("SIGTERM");
  expect(await service.ended).toEqual({ code: 0, signal: null });
});

test("D-10.6 a SIGHUP while the store lets a start wait does not end it", async () => {
  const folder = makeTempFolder();
  const port = String(await freePort());
  const first = await startService({ folder, tables: {} });
  expect((await first.stop()).code).toBe(0);
  const database = new Database(join(folder, "repsync.db"));
  database.run("BEGIN EXCLUSIVE");
  // Its tables are to be made.
  const env = { ...serviceEnv(folder), PORT: port };
  const service = startProcess(START, { folder, env });
  const ready = () => fetch(`http://127.0.0.1:${port}/v1/health/ready`).catch(() => null);
  await pollUntil("the port to be taken", async () => (await ready())?.status === 503);
  service.kill("SIGHUP");
  // It is delivered before a later request is answered.
  expect((await ready())?.status).toBe(503);
  database.close();
  await service.waitFor("address", ({ stdout }) => /listening on/.exec(stdout()));
  service.kill("SIGTERM");
  expect(await service.ended).toEqual({ code: 0, signal: null });
});
