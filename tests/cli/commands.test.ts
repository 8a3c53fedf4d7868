// Every command of the program, whatever is added to it: how it explains itself, and whether the documents know it.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { COMMAND_NOTES } from "../../src/cli/help/command-notes.ts";
import { commandTree, leafCommands, visibleOptions } from "../../src/cli/help/command-tree.ts";
import { exampleLines } from "../../src/cli/help/notes-text.ts";
import { buildProgram } from "../../src/cli/program.ts";

const DOCUMENT = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");
/** Those that give no result of their own that a program could want. */
const WITHOUT_JSON = ["serve", "completion", "help"];

const makeProgram = () => buildProgram(async () => {});
const COMMANDS = leafCommands(commandTree(await makeProgram()));
const GROUPS = commandTree(await makeProgram()).children.filter(
  ({ children }) => children.length > 0,
);

/** The help of a command as it is written to a pipe. */
async function helpOf(path: string): Promise<string> {
  let help = "";
  const program = await makeProgram();
  const command = path.split(" ").reduce((parent, name) => {
    const child = parent.commands.find((one) => one.name() === name);
    if (child === undefined) throw new Error(`There is no command ${path}`);
    return child;
  }, program);
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return help;
}

describe("every command", () => {
  test.each(COMMANDS.map(({ path }) => [path]))(
    "D-10.13.1 %s has a description, examples and exit codes in its help",
    async (path) => {
      const help = await helpOf(path);
      expect(help).toStartWith(`Usage: repsync ${path} [options]`);
      expect(help).toMatch(/\n\n[A-Z][^\n]{9,}/);
      expect(help).toMatch(/\nExamples:\n {2}\S/);
      expect(help).toMatch(/\nExit codes: 0 [a-z ]+, 1 /);
      if (!WITHOUT_JSON.includes(path)) expect(help).toContain("\n  --json ");
    },
  );

  test("D-10.13.1 the arguments and options of every command are explained, and so is every group", () => {
    for (const { command } of COMMANDS) {
      for (const { description, flags } of visibleOptions(command)) {
        expect([flags, description.length > 5]).toEqual([flags, true]);
      }
      for (const argument of command.registeredArguments) {
        expect([argument.name(), argument.description.length > 5]).toEqual([argument.name(), true]);
      }
    }
    for (const { command } of GROUPS) expect(command.description().length).toBeGreaterThan(10);
  });

  test("D-10.13.1 each example is a command line that its command takes", async () => {
    for (const [path, notes] of Object.entries(COMMAND_NOTES)) {
      if (!COMMANDS.some((command) => command.path === path)) continue;
      for (const [line] of exampleLines(notes)) {
        if (line.startsWith("eval ")) continue;
        expect(line).toMatch(new RegExp(`^repsync (--env-file \\S+ )?${path}( |$)`));
        const words = line.replace(/ ([|<>]|&&) .*$/, "").match(/"[^"]*"|\S+/g) ?? [];
        const args = words.slice(1).map((word) => word.replaceAll('"', ""));
        const program = await makeProgram();
        for (const { command } of leafCommands(commandTree(program))) command.action(() => {});
        await program.parseAsync(args, { from: "user" });
      }
    }
  });

  test("D-10.13.1 docs/cli.md names every command with its options", () => {
    const lines = DOCUMENT.split("\n").filter((line) => line.startsWith("| `"));
    for (const { path, command } of COMMANDS) {
      const [first = "", ...others] = path.split(" ");
      const line = lines.find(
        (one) => new RegExp(`\`${first}[ \`]`).test(one) && one.includes(others.at(-1) ?? first),
      );
      expect([path, line === undefined]).toEqual([path, false]);
      for (const { long } of visibleOptions(command)) {
        if (long === "--json" || long === "--help") continue;
        expect([path, long, line?.includes(`${long}`)]).toEqual([path, long, true]);
      }
    }
  });
});
