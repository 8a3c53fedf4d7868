// Reads and extends the text of a registry file: JSON with comments, whose problems have places. D-10.2. `jsonc-parser` gives
// every problem its line and column, and an edit at an offset keeps everything else. Trailing commas are refused: without its
// comments the file is JSON. A repeated name is a problem, as one of the two would silently not count.
import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
  stripComments,
} from "jsonc-parser";
import { AppError, isAppError } from "../domain/shared/errors.ts";
import { readRegistry } from "../domain/sync/table/registry.ts";
import type { TableEntry } from "../domain/sync/table/registry-schema.ts";
import type { Registry } from "../domain/sync/table/table.ts";

interface FileProblem {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** Without the place. */
  readonly message: string;
  /** True where the text is not JSON. */
  readonly isSyntax: boolean;
}

/** A registry, or else at least one problem. */
interface ReadRegistryFile {
  readonly registry: Registry | null;
  /** Problems in the order of the file. */
  readonly problems: readonly FileProblem[];
}

type Place = Pick<FileProblem, "line" | "column">;

const BYTE_ORDER_MARK = "\uFEFF";

const SYNTAX: Readonly<Record<string, string>> = {
  PropertyNameExpected: "a name in double quotes is expected",
  ValueExpected: "a value is expected",
  ColonExpected: "a colon is expected",
  CommaExpected: "a comma is expected",
  CloseBraceExpected: "a closing } is expected",
  CloseBracketExpected: "a closing ] is expected",
  EndOfFileExpected: "there is more after the end",
  UnexpectedEndOfComment: "the comment does not end",
  UnexpectedEndOfString: "the text in quotes does not end on its line",
  InvalidUnicode: "\\u must have four hexadecimal digits behind it",
  InvalidEscapeCharacter: '\\ must be followed by one of " \\ / b f n r t u',
  InvalidCharacter: "control characters must be written as \\u and their number",
};

/** Reads a registry file as `readRegistry`, and finds all of its problems. */
export function readRegistryFile(source: string, lagSeconds?: number): ReadRegistryFile {
  try {
    return examine(source.startsWith(BYTE_ORDER_MARK) ? source.slice(1) : source, lagSeconds);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = "it is nested too deeply";
    return failed([{ line: 1, column: 1, message, isSyntax: true }]);
  }
}

function examine(text: string, lagSeconds?: number): ReadRegistryFile {
  const placeOf = placesOf(text);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors);
  const problems = syntaxProblems(errors, placeOf);
  const hasTables = root !== undefined && findNodeAtLocation(root, ["tables"]) !== undefined;
  // A damaged file is examined further only where its tables can be read.
  if (root === undefined || (errors.length > 0 && !hasTables)) return failed(problems);
  problems.push(...repeatedNames(root, placeOf));
  try {
    const registry = readRegistry(
      errors.length > 0 ? getNodeValue(root) : plainValue(text),
      lagSeconds,
    );
    if (problems.length > 0) return failed(problems);
    return { registry, problems };
  } catch (error) {
    if (!isAppError(error, "invalid_request")) throw error;
    for (const { pointer, detail } of error.problems) {
      problems.push({ ...placeOf(offsetOf(root, pointer)), message: detail, isSyntax: false });
    }
    return failed(problems);
  }
}

/** The problem with its place. */
export function problemText({ line, column, message }: FileProblem): string {
  return `line ${line}, column ${column}: ${message}`;
}

/** Reads the file of SYNC_TABLES. Each problem names the setting, and an error of syntax names the file, too. */
export function readOwnRegistry(
  path: string,
  text: string,
  lagSeconds: number,
): { readonly registry: Registry | null; readonly problems: readonly string[] } {
  const { registry, problems } = readRegistryFile(text, lagSeconds);
  const told = problems.map((problem) => {
    const subject = problem.isSyntax ? `the file "${path}" is not JSON: ` : "";
    return `SYNC_TABLES: ${subject}${problemText(problem)}`;
  });
  return { registry, problems: told };
}

/** Throws `invalid_request` with every problem that the file has, or would have. */
export function requireRegistry(
  path: string,
  source: string,
  verb: "has" | "would have" = "has",
): Registry {
  const { registry, problems } = readRegistryFile(source);
  if (registry !== null) return registry;
  const details = problems.map((problem) => ({ pointer: "", detail: problemText(problem) }));
  throw new AppError("invalid_request", `"${path}" ${verb} problems`, { problems: details });
}

export function registryText(tables: Readonly<Record<string, TableEntry>>): string {
  const entries = tablesText(tables);
  return `{\n  "tables": {${entries === "" ? "" : `\n${entries}\n  `}}\n}\n`;
}

