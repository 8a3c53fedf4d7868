// What the service and the command line share as programs: the file .env, and two exit codes.
import { statSync } from "node:fs";
import process from "node:process";

/** Exit code of a program that failed. */
export const EXIT_FAILED = 1;
/** Exit code for a wrong configuration or command line. */
export const EXIT_USAGE = 2;

/**
 * Adds the settings of the file `.env` in the working directory to the environment, whose own values win. Ends the process
 * when the file cannot be read.
 */
export function loadEnvFile(): void {
  try {
    // A folder of that name is one of Python's environments.
    if (statSync(".env", { throwIfNoEntry: false })?.isFile()) process.loadEnvFile();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : error;
    process.stderr.write(`The file .env cannot be read: ${code}\n`);
    process.exit(EXIT_USAGE);
  }
}
