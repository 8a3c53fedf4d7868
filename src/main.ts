// Serves one deployment, from this process or from several workers behind one port.
import process from "node:process";
import type { Config } from "./config.ts";
import { isAppError } from "./domain/shared/errors.ts";
import { EXIT_USAGE, loadEnvFile, readEnvironment } from "./environment.ts";
import { errorText } from "./serving/listen.ts";
import { exitCodeOf } from "./serving/settings-problem.ts";

loadEnvFile();
const config = readConfigOrExit();

/** Until the service listens there is nothing to shut down. Without a handler the first process of a container ignores signals. */
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => process.exit(0));

try {
  if (config.workers === 1) await (await import("./serving/serve-alone.ts")).serveAlone(config);
  else await (await import("./serving/supervise.ts")).supervise(config);
} catch (error) {
  console.error(`repsync cannot start: ${errorText(error)}`);
  process.exit(exitCodeOf(error));
}

function readConfigOrExit(): Config {
  try {
    return readEnvironment();
  } catch (error) {
    if (!isAppError(error, "invalid_request")) throw error;
    console.error("repsync cannot start; the configuration has these problems:");
    for (const { detail } of error.problems) console.error(`- ${detail}`);
    process.exit(EXIT_USAGE);
  }
}