/** Adds tables to a valid registry file that lacks them; all else stays as it is, comments too. */
export function withTables(source: string, tables: Readonly<Record<string, TableEntry>>): string {
  const parsed = parseTree(source.replace(BYTE_ORDER_MARK, " "));
  const found = parsed === undefined ? undefined : findNodeAtLocation(parsed, ["tables"]);
  if (found === undefined) throw new Error("A valid registry file has tables");
  const lineEnd = source.includes("\r\n") ? "\r\n" : "\n";
  const brace = found.offset + found.length - 1;
  const last = found.children?.at(-1);
  const lastEnd = last === undefined ? found.offset + 1 : last.offset + last.length;
  // Comments before a closing brace on its own line stay before the new tables.
  const lineStart = source.lastIndexOf("\n", brace) + 1;
  const isAlone = lineStart >= lastEnd && source.slice(lineStart, brace).trim() === "";
  const place = isAlone ? lineStart : brace;
  const added = tablesText(tables).replaceAll("\n", lineEnd);
  return [
    source.slice(0, lastEnd),
    last === undefined ? "" : ",",
    source.slice(lastEnd, place),
    isAlone ? added + lineEnd : `${lineEnd}${added}${lineEnd}  `,
    source.slice(place),
  ].join("");
}

export function tablesOf(source: string): Readonly<Record<string, TableEntry>> {
  const file = plainValue(source.replace(BYTE_ORDER_MARK, ""));
  return (file as { readonly tables: Readonly<Record<string, TableEntry>> }).tables;
}

/** Replaces the entry of a table in a valid registry file; all else stays as it is, comments too. */
export function withEntry(source: string, name: string, entry: TableEntry): string {
  const { columns, ...options } = entry;
  const places = [
    ...Object.entries(options).map(([key, value]) => [[key], value] as const),
    ...Object.entries(columns).map(([key, value]) => [["columns", key], value] as const),
  ];
  const eol = source.includes("\r\n") ? "\r\n" : "\n";
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol };
  const mark = source.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  let text = source.slice(mark.length);
  for (const [place, value] of places) {
    const node = findNodeAtLocation(parseTree(text) as Node, ["tables", name, ...place]);
    if (node !== undefined && JSON.stringify(getNodeValue(node)) === JSON.stringify(value))
      continue;
    text = applyEdits(text, modify(text, ["tables", name, ...place], value, { formattingOptions }));
  }
  return mark + text;
}

function failed(problems: readonly FileProblem[]): ReadRegistryFile {
  const inOrder = problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { registry: null, problems: inOrder };
}

function plainValue(text: string): unknown {
  return JSON.parse(stripComments(text, " "));
}

/** Problems of the syntax, one for each line, as later ones on a line mostly follow from the first. */
function syntaxProblems(
  errors: readonly ParseError[],
  placeOf: (offset: number) => Place,
): FileProblem[] {
  const problems = new Map<number, FileProblem>();
  for (const { error, offset } of errors) {
    const place = placeOf(offset);
    const message = SYNTAX[printParseErrorCode(error)] ?? "this is no JSON";
    if (!problems.has(place.line)) problems.set(place.line, { ...place, message, isSyntax: true });
  }
  return [...problems.values()];
}

/** Names that stand twice in an object. */
function repeatedNames(node: Node, placeOf: (offset: number) => Place): FileProblem[] {
  const problems: FileProblem[] = [];
  const seen = new Set<unknown>();
  for (const child of node.children ?? []) {
    const [name] = child.children ?? [];
    if (child.type === "property" && name !== undefined) {
      if (seen.has(name.value)) {
        const message = `The name ${JSON.stringify(name.value)} stands here a second time`;
        problems.push({ ...placeOf(name.offset), message, isSyntax: false });
      }
      seen.add(name.value);
    }
    problems.push(...repeatedNames(child, placeOf));
  }
  return problems;
}

/** The offset of the value of a JSON pointer, or of the nearest one above; of an object or list that of its name. */
function offsetOf(root: Node, pointer: string): number {
  let node = root;
  for (const part of pointer.split("/").slice(1)) {
    const segment = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const next = findNodeAtLocation(node, [node.type === "array" ? Number(segment) : segment]);
    if (next === undefined) break;
    node = next;
  }
  const isScalar = node.children === undefined;
  return isScalar || node.parent?.type !== "property" ? node.offset : node.parent.offset;
}

/** Makes a function that finds the line and column of an offset. */
function placesOf(text: string): (offset: number) => Place {
  const starts = [
    0,
    ...Array.from(text.matchAll(/\r\n|\n|\r/g), ({ 0: end, index }) => index + end.length),
  ];
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

/** Tables as text of a registry file, a line for each column. */
export function tablesText(tables: Readonly<Record<string, TableEntry>>): string {
  const lines = Object.entries(tables).map(([name, { columns, ...rest }]) => {
    const entries = Object.entries(rest).map(([key, value]) => `      "${key}": ${inline(value)}`);
    const listed = Object.entries(columns).map(
      ([key, value]) => `        "${key}": ${inline(value)}`,
    );
    const all = [...entries, `      "columns": {\n${listed.join(",\n")}\n      }`];
    return `    "${name}": {\n${all.join(",\n")}\n    }`;
  });
  return lines.join(",\n");
}

/** JSON on one line, with blanks. */
function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).map(
    ([key, part]) => `${JSON.stringify(key)}: ${inline(part)}`,
  );
  return `{ ${parts.join(", ")} }`;
}
