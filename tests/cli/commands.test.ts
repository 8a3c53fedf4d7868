// Every command of the program, whatever is added to it: how it explains itself.
import { describe, expect, test } from "bun:test";
import type { Command } from "commander";
import { EXAMPLES, examplesOf, OWN_EXITS } from "../../src/cli/command-list.ts";
import { commandsBelow, makeProgram } from "./support/commands.ts";

/** Those that give no result of their own that a program could want. */
const WITHOUT_JSON = ["serve"];

const ALL = commandsBelow(await makeProgram()).filter(({ path }) => path !== "help");
const COMMANDS = ALL.filter(({ command }) => command.commands.length === 0);
const GROUPS = ALL.filter(({ command }) => command.commands.length > 0);

/** With `--help`. */
const optionsOf = (command: Command) => command.createHelp().visibleOptions(command);

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
      for (const { description, flags } of optionsOf(command)) {
        expect([flags, description.length > 5]).toEqual([flags, true]);
      }
      for (const argument of command.registeredArguments) {
        expect([argument.name(), argument.description.length > 5]).toEqual([argument.name(), true]);
      }
    }
    for (const { command } of GROUPS) expect(command.description().length).toBeGreaterThan(10);
  });

  test("D-10.13.1 each example is a command line that its command takes", async () => {
    const paths = COMMANDS.map(({ path }) => path);
    expect(Object.keys(OWN_EXITS).filter((path) => !paths.includes(path))).toEqual([]);
    expect(paths.flatMap(examplesOf).toSorted()).toEqual(EXAMPLES.toSorted());
    for (const path of paths) {
      for (const [example] of examplesOf(path)) {
        const line = `repsync ${example}`;
        expect(line).toMatch(new RegExp(`^repsync (--env-file \\S+ )?${path}( |$)`));
        const words = line.replace(/ ([|<>]|&&) .*$/, "").match(/"[^"]*"|\S+/g) ?? [];
        const args = words.slice(1).map((word) => word.replaceAll('"', ""));
        const program = await makeProgram();
        for (const { command } of commandsBelow(program)) {
          if (command.commands.length === 0) command.action(() => {});
        }
        await program.parseAsync(args, { from: "user" });
      }
    }
  });
});
