import { statSync } from "node:fs";
import process from "node:process";

const EXIT_USAGE = 2;

/**
 * Puts the file `.env` of the working directory under the environment, its values as they stand. Ends the process when it
 * cannot be read.
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
