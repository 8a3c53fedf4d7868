// A new deployment: the files that init makes, and what starts with them.
import { describe, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readEnvFile } from "../../src/app/environment.ts";
import { createFile } from "../../src/app/write-file.ts";
import { BUN, CLI, startProcess } from "../e2e/support/service-process.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { runCliProcess } from "./support/cli-process.ts";
import { runCli } from "./support/run-cli.ts";

function settingsOf(folder: string): Readonly<Record<string, string>> {
  const { values, problems } = readEnvFile(readFileSync(join(folder, ".env"), "utf8"));
  expect(problems).toEqual([]);
  return values;
}

describe("repsync init", () => {
  test("D-10.2 writes settings with fresh secrets, for their owner alone, and a registry file with comments", async () => {
    const folder = makeTempFolder();
    const { code, stdout, stderr } = await runCli(["init"], { folder });
    expect([code, stderr]).toEqual([0, ""]);
    expect(readdirSync(folder).sort()).toEqual([".env", "tables.json"]);
    expect(lstatSync(join(folder, ".env")).mode & 0o777).toBe(0o600);
    const settings = settingsOf(folder);
    expect(Object.keys(settings)).toEqual([
      ...["STORAGE_URL", "SYNC_TABLES", "SYNC_ENABLED", "SYNC_API_KEY"],
      ...["ADMIN_USERNAME", "ADMIN_PASSWORD", "METRICS_TOKEN"],
    ]);
    expect(settings["ADMIN_USERNAME"]).toBe("admin");
    for (const secret of ["SYNC_API_KEY", "ADMIN_PASSWORD", "METRICS_TOKEN"]) {
      expect(settings[secret]).toMatch(/^[\w-]{24,43}$/);
      expect(stdout).not.toContain(String(settings[secret]));
    }
    expect(stdout).toContain(`the ADMIN_PASSWORD of ${join(folder, ".env")}`);
    expect(stdout).toStartWith(`Wrote ${join(folder, ".env")}\n`);
    expect(stdout).toContain("\nNext: repsync tables infer FILE --into tables.json,");
    expect(readFileSync(join(folder, "tables.json"), "utf8")).toContain("// ");

    const other = makeTempFolder();
    await runCli(["init"], { folder: other });
    for (const [name, value] of Object.entries(settingsOf(other))) {
      const isSecret = /KEY|PASSWORD|TOKEN/.test(name);
      expect([name, value === settings[name]]).toEqual([name, !isSecret]);
    }
  });

  test("D-10.2 what it writes starts: sync is on, and the administrator signs in", async () => {
    const folder = makeTempFolder();
    expect((await runCli(["init"], { folder })).code).toBe(0);
    expect((await runCli(["tables", "check"], { folder })).code).toBe(0);
    const service = startProcess([...BUN, CLI, "serve"], {
      folder,
      env: { PORT: "0", LOG_LEVEL: "warn" },
    });
    const url = await service.waitFor("the address", () => {
      return /listening on (http:\S+)\n/.exec(service.stdout())?.[1] ?? null;
    });
    const { ADMIN_USERNAME: username, ADMIN_PASSWORD: password, SYNC_API_KEY } = settingsOf(folder);
    const signIn = await fetch(`${url}/v1/sessions`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ username, password }),
    });
    expect(await signIn.json()).toMatchObject({ data: { role: "administrator" } });
    const pull = await fetch(`${url}/api/v1/sync/pull/profiles`, {
      headers: { "X-Sync-Key": String(SYNC_API_KEY) },
    });
    expect(await pull.json()).toMatchObject({ total: 0 });
    expect((await fetch(`${url}/console`)).status).toBe(200);
    expect(readdirSync(join(folder, "data"))).toContain("repsync.db");
    expect(service.stderr()).toBe("");
  });

  test("D-10.2 what is there stays as it is, whatever it is, and is named, exit code 0", async () => {
    const folder = makeTempFolder();
    writeFileSync(join(folder, ".env"), "this is no setting");
    const first = await runCli(["init", "--json"], { folder });
    expect([first.code, first.json]).toEqual([
      0,
      { folder, written: [join(folder, "tables.json")], left: [join(folder, ".env")] },
    ]);
    expect(readFileSync(join(folder, ".env"), "utf8")).toBe("this is no setting");

    const without = makeTempFolder();
    writeFileSync(join(without, ".env"), "PORT=0\n");
    for (let time = 0; time < 2; time++) {
      expect((await runCli(["init"], { folder: without })).stdout).toContain(
        ".env names no registry: set SYNC_TABLES=./tables.json to use tables.json\n",
      );
    }

    const other = makeTempFolder();
    symlinkSync("nowhere", join(other, ".env"));
    mkdirSync(join(other, "tables.json"));
    const second = await runCli(["init"], { folder: other });
    expect([second.code, second.stderr]).toEqual([0, ""]);
    expect(second.stdout).toContain(
      `Left as it is, because it was there: ${join(other, ".env")}\n`,
    );
    expect(second.stdout).not.toMatch(/Wrote|ADMIN_PASSWORD/);
    expect(readdirSync(other).sort()).toEqual([".env", "tables.json"]);
  });

  test("D-10.2 of several at once one writes each file, whole", async () => {
    const folder = join(makeTempFolder(), "deep", "er");
    const all = await Promise.all(
      Array.from({ length: 4 }, () => runCliProcess(["init", "--json", "--folder", folder])),
    );
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const written = all.flatMap(({ json }) => json.written as string[]);
    expect(written.sort()).toEqual([join(folder, ".env"), join(folder, "tables.json")]);
    expect(readdirSync(folder).sort()).toEqual([".env", "tables.json"]);
    expect(Object.keys(settingsOf(folder))).toHaveLength(7);
    const path = join(folder, "other");
    const made = await Promise.all([1, 2, 3].map(() => createFile(path, { text: "whole" })));
    expect(made.sort()).toEqual([false, false, true]);
  });

  test("D-10.2, D-4.12 a folder that cannot be made or written is one line", async () => {
    const file = join(makeTempFolder(), "file");
    writeFileSync(file, "");
    for (const [path, code] of [
      [file, 2],
      [join(file, "below"), 2],
      ["/proc/nowhere", 1],
      ["/proc", 1],
    ] as const) {
      const ended = await runCli(["init", "--folder", path]);
      expect([ended.code, ended.stdout]).toEqual([code, ""]);
      expect(ended.stderr).toMatch(/^"[^"]+" cannot be [^\n]+\n$/);
    }
  });
});

