// The programs that check docs/deploy: from the PATH, or where `.ci/deploy-tools` puts them.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

const CACHE = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
const FOLDER = join(CACHE, "repsync", "deploy-tools");
/** Where the checkers that are written in Python are. */
export const PYTHON_PATH = join(FOLDER, "python");

/** How to get each program, as a person would. */
const SOURCES = {
  promtool: "bash .ci/deploy-tools",
  caddy: "bash .ci/deploy-tools",
  "docker-compose": "on Debian: apt-get install docker-compose",
  "systemd-analyze": "on Debian: apt-get install systemd",
  python3: "bash .ci/deploy-tools",
};
/** A program that checks files of docs/deploy. */
export type DeployTool = keyof typeof SOURCES;

const missing = (Object.keys(SOURCES) as DeployTool[]).filter((tool) => !findTool(tool));
if (missing.length > 0) {
  const text = missing.map((tool) => `${tool} (${SOURCES[tool]})`).join(", ");
  if (process.env["CI"] === "true") throw new Error(`CI needs ${text}`);
  console.error(`\n*** Checks of docs/deploy are SKIPPED, missing: ${text} ***\n`);
}

/** Whether `tool` is there: `test.skipIf(!hasTool("caddy"))`. What is missing has been printed. */
export function hasTool(tool: DeployTool): boolean {
  return !missing.includes(tool);
}

/** The path of `tool`. */
export function pathOf(tool: DeployTool): string {
  const path = findTool(tool);
  if (!path) throw new Error(`No ${tool}: ${SOURCES[tool]}`);
  return path;
}

/** Runs `tool` and gives what it printed, both outputs after one another, and its exit code. */
export function runTool(
  tool: DeployTool,
  args: readonly string[],
  options: { readonly folder?: string; readonly env?: Readonly<Record<string, string>> } = {},
): { readonly code: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(pathOf(tool), args, {
    cwd: options.folder,
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH: PYTHON_PATH, ...options.env },
  });
  return { code: status, text: `${stdout}${stderr}` };
}

function findTool(tool: DeployTool): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), join(FOLDER, "bin")];
  const path = folders.map((folder) => join(folder, tool)).find(existsSync);
  if (tool !== "python3" || !path) return path;
  return hasModules(path) ? path : undefined;
}

function hasModules(python: string): boolean {
  const env = { ...process.env, PYTHONPATH: PYTHON_PATH };
  try {
    execFileSync(python, ["-c", "import kubernetes_validate, grafana_foundation_sdk"], {
      env,
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}
