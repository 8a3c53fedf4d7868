// A machine that gives no more: the system's own limit on the size of a file, which SQLite meets as it meets a full disk, and threads.
import { expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { BUN, CLI, MAIN, runProcess, serviceEnv, startService } from "./support/service-process.ts";

/** Files of the process may hold about 2 MB; the signal that comes with the limit is ignored. */
const LIMITED = ["sh", "-c", 'trap "" XFSZ; ulimit -f 4000; exec "$@"', "sh", ...BUN] as const;

test.skipIf(process.platform === "win32")(
  "S-4.2.11, S-7, S-8.6 a push that the disk does not take is 500, and nothing of it is there",
  async () => {
    const folder = makeTempFolder();
    const service = await startService({ folder, command: [...LIMITED, MAIN] });
    const push = (batch: number) => {
      const body = "x".repeat(1000);
      const records = Array.from({ length: 100 }, (_, i) => ({ name: `b${batch} r${i}`, body }));
      return service.push("notes", { records });
    };
    let batches = 0;
    let reply = await push(batches);
    while (reply.status === 200 && batches < 100) reply = await push(++batches);
    expect(reply.status).toBe(500);
    expect(Object.keys(reply.json)).toEqual(["table", "upserted", "error"]);
    expect([reply.json["table"], reply.json["upserted"]]).toEqual(["notes", 0]);
    const error = String(reply.json["error"]);
    expect(error).toMatch(/^The database wrote nothing: the disk (failed|is full)$/);
    expect(error.length).toBeLessThanOrEqual(200);
    // Rows are served on, and a small disk is no reason to end.
    expect(batches).toBeGreaterThan(1);
    expect((await service.pull("notes", "?limit=1")).json["total"]).toBe(100 * batches);
    expect((await service.send("/v1/health")).status).toBe(200);
    await service.stop();
    expect(service.stderr()).toContain('"msg":"Push failed"');
    const free = await startService({ folder });
    expect((await free.pull("notes", "?limit=1")).json["total"]).toBe(100 * batches);
    expect((await free.push("notes", { records: [{ name: "last" }] })).status).toBe(200);
  },
);

test.skipIf(process.platform === "win32")(
  "D-10.7 a move off a full disk, which cannot take up what a killed service left, says why",
  async () => {
    const folder = makeTempFolder();
    const service = await startService({ folder });
    const body = "x".repeat(1000);
    const records = Array.from({ length: 3000 }, (_, i) => ({ name: `r${i}`, body }));
    expect((await service.push("notes", { records })).status).toBe(200);
    service.kill("SIGKILL");
    await service.ended;
    writeFileSync(join(folder, "to"), `sqlite:${join(folder, "new.db")}`);
    const command = ["sh", "-c", 'exec "$@" < to', "sh", ...LIMITED, CLI, "move"] as const;
    const { code, stderr } = await runProcess(command, { folder, env: serviceEnv(folder) });
    const reason = "The database is unavailable: the disk (failed|is full)";
    expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^${reason}\n`))]);
    const free = await startService({ folder });
    expect((await free.pull("notes", "?limit=1")).json["total"]).toBe(3000);
  },
);

test("S-4.2.12, D-7.9.2 a long push is answered as it was committed where the system gives no thread", async () => {
  const folder = makeTempFolder();
  const preload = join(folder, "no-threads.ts");
  writeFileSync(preload, "globalThis.Worker = class { constructor() { throw new TypeError() } };");
  const service = await startService({ folder, command: [...BUN, "--preload", preload, MAIN] });
  const records = Array.from({ length: 21_000 }, (_, i) => ({
    name: `r${i}`,
    body: "x".repeat(900),
  }));
  const { status, json } = await service.push("notes", { records });
  expect([status, json["upserted"]]).toEqual([200, 21_000]);
  // The next commit copies the log into the file.
  expect(statSync(join(folder, "repsync.db")).size).toBeLessThan(16_000_000);
  expect((await service.push("notes", { records: [{ name: "last" }] })).status).toBe(200);
  expect(statSync(join(folder, "repsync.db")).size).toBeGreaterThan(16_000_000);
});
