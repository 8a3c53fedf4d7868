// The manual: as text, and as a man page that the programs for such pages accept.
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { commandTree, leafCommands } from "../../src/cli/help/command-tree.ts";
import { buildProgram } from "../../src/cli/program.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { releaseResources } from "../http/support/resources.ts";
import { runCli } from "./support/run-cli.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

const PATHS = leafCommands(commandTree(await buildProgram(async () => {}))).map(({ path }) => path);
const isHere = (program: string) => Bun.which(program) !== null || process.env["CI"] === "true";

describe("repsync help", () => {
  test("D-10.13.3 it shows every command with its options, examples and exit codes, in lines that can be read", async () => {
    const folder = makeTempFolder();
    await Bun.write(join(folder, ".env"), "this is no setting\n");
    const { code, stdout, stderr } = await runCli(["help"], { folder });
    expect([code, stderr]).toEqual([0, ""]);
    for (const path of PATHS) expect(stdout).toContain(`\n    repsync ${path} [options]`);
    expect(stdout).toContain("\n        --max-deletes <n>\n            rows that may be deleted");
    expect(stdout).toContain("\n            repsync sync both\n                moves what changed");
    expect(stdout).toContain("\n        Exit codes: 0 success, 1 failed, 2 wrong");
    expect(stdout).not.toContain("\u001b");
    const long = stdout.split("\n").filter((line) => line.length > 80);
    expect(long.filter((line) => !/^ {12}repsync |^ {4}repsync /.test(line))).toEqual([]);
  });

  test("D-10.13.3 with names it is the help of that command, and an unknown one is exit code 2", async () => {
    const one = await runCli(["help", "keys", "create"]);
    expect(one).toMatchObject({ code: 0, stderr: "" });
    expect(one.stdout).toBe((await runCli(["keys", "create", "--help"])).stdout);
    const unknown = await runCli(["help", "keys", "crate"]);
    expect(unknown).toMatchObject({
      ...{ code: 2, stdout: "" },
      stderr: "Unknown command 'crate'\nSee repsync keys --help\n",
    });
  });

  test("D-10.13.3 as a man page it has the same commands, and each line is one that man understands", async () => {
    const { code, stdout } = await runCli(["help", "--man"]);
    expect(code).toBe(0);
    expect(stdout).toStartWith('.TH REPSYNC 1 "" "repsync ');
    for (const path of PATHS) {
      expect(stdout).toContain(`\n.SS "repsync ${path.replaceAll("-", "\\-")} [options]`);
    }
    expect(stdout).toMatch(/^[\n -~]+$/);
    const requests = new Set(stdout.match(/^[.'][^ \n]*/gm));
    expect([...requests].sort()).toEqual(
      [".TH", ".SH", ".SS", ".B", ".TP", ".PP", ".RS", ".RE", ".nf", ".fi"].sort(),
    );
  });

  test.skipIf(!isHere("mandoc"))(
    "D-10.13.3 mandoc finds nothing wrong with the man page",
    async () => {
      const { stdout } = await runCli(["help", "--man"]);
      const options = { stdin: new Blob([stdout]), stdout: "pipe", stderr: "pipe" } as const;
      const lint = Bun.spawn(["mandoc", "-T", "lint", "-W", "warning"], options);
      // The page has no date, so that the same program makes the same page.
      const problems = (await lint.stdout.text()).trim().split("\n");
      expect(problems.filter((line) => !line.includes("missing date"))).toEqual([]);
      const shown = Bun.spawn(["mandoc", "-T", "ascii"], options);
      const text = (await shown.stdout.text()).replace(/.[\b]/g, "");
      expect(text).toContain('repsync keys create acme --name "seller checks"');
      expect(text).toContain("repsync completion bash > ~/.local/share");
    },
  );
});
