// Serves one deployment.
import process from "node:process";
import { isAppError } from "../domain/shared/errors.ts";
import { showHidden } from "../domain/shared/text.ts";
import type { Config } from "./config.ts";
import { EXIT_FAILED, EXIT_USAGE, loadEnvFile, readEnvironment } from "./environment.ts";
import { errorText, serve } from "./serve.ts";

loadEnvFile();
const config = readConfigOrExit();

/**
 * Until the service listens there is nothing to shut down. The first process of a container ignores signals without a handler.
 */
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => process.exit(0));

try {
  await serve(config);
} catch (error) {
  const lines = errorText(error).split("\n").map(showHidden);
  console.error(`repsync cannot start: ${lines.join("\n")}`);
  if (isAppError(error) && error.hint !== null) console.error(showHidden(error.hint));
  const isSetting = isAppError(error, "schema_conflict", "invalid_request", "store_outdated");
  process.exit(isSetting ? EXIT_USAGE : EXIT_FAILED);
}

function readConfigOrExit(): Config {
  try {
    return readEnvironment();
  } catch (error) {
    if (!isAppError(error, "invalid_request")) throw error;
    console.error("repsync cannot start; the configuration has these problems:");
    for (const { detail } of error.problems) console.error(`- ${showHidden(detail)}`);
    if (error.hint !== null) console.error(error.hint);
    process.exit(EXIT_USAGE);
  }
}
