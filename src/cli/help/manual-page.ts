// The manual as a man page, in the macros of man(7).
import type { Manual, ManualCommand, Term } from "./manual.ts";

/** The text of `repsync.1`. */
export function manualPage(manual: Manual): string {
  const section = (name: string, lines: readonly string[]) => [`.SH ${name}`, ...lines];
  return `${[
    `.TH REPSYNC 1 "" "repsync ${manual.version}" "User Commands"`,
    ...section("NAME", [`repsync \\- ${textLine(withoutPeriod(manual.description))}`]),
    ...section("SYNOPSIS", [".B repsync", textLine("[--env-file <path>] <command> [options]")]),
    ...section("OPTIONS", terms(manual.options)),
    ...section("COMMANDS", manual.commands.flatMap(commandLines)),
    ...section("EXIT STATUS", terms(manual.exits)),
    ...section("ENVIRONMENT", terms(manual.environment)),
    ...section("FILES", terms(manual.files)),
  ].join("\n")}\n`;
}

function commandLines(command: ManualCommand): string[] {
  return [
    `.SS ${quoted(command.usage)}`,
    textLine(command.description),
    ...terms(command.terms),
    ...command.examples.flatMap(({ term, text }) => [
      ".PP",
      `${capital(textLine(text))}:`,
      ".RS 4",
      ".nf",
      textLine(term),
      ".fi",
      ".RE",
    ]),
    ".PP",
    textLine(`Exit codes: ${command.exits}.`),
  ];
}

function terms(list: readonly Term[]): string[] {
  return list.flatMap(({ term, text }) => [".TP", `.B ${quoted(term)}`, textLine(text)]);
}

/** A line of text: nothing in it is read as a request or an escape. */
function textLine(text: string): string {
  const escaped = escapes(text.replace(/\s+/g, " ").trim());
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}

/** One argument of a macro. */
function quoted(text: string): string {
  return `"${escapes(text).replaceAll('"', "\\(dq")}"`;
}

/** ASCII only, as not every man knows what a page is written in; a hyphen of an option can be copied. */
function escapes(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("~", "\\(ti")
    .replaceAll("^", "\\(ha")
    .replaceAll("`", "\\(ga")
    .replaceAll("'", "\\(aq")
    .replace(
      /[^ -~]/gu,
      (char) => `\\[u${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function withoutPeriod(text: string): string {
  return text.replace(/\.$/, "");
}
