import { Command, type CommanderError } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { hasColours, inColour, paintProblem } from "./colours.ts";
import type { AddCommand, RunCommand } from "./command-runner.ts";
import { addAccountsCommand } from "./commands/accounts.ts";
import { addAdminCommand } from "./commands/admin.ts";
import { addAuditCommand } from "./commands/audit.ts";
import { addBackupCommand } from "./commands/backup.ts";
import { addCompareCommand } from "./commands/compare.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { addDeleteCommand } from "./commands/delete.ts";
import { addDeletesCommand } from "./commands/deletes.ts";
import { addDemoCommand } from "./commands/demo.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addExportCommand } from "./commands/export.ts";
import { addHelpCommand } from "./commands/help.ts";
import { addImportCommand } from "./commands/import.ts";
import { addInitCommand } from "./commands/init.ts";
import { addKeysCommand } from "./commands/keys.ts";
import { addPlanCommand } from "./commands/plan.ts";
import { addRejectedCommand } from "./commands/rejected.ts";
import { addRestoreCommand } from "./commands/restore.ts";
import { addRunsCommand } from "./commands/runs.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addStatusCommand } from "./commands/status.ts";
import { addSyncCommand } from "./commands/sync.ts";
import { addTablesCommand } from "./commands/tables.ts";
import { addNotes } from "./help/notes-text.ts";

/** Every command, in the order of the help. */
const COMMANDS: readonly AddCommand[] = [
  addInitCommand,
  addTablesCommand,
  addServeCommand,
  addSyncCommand,
  addStatusCommand,
  addCompareCommand,
  addRunsCommand,
  addRejectedCommand,
  addDeleteCommand,
  addDeletesCommand,
  addImportCommand,
  addExportCommand,
  addAdminCommand,
  addAccountsCommand,
  addKeysCommand,
  addPlanCommand,
  addAuditCommand,
  addBackupCommand,
  addRestoreCommand,
  addDoctorCommand,
  addDemoCommand,
  addCompletionCommand,
  addHelpCommand,
];

const EXIT_CODES = `
Exit codes: 0 success, 1 failed, 2 wrong command line or configuration, 3 partial.
Settings come from the environment and from .env or the file of --env-file, as for the service.`;

/** The whole command line. Help and wrong usage end as `CommanderError`. D-4.12. */
export function buildProgram(run: RunCommand): Command {
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
      outputError: (text, write) => write(`${paintProblem("red", asSentence(text.trim()))}\n`),
    })
    .configureHelp({
      styleTitle: (text) => inColour("bold", text),
      styleCommandText: (text) => inColour("cyan", text),
      styleSubcommandText: (text) => inColour("cyan", text),
      styleOptionText: (text) => inColour("cyan", text),
    });
  for (const add of COMMANDS) add(program, run);
  addNotes(program);
  return program;
}

/** The problem of the command line, in one sentence. */
export function usageMessage({ code, message }: CommanderError): string {
  return code === "commander.help"
    ? "There is no command; see repsync --help"
    : asSentence(message);
}

/** `error: unknown option` becomes `Unknown option`, in one line with what was probably meant. */
function asSentence(text: string): string {
  const message = text
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean (one of )?(.*)\?\)/, "; did you mean $1$2?");
  return message.charAt(0).toUpperCase() + message.slice(1);
}
