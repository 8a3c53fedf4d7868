// The manual of all commands, as data. The readable text and the man page are made from it.
import type { Argument, Command, Option } from "commander";
import manifest from "../../../package.json" with { type: "json" };
import { COMMAND_NOTES, COMMON_EXITS } from "./command-notes.ts";
import {
  type CommandEntry,
  commandTree,
  leafCommands,
  usageOf,
  visibleOptions,
} from "./command-tree.ts";
import { exampleLines, exitTexts } from "./notes-text.ts";

/** A thing and what is said of it. */
export interface Term {
  readonly term: string;
  readonly text: string;
}

export interface ManualCommand {
  readonly usage: string;
  readonly description: string;
  /** Arguments, then options, without those that every command has. */
  readonly terms: readonly Term[];
  readonly examples: readonly Term[];
  readonly exits: string;
}

export interface Manual {
  readonly version: string;
  readonly description: string;
  /** Options of the program, and those that every command has. */
  readonly options: readonly Term[];
  readonly commands: readonly ManualCommand[];
  readonly exits: readonly Term[];
  readonly environment: readonly Term[];
  readonly files: readonly Term[];
}

const EVERY_COMMAND = ["--json", "--help"];

const ENVIRONMENT: readonly Term[] = [
  {
    term: "STORAGE_URL, SYNC_TABLES, SYNC_REMOTE_URL, …",
    text: "The settings of the deployment, the same as of the service; .env.example describes each.",
  },
  { term: "LOG_LEVEL", text: "Commands log only at a level other than info." },
  { term: "NO_COLOR", text: "When it is not empty, nothing is coloured." },
  { term: "FORCE_COLOR", text: "Colours also what is not a terminal; 0 takes colours away." },
];

const FILES: readonly Term[] = [
  {
    term: ".env",
    text: "Settings that are not in the environment, in the working folder; --env-file names another file.",
  },
  { term: "tables.json", text: "The registry of tables, where SYNC_TABLES names it." },
];

/** The manual of the program with all of its commands. */
export function manualOf(program: Command): Manual {
  const exits = {
    ...COMMON_EXITS,
    3: "partial: records were rejected or not imported, rows differ",
  };
  return {
    version: manifest.version,
    description: program.description(),
    options: [
      ...visibleOptions(program).map(optionTerm),
      {
        term: "--json",
        text: "with nearly every command: write one JSON document to standard output",
      },
    ],
    commands: leafCommands(commandTree(program)).map(manualCommand),
    exits: Object.entries(exits).map(([term, text]) => ({ term, text })),
    environment: ENVIRONMENT,
    files: FILES,
  };
}

function manualCommand(entry: CommandEntry): ManualCommand {
  const { command, path } = entry;
  const notes = COMMAND_NOTES[path] ?? { examples: [] };
  const options = visibleOptions(command).filter(({ long }) => !EVERY_COMMAND.includes(long ?? ""));
  return {
    usage: usageOf(entry),
    description: command.description(),
    terms: [...command.registeredArguments.map(argumentTerm), ...options.map(optionTerm)],
    examples: exampleLines(notes).map(([term, text]) => ({ term, text })),
    exits: exitTexts(notes).join(", "),
  };
}

function argumentTerm(argument: Argument): Term {
  return {
    term: `<${argument.name()}>`,
    text: argument.description + choicesText(argument.argChoices),
  };
}

function optionTerm(option: Option): Term {
  return { term: option.flags, text: option.description + choicesText(option.argChoices) };
}

function choicesText(choices: readonly string[] | undefined): string {
  return choices === undefined ? "" : `: ${choices.join(", ")}`;
}
