// The commands of the program as data, for everything that is made from them: notes, the manual, completion.
import type { Command, Option } from "commander";

/** A command, or a group of commands. */
export interface CommandEntry {
  /** Its names without `repsync`, such as `keys create`; empty for the program. */
  readonly path: string;
  readonly command: Command;
  /** Empty for a command that does something itself. */
  readonly children: readonly CommandEntry[];
}

/** The whole tree, without hidden commands. */
export function commandTree(command: Command, path = ""): CommandEntry {
  const children = visibleCommands(command).map((child) =>
    commandTree(child, path === "" ? child.name() : `${path} ${child.name()}`),
  );
  return { path, command, children };
}

/** Every command that does something, in the order of the help. */
export function leafCommands(entry: CommandEntry): CommandEntry[] {
  return entry.children.length === 0 ? [entry] : entry.children.flatMap(leafCommands);
}

/** Those that the help lists, without commander's own `help`. */
function visibleCommands(command: Command): readonly Command[] {
  const listed = new Set<unknown>(command.createHelp().visibleCommands(command));
  return command.commands.filter((child) => listed.has(child));
}

/** All options that the help shows, `--help` too. */
export function visibleOptions(command: Command): Option[] {
  return command.createHelp().visibleOptions(command);
}

/** The names and arguments of a command, such as `keys create [options] <username>`. */
export function usageOf({ path, command }: CommandEntry): string {
  return `repsync ${path === "" ? "" : `${path} `}${command.usage()}`;
}
