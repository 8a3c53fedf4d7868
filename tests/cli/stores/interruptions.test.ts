// A backup or a restore that cannot come to its end: what was there is as before.
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { MongoClient } from "mongodb";
import {
  BUN,
  CLI,
  type Command,
  runProcess,
  type StartedProcess,
  serviceEnv,
  startProcess,
} from "../../e2e/support/service-process.ts";
import { type Backend, onEveryBackend, SQLITE_FILE } from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { startApp } from "../../http/support/sync-app.ts";
import { keepResource } from "../../support/resources.ts";
import { SEED } from "../../support/seed.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { startReplicaSet } from "../../support/stores/mongo-replica-set.ts";
import { mongoAvailable } from "../../support/stores/shared-mongo.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { startInTerminal } from "../support/cli-process.ts";

setDefaultTimeout(180_000);

/** Files of the process may hold about 1 MB; the signal that comes with the limit is ignored. */
const LIMITED: Command = [
  ...(["sh", "-c", 'trap "" XFSZ; ulimit -f 2000; exec "$@"', "sh"] as const),
  ...BUN,
  CLI,
];
const ROWS = 12_000;

/** A stopped deployment with rows that do not compress, in a folder. */
async function makeStore(backend: Backend, rows = ROWS) {
  const random = new SeededRandom(SEED);
  const folder = makeTempFolder();
  const env = { ...serviceEnv(folder), STORAGE_URL: await backend.makeUrl(), LOG_LEVEL: "" };
  const service = await startApp({ env: { ...env, LOG_LEVEL: "silent" } });
  const word = () => Math.floor(random.next() * 2 ** 50).toString(36);
  for (let n = 0; n < rows; n += 4_000) {
    const body = () => Array.from({ length: 16 }, word).join("");
    const records = Array.from({ length: 4_000 }, (_, i) => ({ name: `r${n + i}`, body: body() }));
    expect((await service.push("notes", { records })).status).toBe(200);
  }
  await service.stop();
  return { folder, env, file: join(folder, "store.backup") };
}

/** Files of the folder whose names tell that something was not completed. */
function remains(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => /\.(?:part|restore|fill)-|\.backup$/.test(name));
}

/** Resolves when a command has begun to write, or has ended. */
async function begun(command: StartedProcess, folder: string): Promise<void> {
  let hasEnded = false;
  void command.ended.then(() => {
    hasEnded = true;
  });
  const hasFile = () => existsSync(folder) && remains(folder).length > 0;
  const isBegun = async () => hasEnded || hasFile() || / \d+% /.test(command.stderr());
  await pollUntil("the command to begin", isBegun);
}

test.skipIf(process.platform === "win32")(
  "D-10.7 a move to a disk that is full does not send its user to the old store",
  async () => {
    const { folder, env } = await makeStore(SQLITE_FILE);
    const full = await runProcess([...LIMITED, "move", "sqlite:./new.db"], { folder, env });
    expect(full.code).toBe(1);
    expect(full.stderr).toMatch(
      /: the disk (?:failed|is full)\nCheck that the file of the store, /,
    );
    expect(existsSync(join(folder, "new.db"))).toBe(false);
  },
);

test.skipIf(process.platform === "win32")(
  "D-10.7 a restore that cannot change the copied file, as when it fills the disk, says why",
  async () => {
    const { folder, env, file } = await makeStore(SQLITE_FILE, 0);
    const cli = [...BUN, CLI] as const;
    expect((await runProcess([...cli, "backup", file], { folder, env })).code).toBe(0);
    // SQLite begins a change with a file of this name.
    const block = 'mkdir ".new.db.fill-$$-journal"; exec "$@"';
    const command = ["sh", "-c", block, "sh", ...cli, "restore", file] as const;
    const into = { ...env, STORAGE_URL: "sqlite:./new.db" };
    const { code, stderr } = await runProcess(command, { folder, env: into });
    const reason = "The database is unavailable: the disk failed\n";
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(existsSync(join(folder, "new.db"))).toBe(false);
  },
);

test("D-10.7 Ctrl-C ends a move from one file into another, which is not there then", async () => {
  const { folder, env } = await makeStore(SQLITE_FILE, 5 * ROWS);
  const moving = startProcess([...BUN, CLI, "move", "sqlite:./new.db"], { folder, env });
  const isCopied = (name: string) =>
    (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0) > 1_000_000;
  await pollUntil("rows to be copied", async () => remains(folder).some(isCopied));
  moving.kill("SIGINT");
  expect([(await moving.ended).code, moving.stderr()]).toEqual([1, "Stopped by SIGINT\n"]);
  expect([existsSync(join(folder, "new.db")), remains(folder)]).toEqual([false, []]);
});

