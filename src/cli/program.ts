import { Command, CommanderError } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { nearestWord } from "../domain/shared/text.ts";
import { COMMAND_LIST, examplesOf, exitsOf } from "./command-list.ts";
import { EXIT, type RunCommand } from "./command-runner.ts";
import { flushOutput, hasColours, inColour, Output } from "./output.ts";

const HELP = "help";
const EXIT_CODES = `
Exit codes: 0 success, 1 failed, 2 wrong command line or configuration, 3 partial.
Settings come from the environment and from .env or the file of --env-file, as for the service.`;

/**
 * The command line. Help and wrong usage end as `CommanderError`. With `args` the commands that they do not name have their name
 * and summary only. D-4.12.
 */
export async function buildProgram(run: RunCommand, args?: readonly string[]): Promise<Command> {
  const named = args?.find(
    (arg, i) => !arg.startsWith("-") && arg !== HELP && args[i - 1] !== "--env-file",
  );
  const file = COMMAND_LIST.find(({ name }) => name === named)?.load;
  const program = new Command("repsync")
    .usage("<command> [options]")
    .description("Table synchronization and reputation lookup: runs, files, accounts and checks.")
    .version(manifest.version)
    .option("--env-file <path>", "file of settings to read in place of .env")
    .exitOverride()
    .addHelpText("after", EXIT_CODES)
    .configureOutput({
      getOutHasColors: () => hasColours(process.stdout),
      getErrHasColors: () => hasColours(process.stderr),
      outputError: (text) => {
        new Output({}).tellError([{ colour: "red", text: asSentence(text.trim()) }]);
      },
    })
    .configureHelp({
      styleTitle: (text) => inColour("bold", text),
      styleCommandText: (text) => inColour("cyan", text),
      styleSubcommandText: (text) => inColour("cyan", text),
      styleOptionText: (text) => inColour("cyan", text),
    });
  for (const listed of COMMAND_LIST) {
    const find = () => program.commands.find((each) => each.name() === listed.name);
    // The first command of a file adds its others.
    const isLoaded = args === undefined || listed.load === file;
    if (find() === undefined && isLoaded) (await listed.load()).addCommands(program, run);
    const command = find() ?? program.command(listed.name);
    command.summary(listed.summary);
    if (command.description() === "") command.description(listed.summary);
  }
  addHelp(program);
  addWords(program);
  addNotes(program);
  // Only loaded commands have arguments, so the list shows none.
  return program.configureHelp({
    ...program.configureHelp(),
    subcommandTerm: (command) => command.name(),
  });
}

/** `repsync help keys create`, which is `repsync keys create --help`. */
function addHelp(program: Command): void {
  program
    .command(HELP)
    .description("show the help, or that of a command")
    .argument("[command...]", "command to explain, such as keys create")
    .action((names: string[]) => {
      const named = names.reduce((command, name) => {
        const child = command.commands.find((one) => one.name() === name);
        if (child !== undefined) return child;
        const names = command.commands.map((one) => one.name());
        return command.error(`error: ${unknownText("command", name, names)}`);
      }, program);
      named.help();
    });
}

/** Answers a wrong word of an argument or option with the nearest right one. D-14.9. */
function addWords(command: Command): void {
  const takeOneOf = (words: readonly string[], subject: string) => (word: string) =>
    words.includes(word) ? word : command.error(`error: ${unknownText(subject, word, words)}`);
  const given = [
    ...command.registeredArguments.map((argument) => [argument, argument.name()] as const),
    ...command.options.map((option) => [option, `${option.long} value`] as const),
  ];
  for (const [one, subject] of given) {
    if (one.argChoices !== undefined) one.argParser(takeOneOf(one.argChoices, subject));
  }
  for (const child of command.commands) addWords(child);
}

function unknownText(subject: string, word: string, words: readonly string[]): string {
  const near = nearestWord(word, words);
  const all = words.join(", ").replace(/, (?=[^,]*$)/, " or ");
  const hint = near === null ? `it can be ${all}` : `did you mean ${near}?`;
  return `unknown ${subject} '${word}'; ${hint}`;
}

function usageMessage({ code, message }: CommanderError): string {
  return code === "commander.help"
    ? "There is no command; see repsync --help"
    : asSentence(message);
}

/** `error: unknown option` becomes `Unknown option`, with what was probably meant on the same line. */
function asSentence(text: string): string {
  const message = text
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean (one of )?(.*)\?\)/, "; did you mean $1$2?");
  return message.charAt(0).toUpperCase() + message.slice(1);
}

// The end of each command's help.

/** Longer examples have their explanation below. */
const MAX_LINE_CHARS = 50;

/** Adds notes to each command, and to each command and group the line after a wrong command line. */
function addNotes(command: Command, path = ""): void {
  // `repsync help` is a command of its own, in place of one in every group.
  command.helpCommand(false);
  command.showHelpAfterError(`See ${`repsync ${path}`.trim()} --help`);
  const examples = command.commands.length === 0 ? examplesOf(path) : [];
  if (examples.length > 0) command.addHelpText("after", () => `\n${notesText(path, examples)}`);
  for (const child of command.commands) addNotes(child, `${path} ${child.name()}`.trim());
}

/** Examples and exit codes; commander removes colours where they are not shown. */
function notesText(path: string, examples: ReturnType<typeof examplesOf>): string {
  const lines = examples.map(([line, does]) => [`repsync ${line}`, does] as const);
  const width = Math.max(...lines.map(([line]) => line.length));
  const exits = Object.entries(exitsOf(path));
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

/** Commands that need no deployment. */
const WITHOUT_SETTINGS: readonly string[] = ["init", "infer", "help"];

/** Runs the command of the process's arguments by `run`, and ends the process with its exit code. */
export async function runProgram(run: RunCommand): Promise<void> {
  const program = await buildProgram(run, process.argv.slice(2));
  program.hook("preAction", async (_program, command) => {
    if (WITHOUT_SETTINGS.includes(command.name())) return;
    const { loadEnvFile } = await import("../app/environment.ts");
    loadEnvFile();
  });
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0 && process.argv.includes("--json")) {
      new Output({ json: true }).printJson({ error: usageMessage(error) });
    }
    await flushOutput();
    // Requested help is a success, every other CommanderError a wrong command line.
    process.exit(error.exitCode === 0 ? EXIT.success : EXIT.usage);
  }
}
