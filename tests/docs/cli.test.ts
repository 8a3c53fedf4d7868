// The commands of docs/cli.md are those of the program, as it explains them.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { COMMAND_DOCUMENTS, shapeOf } from "../cli/support/command-documents.ts";
import { commandsBelow, makeProgram, type NamedCommand } from "../cli/support/commands.ts";

const FILE = new URL("../../docs/cli.md", import.meta.url);
const BEGIN = "<!-- commands:begin -->\n";
const END = "<!-- commands:end -->";
/** What the document says once for all commands. */
const EVERYWHERE = ["--json", "--help", "--quiet"];

/** In a cell of a table. */
const cell = (text: string) => text.replaceAll("|", "\\|");

function rowOf({ path, command }: NamedCommand): string {
  const help = command.createHelp();
  const usage = help
    .commandUsage(command)
    .replace(/^repsync /, "")
    .replace(" [options]", "");
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => !EVERYWHERE.includes(long ?? ""))
    .map(({ flags, description }) => `<br>\`${flags}\` ${description}`);
  const [first = "", ...others] = (COMMAND_DOCUMENTS[path] ?? []).map(shapeOf);
  const shapes = [first, ...others.map((shape) => shape.replace(first, "{…}"))];
  const json =
    first === "" ? "" : `<br>JSON: ${shapes.map((shape) => `\`${shape}\``).join(" or ")}`;
  return `| \`${cell(usage)}\` | ${cell(command.description() + options.join("") + json)} |\n`;
}

test("D-10.13.1 docs/cli.md has every command with its options; UPDATE_DOCS=1 writes them anew", async () => {
  const commands = commandsBelow(await makeProgram())
    .filter(({ path, command }) => path !== "help" && command.commands.length === 0)
    .map(rowOf);
  const table = `| command | does |\n|---|---|\n${commands.join("")}`;
  const text = readFileSync(FILE, "utf8");
  const [before = "", rest = ""] = text.split(BEGIN);
  const [shown = "", after = ""] = rest.split(END);
  if (process.env.UPDATE_DOCS === "1") writeFileSync(FILE, before + BEGIN + table + END + after);
  else expect(shown).toBe(table);
});

test("D-10.13.1 each command but serve says what it writes with --json, by fields and schemas that there are", async () => {
  const commands = commandsBelow(await makeProgram())
    .filter(({ path, command }) => path !== "help" && command.commands.length === 0)
    .map(({ path }) => path);
  expect(["serve", ...Object.keys(COMMAND_DOCUMENTS)].sort()).toEqual(commands.sort());
  const shapes = Object.values(COMMAND_DOCUMENTS).flat().map(shapeOf).join();
  const { components } = JSON.parse(readFileSync(new URL("openapi.json", FILE), "utf8"));
  for (const [name] of shapes.matchAll(/\b[A-Z]\w+/g))
    expect(components.schemas).toHaveProperty(name);
});
