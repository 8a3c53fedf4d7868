// What the help of each command says after its options.
import type { Command } from "commander";
import { inColour } from "../colours.ts";
import { COMMAND_NOTES, COMMON_EXITS, type CommandNotes } from "./command-notes.ts";
import { type CommandEntry, commandTree, leafCommands } from "./command-tree.ts";

/** Adds to each command its notes, and to each command and group the line that follows a wrong command line. */
export function addNotes(program: Command): void {
  const tree = commandTree(program);
  finishHelp(tree);
  for (const { path, command } of leafCommands(tree)) {
    const notes = COMMAND_NOTES[path];
    if (notes !== undefined) command.addHelpText("after", () => `\n${notesText(notes)}`);
  }
}

/** Examples and exit codes; commander takes the colours out again where they are not shown. */
function notesText(notes: CommandNotes): string {
  const lines = exampleLines(notes);
  const width = Math.max(...lines.map(([line]) => line.length));
  return [
    inColour("bold", "Examples:"),
    ...lines.map(([line, does]) =>
      width > MAX_LINE_CHARS
        ? `  ${inColour("cyan", line)}\n      ${does}`
        : `  ${inColour("cyan", line.padEnd(width))}  ${does}`,
    ),
    "",
    `${inColour("bold", "Exit codes:")} ${exitTexts(notes).join(", ")}`,
  ].join("\n");
}

/** A longer example has its explanation below. */
const MAX_LINE_CHARS = 50;

/** Whole command lines, and what each does. */
export function exampleLines({ examples }: CommandNotes): [line: string, does: string][] {
  return examples.map(([line, does]) => [
    line.startsWith("eval ") ? line : `repsync ${line}`,
    does,
  ]);
}

/** Such as `0 success`, in the order of the numbers. */
export function exitTexts({ exits = {} }: CommandNotes): string[] {
  return Object.entries({ ...COMMON_EXITS, ...exits }).map(([code, text]) => `${code} ${text}`);
}

/** `repsync help` is a command of its own, and stands for that of every group. */
function finishHelp({ path, command, children }: CommandEntry): void {
  command.helpCommand(false);
  command.showHelpAfterError(`See ${path === "" ? "repsync" : `repsync ${path}`} --help`);
  for (const child of children) finishHelp(child);
}
