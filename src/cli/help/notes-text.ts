// What the help of each command says after its options.
import type { Command } from "commander";
import { inColour } from "../colours.ts";
import { COMMAND_NOTES, COMMON_EXITS, type CommandNotes } from "./command-notes.ts";

/** A longer example has its explanation below. */
const MAX_LINE_CHARS = 50;

/** Adds to each command its notes, and to each command and group the line that follows a wrong command line. */
export function addNotes(command: Command, path = ""): void {
  // `repsync help` is a command of its own, and stands for that of every group.
  command.helpCommand(false);
  command.showHelpAfterError(`See ${`repsync ${path}`.trim()} --help`);
  const notes = COMMAND_NOTES[path];
  if (notes !== undefined) command.addHelpText("after", () => `\n${notesText(notes)}`);
  for (const child of command.commands) addNotes(child, `${path} ${child.name()}`.trim());
}

/** Examples and exit codes; commander takes the colours out again where they are not shown. */
function notesText(notes: CommandNotes): string {
  const lines = notes.examples.map(([line, does]) => [`repsync ${line}`, does] as const);
  const width = Math.max(...lines.map(([line]) => line.length));
  const exits = Object.entries({ ...COMMON_EXITS, ...notes.exits });
  return [
    inColour("bold", "Examples:"),
    ...lines.map(([line, does]) =>
      width > MAX_LINE_CHARS
        ? `  ${inColour("cyan", line)}\n      ${does}`
        : `  ${inColour("cyan", line.padEnd(width))}  ${does}`,
    ),
    "",
    `${inColour("bold", "Exit codes:")} ${exits.map(([code, text]) => `${code} ${text}`).join(", ")}`,
  ].join("\n");
}
