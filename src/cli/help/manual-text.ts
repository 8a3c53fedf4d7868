// The manual as text for a terminal or a pager.
import { inColour } from "../colours.ts";
import type { Manual, ManualCommand, Term } from "./manual.ts";

const INDENT = "    ";

/** The whole manual in lines of at most `columns` characters, where words allow it; `isColoured` marks what is typed. */
export function manualText(manual: Manual, columns: number, isColoured: boolean): string {
  const style: Style = {
    columns,
    title: (text) => (isColoured ? inColour("bold", text) : text),
    typed: (text) => (isColoured ? inColour("cyan", text) : text),
  };
  const section = (name: string, lines: readonly string[]) => [style.title(name), ...lines, ""];
  return [
    ...section("NAME", paragraph(style, `repsync ${manual.version} - ${manual.description}`, 1)),
    ...section("USAGE", [
      `${INDENT}${style.typed("repsync [--env-file <path>] <command> [options]")}`,
    ]),
    ...section("OPTIONS", terms(style, manual.options, 1)),
    style.title("COMMANDS"),
    ...manual.commands.flatMap((command) => commandLines(style, command)),
    ...section("EXIT CODES", terms(style, manual.exits, 1)),
    ...section("ENVIRONMENT", terms(style, manual.environment, 1)),
    ...section("FILES", terms(style, manual.files, 1)),
  ].join("\n");
}

interface Style {
  readonly columns: number;
  title(text: string): string;
  typed(text: string): string;
}

function commandLines(style: Style, command: ManualCommand): string[] {
  const examples = command.examples.length === 0 ? [] : [`${INDENT.repeat(2)}Examples:`];
  return [
    `${INDENT}${style.typed(command.usage)}`,
    ...paragraph(style, command.description, 2),
    ...terms(style, command.terms, 2),
    ...examples,
    ...terms(style, command.examples, 3),
    ...paragraph(style, `Exit codes: ${command.exits}`, 2),
    "",
  ];
}

/** Each term on a line of its own, and what is said of it below. */
function terms(style: Style, list: readonly Term[], depth: number): string[] {
  return list.flatMap(({ term, text }) => [
    `${INDENT.repeat(depth)}${style.typed(term)}`,
    ...paragraph(style, text, depth + 1),
  ]);
}

function paragraph({ columns }: Style, text: string, depth: number): string[] {
  const indent = INDENT.repeat(depth);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && indent.length + line.length + 1 + word.length > columns) {
      lines.push(indent + line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return [...lines, indent + line];
}
