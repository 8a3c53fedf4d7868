// Where texts are coloured.
import { describe, expect, test } from "bun:test";
import { startInTerminal } from "./support/cli-process.ts";
import { runCli } from "./support/run-cli.ts";

const ESCAPE = "\u001b[";
const RED_PROBLEM = "\u001b[31mUnknown command 'sunc'; did you mean sync?\u001b[39m";

async function shownOnTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const started = startInTerminal(args, { env });
  await started.exited;
  await started.waitFor("\n");
  return started.shown();
}

describe("colours", () => {
  test("D-10.13.1 a terminal shows them", async () => {
    expect(await shownOnTerminal(["sunc"])).toContain(RED_PROBLEM);
    const help = startInTerminal(["sync", "--help"]);
    await help.waitFor("Exit codes:");
    expect(help.shown()).toContain("\u001b[1mUsage:\u001b[22m");
    expect(help.shown()).toContain("\u001b[1mExamples:\u001b[22m");
  });

  test.each([
    ["NO_COLOR", { NO_COLOR: "1" }],
    ["TERM=dumb", { TERM: "dumb" }],
    ["FORCE_COLOR=0", { FORCE_COLOR: "0" }],
    ["NO_COLOR and FORCE_COLOR", { NO_COLOR: "1", FORCE_COLOR: "1" }],
  ])("D-10.13.1 with %s a terminal shows none", async (_, env) => {
    const shown = await shownOnTerminal(["sunc"], env as Record<string, string>);
    expect(shown).toContain("Unknown command 'sunc'");
    expect(shown).not.toContain(ESCAPE);
  });

  test("D-10.13.1 a pipe gets them only with FORCE_COLOR, and JSON never", async () => {
    for (const args of [["sunc"], ["--help"], ["sync", "--help"], ["help"], ["doctor"]]) {
      const { stdout, stderr } = await runCli(args, { env: { STORAGE_URL: "sqlite::memory:" } });
      expect(stdout + stderr).not.toContain(ESCAPE);
    }
    const env = { FORCE_COLOR: "1", STORAGE_URL: "sqlite::memory:" };
    expect((await runCli(["sunc"], { env })).stderr).toContain(RED_PROBLEM);
    expect((await runCli(["sync", "--help"], { env })).stdout).toContain("\u001b[1mExamples:");
    expect((await runCli(["doctor"], { env })).stdout).toContain("\u001b[32mok  \u001b[39m");
    for (const args of [
      ["doctor", "--json"],
      ["status", "--json"],
      ["runs", "--json"],
      ["runs", "none", "--json"],
    ]) {
      expect((await runCli(args, { env })).stdout).not.toContain(ESCAPE);
    }
  });
});
