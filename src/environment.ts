import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import type { Environment } from "./config.ts";

/** An environment over the file `.env` of the working directory, whose values are taken as they stand. */
export function withEnvFile(env: Environment): Environment {
  if (!existsSync(".env")) return env;
  return { ...parseEnv(readFileSync(".env", "utf8")), ...env };
}
