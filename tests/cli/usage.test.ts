// How the command line explains itself and ends.
import { describe, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { BUN, CLI } from "../e2e/support/service-process.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { makeProgram } from "./support/commands.ts";
import { runCli } from "./support/run-cli.ts";

describe("repsync", () => {
  test("D-4.12, D-10.1 the help names every command and the exit codes", async () => {
    const { code, stdout, stderr } = await runCli(["--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    const { commands } = await makeProgram();
    for (const command of commands) expect(stdout).toContain(`\n  ${command.name()} `);
    expect(stdout).toContain(
      "0 success, 1 failed, 2 wrong command line or configuration, 3 partial",
    );
    const one = await runCli(["keys", "create", "--help"]);
    expect(one).toMatchObject({ code: 0, stderr: "" });
    expect(one.stdout).toStartWith("Usage: repsync keys create [options] <username>\n");
  });

  test("D-4.12 help is --help, also of a command, whatever the settings are", async () => {
    const folder = makeTempFolder();
    await Bun.write(`${folder}/.env`, "this is no setting\n");
    const all = await runCli(["help"], { folder });
    expect(all).toMatchObject({ code: 0, stderr: "" });
    expect(all.stdout).toBe((await runCli(["--help"])).stdout);
    const one = await runCli(["help", "keys", "create"], { folder });
    expect(one).toMatchObject({ code: 0, stderr: "" });
    expect(one.stdout).toBe((await runCli(["keys", "create", "--help"])).stdout);
  });

  test("D-4.12, D-1.2 called with nothing it shows its help on stderr, exit code 2", async () => {
    const { code, stdout, stderr } = await runCli([]);
    expect([code, stdout, stderr]).toEqual([2, "", (await runCli(["--help"])).stdout]);
  });

  test.each([
    [["nothing"], "Unknown command 'nothing'\nSee repsync --help"],
    [["statsu"], "Unknown command 'statsu'; did you mean status?\nSee repsync --help"],
    [
      ["help", "keys", "crate"],
      "Unknown command 'crate'; did you mean create?\nSee repsync keys --help",
    ],
    [["keys", "crate"], "Unknown command 'crate'; did you mean create?\nSee repsync keys --help"],
    [
      ["sync", "pull", "--ful"],
      "Unknown option '--ful'; did you mean --full?\nSee repsync sync --help",
    ],
    [["status", "--loud"], "Unknown option '--loud'"],
    [["status", "now"], "Too many arguments for 'status'"],
    [["sync"], "Missing required argument 'direction'"],
    [
      ["sync", "down"],
      "Unknown direction 'down'; it can be push, pull or both\nSee repsync sync --help",
    ],
    [["sync", "pul"], "Unknown direction 'pul'; did you mean pull?\nSee repsync sync --help"],
    [["sync", "PUSH"], "Unknown direction 'PUSH'; did you mean push?"],
    [["sync", "push", "--full=3"], "'--full=3'"],
    [
      ["compare", "profiles", "--repair", "both"],
      "Unknown --repair value 'both'; it can be push, pull or newest",
    ],
    [
      ["compare", "profiles", "--repair", "newst"],
      "Unknown --repair value 'newst'; did you mean newest?",
    ],
    [["delete", "profiles"], "Missing required argument 'key'"],
    [["deletes", "drop"], "Missing required argument 'table'"],
    [["keys", "create", "ana"], "Required option '--name <name>' not specified"],
    [
      ["plan", "set", "ana", "gold"],
      "Unknown plan 'gold'; it can be free, developer, business or enterprise",
    ],
    [
      ["import", "profiles", "a.csv", "--decimal", "x"],
      "Unknown --decimal value 'x'; it can be , or .",
    ],
    [["plan", "set", "ana", "bussines"], "Unknown plan 'bussines'; did you mean business?"],
    [
      ["import", "profils", "-", "--format", "csv"],
      'Unknown table "profils"; did you mean profiles?',
    ],
    [
      ["import", "profiles", "a.csv", "--format", "cvs"],
      "Unknown --format value 'cvs'; did you mean csv?",
    ],
    [["import", "profiles", "a.xml"], "Give --format json, ndjson or csv"],
    [["export", "profiles", "-"], "Give --format json, ndjson or csv"],
  ])(
    "D-4.12, D-4.12.3, D-10.13.1, D-14.9.2 called with %p it says in two lines what is wrong, exit code 2",
    async (args, message) => {
      const { code, stdout, stderr } = await runCli(args);
      expect(code).toBe(2);
      expect(stdout).toBe("");
      expect(stderr).toContain(message);
      expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
    },
  );

  test.each([
    [["status", "--loud", "--json"], "Unknown option '--loud'"],
    [["sync", "--json"], "Missing required argument 'direction'"],
    [["--json"], "Unknown option '--json'"],
  ])(
    "D-4.12, D-4.12.1 called with %p it says what is wrong in JSON too, exit code 2",
    async (args, message) => {
      const { code, json } = await runCli(args);
      expect([code, json]).toEqual([2, { error: message }]);
    },
  );

  test("D-10.13.1 the help loads no command, and a command not the others", async () => {
    const loaded = async (args: readonly string[]) => {
      const folder = makeTempFolder();
      const program = JSON.stringify(
        fileURLToPath(new URL("../../src/cli/program.ts", import.meta.url)),
      );
      const script = `const { buildProgram } = await import(${program});
        await buildProgram(() => async () => {}, ${JSON.stringify(args)});
        console.log(Object.keys(require.cache).join("\\n"));`;
      await Bun.write(`${folder}/script.ts`, script);
      const child = Bun.spawn([...BUN, `${folder}/script.ts`], { stdout: "pipe" });
      const files = (await child.stdout.text()).split("\n");
      expect(files.some((file) => file.endsWith("/src/cli/command-list.ts"))).toBe(true);
      return files.flatMap(
        (file) => /\/src\/(?:cli\/commands|usecases|adapters)\/.*$/.exec(file) ?? [],
      );
    };
    expect(await loaded(["--help"])).toEqual([]);
    expect(await loaded(["statsu"])).toEqual([]);
    expect(await loaded(["help"])).toEqual([]);
    expect(await loaded(["--env-file", "sync", "demo"])).toEqual([
      "/src/cli/commands/operation/demo.ts",
    ]);
    const commands = (await loaded(["sync", "pull"])).filter((file) => file.includes("/commands/"));
    expect(commands).toEqual(["/src/cli/commands/sync/sync.ts"]);
  });

  test("D-4.12 all that was written arrives, however slowly it is read", async () => {
    const folder = makeTempFolder();
    const output = JSON.stringify(
      fileURLToPath(new URL("../../src/cli/output.ts", import.meta.url)),
    );
    const script = `import { flushOutput } from ${output};
      process.stdout.write("x".repeat(1_000_000));
      process.stderr.write("written");
      await flushOutput();
      process.exit(0);`;
    await Bun.write(`${folder}/script.ts`, script);
    const child = Bun.spawn([...BUN, `${folder}/script.ts`], { stdout: "pipe", stderr: "pipe" });
    // Nothing is read before it has written all that the pipe takes.
    await child.stderr.getReader().read();
    expect((await child.stdout.text()).length).toBe(1_000_000);
    expect(await child.exited).toBe(0);
  });

  test("D-4.12 a result that cannot be written is a failure", async () => {
    const env = { PATH: process.env["PATH"] ?? "", STORAGE_URL: "sqlite::memory:" };
    const child = Bun.spawn([...BUN, CLI, "status", "--json"], {
      ...{ cwd: makeTempFolder(), env, stderr: "pipe" },
      stdout: Bun.file("/dev/full"),
    });
    const said = await child.stderr.text();
    expect([await child.exited, said]).toEqual([
      1,
      "Standard output cannot be written: the disk is full\n",
    ]);
  });

  test("D-4.12 a wrong configuration ends every command with all problems and no secret, exit code 2", async () => {
    const env = { PORT: "x", SYNC_TYPO: "1", JWT_SECRET: "hush", STORAGE_URL: "sqlite::memory:" };
    const { code, stdout, stderr } = await runCli(["status"], { env });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain('- PORT must be a whole number from 0 to 65535: "x"');
    expect(stderr).toContain("- SYNC_TYPO is not a setting");
    expect(stderr).toContain("- JWT_SECRET must be at least 32 bytes long");
    expect(stderr).not.toContain("hush");

    const inJson = await runCli(["status", "--json"], { env });
    expect(inJson.code).toBe(2);
    expect(inJson.json.problems).toHaveLength(3);
  });

  test("D-4.12 a store that cannot be opened is told without a stack, exit code 1", async () => {
    const env = { STORAGE_URL: "sqlite:/proc" };
    const { code, stdout, stderr } = await runCli(["status"], { env });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "The database cannot be opened\n" +
        "Check that the file of the store, with its -wal and -shm, can be read and written, and that its disk has room\n",
    );
    expect(stderr).not.toMatch(/\.ts|Error:/);
  });

  test("D-1.3 settings come from .env in the working folder, too", async () => {
    const folder = makeTempFolder();
    await Bun.write(`${folder}/.env`, "SYNC_ENABLED=yes\nSTORAGE_URL=sqlite::memory:\n");
    const { code, json } = await runCli(["status", "--json"], { folder });
    expect(code).toBe(0);
    expect(json.local).toMatchObject({ sync_enabled: true, table_counts: { profiles: 0 } });
    expect(json.remote).toBeNull();
  });
});
