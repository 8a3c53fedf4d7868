// What can stand where on the command line, as one table that the scripts of all shells look things up in.
import type { Argument, Option } from "commander";
import { type CommandEntry, visibleOptions } from "../help/command-tree.ts";

/** One thing that can be typed. */
export interface Candidate {
  readonly word: string;
  /** In one line; empty where the word says it. */
  readonly description: string;
}

/** What a shell fills in itself. */
export type Filler = "files" | "folders" | "tables";

/** One place of the command line. */
export interface CompletionPlace {
  /**
   * Commands so far and what is to be completed: `repsync keys` for a command, `repsync keys create --` for an option,
   * `repsync sync 0` for its first argument, `repsync delete ...` for a repeated one, `repsync import --format` for the
   * value of an option.
   */
  readonly key: string;
  readonly candidates: readonly Candidate[];
  readonly filler: Filler | null;
}

/** The table of a whole program, in the order of the help. */
export function completionTable(root: CommandEntry): CompletionPlace[] {
  const places: CompletionPlace[] = [];
  addPlaces(root, places);
  return places;
}

/** The options that a value follows, as `repsync import --format`. */
export function valuedOptions(root: CommandEntry): string[] {
  const own = visibleOptions(root.command).filter((option) => option.required || option.optional);
  const keys = own.flatMap((option) => flagsOf(option).map((flag) => `${nameOf(root)} ${flag}`));
  return [...keys, ...root.children.flatMap(valuedOptions)];
}

/** The paths of all commands and groups, such as `repsync keys create`. */
export function groupPaths(root: CommandEntry): string[] {
  return root.children.flatMap((child) => [nameOf(child), ...groupPaths(child)]);
}

function addPlaces(entry: CommandEntry, places: CompletionPlace[]): void {
  const { command, children } = entry;
  const name = nameOf(entry);
  const options = visibleOptions(command);
  if (children.length > 0) {
    const candidates = children.map((child) => ({
      word: child.command.name(),
      description: firstSentence(child.command.summary() || child.command.description()),
    }));
    places.push({ key: name, candidates, filler: null });
  }
  places.push({
    key: `${name} --`,
    candidates: options.flatMap((option) => {
      const description = firstSentence(option.description);
      return option.long === undefined ? [] : [{ word: option.long, description }];
    }),
    filler: null,
  });
  for (const [i, argument] of command.registeredArguments.entries()) {
    addValues(places, `${name} ${argument.variadic ? "..." : i}`, argument);
  }
  for (const option of options.filter(({ required, optional }) => required || optional)) {
    for (const flag of flagsOf(option)) addValues(places, `${name} ${flag}`, option);
  }
  for (const child of children) addPlaces(child, places);
}

function addValues(places: CompletionPlace[], key: string, value: Argument | Option): void {
  const candidates = (value.argChoices ?? []).map((word) => ({ word, description: "" }));
  const filler = candidates.length > 0 ? null : fillerOf(valueName(value));
  if (candidates.length > 0 || filler !== null) places.push({ key, candidates, filler });
}

/** By the name under which the help shows the value: `--out <file>` takes a file. */
function fillerOf(name: string): Filler | null {
  if (/folder/i.test(name)) return "folders";
  if (/file|path/i.test(name)) return "files";
  return /^table$/i.test(name) ? "tables" : null;
}

function valueName(value: Argument | Option): string {
  if (!("flags" in value)) return value.name();
  const name = /[<[](.*)[>\]]/.exec(value.flags)?.[1] ?? "";
  return value.long === "--folder" ? "folder" : name;
}

function flagsOf({ long, short }: Option): string[] {
  return [long, short].filter((flag) => flag !== undefined);
}

function nameOf({ path }: CommandEntry): string {
  return path === "" ? "repsync" : `repsync ${path}`;
}

/** The beginning of a text up to its first period, without it. */
function firstSentence(text: string): string {
  return (/^[^.]*(?:\.\S[^.]*)*/.exec(text)?.[0] ?? text).replace(/\s+/g, " ").trim();
}