describe("repsync tables check", () => {
  const WRONG = `{
  // two mistakes
  "tables": {
    "a": { "upsert_key": ["x"], "columns": { "k": { "type": "text" } } },
    "b": { "upsert_key": ["k"], "columns": { "k": { "type": "txet" } } }
  }
}`;

  test("D-10.2, D-4.12 reports all problems with line and column, exit code 2", async () => {
    const folder = makeTempFolder();
    writeFileSync(join(folder, "wrong.json"), WRONG);
    // Other settings do not matter.
    writeFileSync(join(folder, ".env"), "SYNC_TABLES=wrong.json\nPORT=wrong\n");
    const told = await runCli(["tables", "check"], { folder });
    expect([told.code, told.stdout]).toEqual([2, ""]);
    expect(told.stderr.trimEnd().split("\n")).toEqual([
      '"wrong.json" has 2 problems:',
      '- line 4, column 27: Table "a": upsert_key names the unknown column "x"',
      expect.stringMatching(/^- line 5, column 61: \/tables\/b\/columns\/k\/type: must be one of /),
    ]);
    const { json } = await runCli(["tables", "check", "wrong.json", "--json"], { folder });
    expect(json.problems[0]).toEqual({
      ...{ line: 4, column: 27 },
      message: 'Table "a": upsert_key names the unknown column "x"',
    });
  });

  test("D-10.2, D-4.12.3 without a file that can be read it is exit code 2", async () => {
    for (const args of [[], ["nowhere.json"], ["."]]) {
      const ended = await runCli(["tables", "check", ...args]);
      expect([ended.code, ended.stdout]).toEqual([2, ""]);
      const lines = args.length === 0 ? 2 : 1;
      expect(ended.stderr.trimEnd().split("\n")).toHaveLength(lines);
    }
  });
});
