// The deployment of this environment, opened in this process: the same store that a running service may be using.
import { readFileSync } from "node:fs";
import { type Config, readConfig } from "../config.ts";
import type { Services } from "../services.ts";
import { UsageError } from "./describe-failure.ts";

/** A deployment that a command works on. */
export interface OpenedDeployment {
  readonly config: Config;
  readonly services: Services;
}

/** Reads the environment, as the service does, but logs only where `LOG_LEVEL` is another than the service's default. */
export function readDeploymentConfig(): Config {
  const { config, problems } = readConfig(process.env, (path) => readFileSync(path, "utf8"));
  if (config === null) throw new UsageError("The configuration has these problems", problems);
  // Commands say themselves what went wrong; lines in between would also break bars. A copy of .env.example names the default.
  return config.logLevel === "info" ? { ...config, logLevel: "silent" } : config;
}

/** Opens the deployment that the environment describes. Throws `UsageError` and `AppError`. */
export async function openDeployment(): Promise<OpenedDeployment> {
  const config = readDeploymentConfig();
  const { openServices } = await import("../services.ts");
  return { config, services: await openServices(config) };
}