test.skipIf(!mongoAvailable)(
  "D-10.7 a restore whose MongoDB is killed meanwhile says that it cannot be reached",
  async () => {
    const { folder, env, file } = await makeStore(SQLITE_FILE);
    expect((await runProcess([...BUN, CLI, "backup", file], { folder, env })).code).toBe(0);
    const set = await startReplicaSet({ members: 1 });
    const client = new MongoClient(set.uri("filled"));
    keepResource(async () => {
      await client.close();
      await set.stop();
    });
    const admin = client.db("admin");
    const data = {
      ...{ failCommands: ["insert"], namespace: "filled.notes" },
      ...{ blockConnection: true, blockTimeMS: 60_000 },
    };
    await admin.command({ configureFailPoint: "failCommand", mode: "alwaysOn", data });
    const STORAGE_URL = `${set.uri("filled")}&serverSelectionTimeoutMS=500`;
    const target = { ...env, STORAGE_URL };
    const restore = startProcess([...BUN, CLI, "restore", file], { folder, env: target });
    await admin.command({ waitForFailPoint: "failCommand", timesEntered: 1, maxTimeMS: 60_000 });
    await (await set.primary()).kill();
    expect((await restore.ended).code).toBe(1);
    expect(restore.stderr()).toEndWith(
      "MongoDB cannot be reached\nCheck that most servers of the store run, and that its user may read and write\n",
    );
  },
);

onEveryBackend("interrupted", (backend) => {
  test.skipIf(process.platform === "win32")(
    "D-10.7 a backup that the disk does not take leaves no file, and one line",
    async () => {
      const { folder, env, file } = await makeStore(backend);
      const full = await runProcess([...LIMITED, "backup", file], { folder, env });
      expect([full.code, full.stdout]).toEqual([1, ""]);
      expect(full.stderr).toMatch(
        /^The backup .*: the (?:disk failed|disk is full|file is larger than the system allows)\n$/,
      );
      expect(remains(folder)).toEqual([]);
    },
  );

  test.skipIf(process.platform === "win32")(
    "D-4.12.4, D-10.7 a backup leaves no half file when its terminal closes, and goes on with nohup",
    async () => {
      const { folder, env, file } = await makeStore(backend);
      const hasFile = async () => remains(folder).length > 0;
      const closed = startInTerminal(["backup", file], { folder, env });
      await pollUntil("the backup to begin", hasFile);
      closed.close();
      const code = await closed.exited;
      expect([code, existsSync(file), remains(folder)]).toEqual([1, false, []]);

      // Without `--no-orphans`: what starts it ends.
      const command = ["nohup", process.execPath, CLI, "backup", file].join(" ");
      const terminal = startProcess(["script", "-qc", `${command} >out 2>&1`, "/dev/null"], {
        folder,
        env,
      });
      await pollUntil("the backup to begin", hasFile);
      terminal.kill("SIGKILL");
      await pollUntil("the backup", async () => existsSync(file));
    },
  );

  test("D-10.7 a backup removes what a killed one of its name has left", async () => {
    const { folder, env, file } = await makeStore(backend);
    const killed = startProcess([...BUN, CLI, "backup", file], { folder, env });
    await begun(killed, folder);
    killed.kill("SIGKILL");
    await killed.ended;
    // Of a process that lives, of another name.
    const others = [`.store.backup.part-${process.pid}`, ".store.backup.2.part-1234567"];
    for (const name of [...others, ".store.backup.part-1234567", ".store.backup.part-1234567-wal"])
      writeFileSync(join(folder, name), "");
    expect((await runProcess([...BUN, CLI, "backup", file, "--force"], { folder, env })).code).toBe(
      0,
    );
    expect([...remains(folder)].sort()).toEqual([...others, "store.backup"].sort());
  });

  test("D-10.7 Ctrl-C and kill -9 leave no half file, and a store that is empty or refuses to be used", async () => {
    const { folder, env, file } = await makeStore(backend);
    const stopped = startProcess([...BUN, CLI, "backup", file], { folder, env });
    await begun(stopped, folder);
    stopped.kill("SIGINT");
    const { code } = await stopped.ended;
    if (code !== 0) expect([code, existsSync(file), remains(folder)]).toEqual([1, false, []]);
    expect((await runProcess([...BUN, CLI, "backup", file, "--force"], { folder, env })).code).toBe(
      0,
    );

    const target = { ...env, STORAGE_URL: await backend.makeUrl() };
    const killed = startProcess([...BUN, CLI, "restore", file], { folder, env: target });
    await begun(killed, dirname(target.STORAGE_URL.slice("sqlite:".length)));
    killed.kill("SIGKILL");
    await killed.ended;
    const status = await runProcess([...BUN, CLI, "status", "--json"], { folder, env: target });
    if (status.code === 0) {
      // It was not begun, or its last step was done.
      const { local } = JSON.parse(status.stdout) as { local: { table_counts: { notes: number } } };
      expect([0, ROWS]).toContain(local.table_counts.notes);
    } else {
      expect(status.code).toBe(2);
      expect(status.stderr).toContain("was not filled to its end by repsync restore");
    }
  });
});
