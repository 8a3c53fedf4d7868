// The command line as a user calls it.
import { describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { pollUntil } from "../support/time/poll-until.ts";
import { BUN, CLI, type Command, startProcess } from "./support/service-process.ts";

const DEMO: Command = [...BUN, CLI, "demo"];

/** A folder with a `.env` that would spoil a service, and one for temporary files. */
function makeFolders() {
  const folder = makeTempFolder();
  writeFileSync(join(folder, ".env"), "SYNC_MAX_BODY_BYTES=10\nSYNC_TYPO=1\nPORT=1\n");
  const temporary = makeTempFolder();
  return { folder, temporary, env: { TMPDIR: temporary, SYNC_MAX_BATCH_SIZE: "3" } };
}

describe("repsync demo", () => {
  test("D-1.2, D-1.2.1 demo moves 171,075 rows, compares them, makes a lookup, shows where to look and who may, and serves on until Ctrl-C", async () => {
    const { folder, temporary, env } = makeFolders();
    const demo = startProcess(DEMO, { folder, env });
    // Each has the time of a whole wait.
    for (const step of ["Cities of", "Pulled back", "Lookup without", "press Ctrl-C"]) {
      await demo.waitFor(step, ({ stdout }) => stdout().includes(step) || null);
    }
    for (const step of ["Loaded into local", "Pushed to production", "Pulled back"]) {
      const moved = `^${step}: 171,075 rows, [\\d,]+ rows/s, [\\d,]+ of [\\d,]+ bytes sent`;
      expect(demo.stdout()).toMatch(new RegExp(moved, "m"));
    }
    for (const line of [
      /^Compared row by row: all 171,075 rows are equal\.$/m,
      /^Lookup without consent: 403 consent_required$/m,
      /^Lookup with consent: score \d+ of 100, .* 3 verified platforms/m,
      /^Lookup after the consent was revoked: 403 consent_required$/m,
      /The audit log is whole: 3 records/,
    ]) {
      expect(demo.stdout()).toMatch(line);
    }
    for (const name of ["local", "production", "copy"]) {
      const address = new RegExp(`^  ${name} +(http://127\\.0\\.0\\.1:\\d+/console)$`, "m");
      const [, url = ""] = address.exec(demo.stdout()) ?? [];
      expect((await fetch(url)).status).toBe(200);
    }
    expect(demo.stdout()).toMatch(/^ {2}admin +password demo-admin-password /m);
    expect(demo.stdout()).toMatch(/^ {2}sari +password sari-demo-password /m);
    expect(demo.stdout()).toMatch(/^ {2}toko +password toko-demo-password /m);
    demo.kill("SIGINT");
    expect(await demo.ended).toEqual({ code: 0, signal: null });
    // Without a terminal no bar.
    expect(demo.stderr()).toBe("");
    expect(readdirSync(temporary)).toEqual([]);
  }, 120_000);

  test("D-1.2 demo ends its deployments and removes its files when it is interrupted", async () => {
    const { folder, temporary, env } = makeFolders();
    const demo = startProcess(DEMO, { folder, env });
    await demo.waitFor("first step", ({ stdout }) => stdout().includes("rows\n") || null);
    demo.kill("SIGINT");
    expect(await demo.ended).toEqual({ code: 130, signal: null });
    await pollUntil("the folder to be empty", async () => readdirSync(temporary).length === 0);
  });

  test("D-1.2 demo may be interrupted before its deployments listen", async () => {
    const { folder, temporary, env } = makeFolders();
    const demo = startProcess(DEMO, { folder, env });
    await pollUntil("its folder to be made", async () => readdirSync(temporary).length > 0);
    demo.kill("SIGTERM");
    expect(await demo.ended).toEqual({ code: 130, signal: null });
    expect(readdirSync(temporary)).toEqual([]);
  });
});
