import type { Command } from "commander";
import { hasColours } from "../../colours.ts";
import type { AddCommand } from "../../command-runner.ts";
import { EXIT } from "../../failure.ts";

/** Width of the manual where no terminal tells one, and at most: longer lines are hard to read. */
const MANUAL_COLUMNS = 80;
const MAX_MANUAL_COLUMNS = 100;

interface HelpOptions {
  readonly man?: true;
}

export const addHelpCommand: AddCommand = (parent, run) => {
  parent
    .command("help")
    .description(
      "Shows the manual of all commands. With the name of a command it shows the help of that one.",
    )
    .argument("[command...]", "command to explain, such as keys create")
    .option("--man", "write the manual as a man page")
    .action(async (names: string[], options: HelpOptions) => {
      if (names.length > 0) return commandOf(parent, names).help();
      await run({}, async ({ output }) => {
        output.print((await manual(parent, options.man === true)).trimEnd());
        return EXIT.success;
      });
    });
};

async function manual(program: Command, isPage: boolean): Promise<string> {
  const { manualOf } = await import("../../help/manual.ts");
  if (isPage) {
    const { manualPage } = await import("../../help/manual-page.ts");
    return manualPage(manualOf(program));
  }
  const { manualText } = await import("../../help/manual-text.ts");
  const columns = Math.min(process.stdout.columns ?? MANUAL_COLUMNS, MAX_MANUAL_COLUMNS);
  return manualText(manualOf(program), columns, hasColours(process.stdout));
}

/** The command of these names; one that is unknown is a wrong command line. */
function commandOf(program: Command, names: readonly string[]): Command {
  let command = program;
  for (const name of names) {
    const next = command.commands.find((child) => child.name() === name);
    if (next === undefined) {
      return command.error(`error: unknown command '${name}'`, {
        code: "commander.unknownCommand",
      });
    }
    command = next;
  }
  return command;
}
