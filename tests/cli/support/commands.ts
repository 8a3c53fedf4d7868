// The commands of the program, as commander has them.
import type { Command } from "commander";
import { buildProgram } from "../../../src/cli/program.ts";

export interface NamedCommand {
  /** Its names without `repsync`, such as `keys create`. */
  readonly path: string;
  readonly command: Command;
}

/** The program, with commands that do nothing. */
export const makeProgram = () => buildProgram(() => async () => {});

/** All commands and groups below this one, in the order of the help. */
export function commandsBelow(parent: Command, parentPath = ""): NamedCommand[] {
  return parent.commands.flatMap((command) => {
    const path = `${parentPath} ${command.name()}`.trim();
    return [{ path, command }, ...commandsBelow(command, path)];
  });
}
