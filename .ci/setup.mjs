// Brings the pinned Bun and every dependency into node_modules, from whatever state it finds.
// Plain Node without packages, as nothing is installed yet; runs under Bun as well.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildAssets } from "./build-assets.mjs";
import { buildClient } from "./build-client.mjs";
import { buildConsole } from "./build-console.mjs";
import { lockFolder } from "./folder-lock.mjs";
import { runChild } from "./run-child.mjs";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MODULES = join(ROOT, "node_modules");
const STATE_FOLDER = join(MODULES, ".cache", "repsync");
const STAMP = join(STATE_FOLDER, "stamp");
const INSTALLING = "installing";

/** The pinned Bun. Start it directly: `npx bun` puts a process between that swallows signals. */
export const BUN = join(MODULES, ".bin", "bun");

/** Ends the process with `exitCode`, after `message` if there is one. */
class SetUpError extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Does nothing, without the network, when the last set-up still holds. Exits on failure.
 * Resolves to whether node_modules was changed.
 */
export async function setUp({ production = false, forceBuild = false } = {}) {
  try {
    const manifest = JSON.parse(fs.readFileSync(join(ROOT, "package.json"), "utf8"));
    requireNode(manifest.engines.node);
    const plan = {
      bunVersion: manifest.dependencies.bun,
      packages: Object.keys({
        ...manifest.dependencies,
        ...(production ? {} : manifest.devDependencies),
      }).filter(isOfThisMachine),
      stamp: hashOfInputs(production),
      production,
    };
    const isInstallNeeded = !isComplete(plan);
    if (isInstallNeeded) await installUnderLock(plan);
    // What is built from needs the packages of development.
    if (production) return isInstallNeeded;
    const build = { root: ROOT, bun: BUN, force: forceBuild, say };
    buildAssets(build);
    await buildClient(build);
    await buildConsole(build);
    return isInstallNeeded;
  } catch (error) {
    // A code marks an error of the system, such as a folder that may not be written.
    const isExpected = error instanceof SetUpError || error.code;
    const text = isExpected ? error.message : error.stack;
    if (text) say(`Set-up failed: ${text}`);
    process.exit(error.exitCode ?? 1);
  }
}

/** `range` is `>=<major>.<minor>`. */
function requireNode(range) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const [leastMajor, leastMinor] = range.replace(">=", "").split(".").map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new SetUpError(
    `Node ${leastMajor}.${leastMinor} or later is needed, this is ${process.version}`,
  );
}

function hashOfInputs(production) {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch} ${production}`);
  for (const file of ["package.json", "bun.lock"]) hash.update(fs.readFileSync(join(ROOT, file)));
  return hash.digest("hex");
}

/** Programs of other machines are passed over when packages are installed. */
function isOfThisMachine(name) {
  const machine = /\/((?:linux|darwin|windows)-\w+)$/.exec(name)?.[1];
  return machine === undefined || machine === `${process.platform}-${process.arch}`;
}

function isComplete(plan) {
  return readStamp() === plan.stamp && isWhole(plan);
}

function isWhole({ bunVersion, packages }) {
  return versionOf(BUN) === bunVersion && packages.every(isInstalled);
}

function readStamp() {
  try {
    return fs.readFileSync(STAMP, "utf8");
  } catch {
    return undefined;
  }
}

function isInstalled(name) {
  return fs.existsSync(join(MODULES, name, "package.json"));
}

/** The version that the program at `path` prints, or undefined when it does not run. */
function versionOf(path) {
  try {
    const options = { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], timeout: 20_000 };
    return execFileSync(path, ["--version"], options).trim();
  } catch {
    return undefined;
  }
}

async function installUnderLock(plan) {
  const lock = await lockFolder(join(STATE_FOLDER, "lock"), (pid) =>
    say(`Waiting for another set-up to end: process ${pid}`),
  );
  try {
    if (!isComplete(plan)) await install(plan, lock);
  } finally {
    lock.release();
  }
}

async function install(plan, lock) {
  if (readStamp() === INSTALLING) {
    say("The last set-up was cut short: starting afresh");
    emptyModules();
  }
  fs.writeFileSync(STAMP, INSTALLING);
  await installPackages(plan, lock);
  if (!isWhole(plan)) {
    say("node_modules is damaged: starting afresh");
    emptyModules();
    await installPackages(plan, lock);
  }
  if (!isWhole(plan))
    throw new SetUpError(`${describeDamage(plan)}. Remove node_modules, try again`);
  fs.writeFileSync(STAMP, plan.stamp);
  say("Set-up is complete");
}

function describeDamage({ bunVersion, packages }) {
  const missing = packages.filter((name) => !isInstalled(name));
  if (missing.length > 0) return `Packages are missing after the install: ${missing.join(", ")}`;
  return `node_modules/.bin/bun is not Bun ${bunVersion}: ${versionOf(BUN) ?? "it does not run"}`;
}

/** Keeps .cache, where the lock is. */
function emptyModules() {
  for (const name of fs.readdirSync(MODULES)) {
    if (name !== ".cache") fs.rmSync(join(MODULES, name), { recursive: true, force: true });
  }
}

async function installPackages(plan, lock) {
  const scratch = join(STATE_FOLDER, "bun");
  fs.rmSync(scratch, { recursive: true, force: true });
  const env = environmentForInstall();
  const installer = await findInstaller({ plan, lock, scratch, env });
  if (versionOf(BUN) !== plan.bunVersion) removeBunPackages();
  say("Installing the packages of bun.lock");
  const flags = ["--frozen-lockfile", "--no-progress", "--no-summary"];
  if (plan.production) flags.push("--production");
  await run(lock, [installer, "install", ...flags], {
    env,
    failed:
      "Bun could not install the packages (see above). Check the network and `npm config get registry`",
  });
  const script = join(MODULES, "bun", "install.js");
  if (versionOf(BUN) !== plan.bunVersion && fs.existsSync(script)) {
    // A configuration that refuses install scripts leaves the binary in its package.
    await run(lock, [process.execPath, script], { env, failed: "Bun's own install script failed" });
  }
  fs.rmSync(scratch, { recursive: true, force: true });
}

/** Bun takes a package for installed while its package.json is there, so a lost binary stays lost. */
function removeBunPackages() {
  for (const name of ["bun", "@oven"]) {
    fs.rmSync(join(MODULES, name), { recursive: true, force: true });
  }
}

/** A Bun to install with: the pinned one if it is here or npm brings it, else the one we run on. */
async function findInstaller({ plan, lock, scratch, env }) {
  if (versionOf(BUN) === plan.bunVersion) return BUN;
  if (process.versions.bun) return process.execPath;
  say(`Fetching Bun ${plan.bunVersion} with npm`);
  fs.mkdirSync(scratch, { recursive: true });
  fs.writeFileSync(join(scratch, "package.json"), "{}");
  // Scripts are left out: they only move the binary, and npm may be set to refuse them.
  const flags = ["--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--prefer-offline"];
  const quiet = ["--loglevel=error", "--no-package-lock", "--global=false"];
  await run(lock, ["npm", "install", ...flags, ...quiet, `bun@${plan.bunVersion}`], {
    cwd: scratch,
    env,
    failed: "npm could not fetch Bun (see above). Check the network and `npm config get registry`",
  });
  const oven = join(scratch, "node_modules", "@oven");
  const found = (fs.existsSync(oven) ? fs.readdirSync(oven) : [])
    .map((name) => join(oven, name, "bin", "bun"))
    .find((path) => versionOf(path) === plan.bunVersion);
  if (!found) {
    throw new SetUpError(`No Bun ${plan.bunVersion} for ${process.platform} ${process.arch}`);
  }
  return found;
}

/** Bun does not read npm's global configuration, so what npm says of the network is handed to it. */
function environmentForInstall() {
  const names = {
    registry: "npm_config_registry",
    cafile: "NODE_EXTRA_CA_CERTS",
    proxy: "HTTP_PROXY",
    "https-proxy": "HTTPS_PROXY",
  };
  const env = { ...process.env };
  for (const [key, value] of readNpmConfig(Object.keys(names))) {
    if (value !== "null") env[names[key]] ??= value;
  }
  return env;
}

function readNpmConfig(keys) {
  try {
    const options = { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
    const lines = execFileSync("npm", ["config", "get", ...keys], options)
      .trim()
      .split("\n");
    return lines.map((line) => [
      line.slice(0, line.indexOf("=")),
      line.slice(line.indexOf("=") + 1),
    ]);
  } catch {
    return []; // no npm: whoever has only Bun configures Bun
  }
}

async function run(lock, [command, ...args], { failed, ...options }) {
  // Standard output belongs to the program that is started after the set-up.
  const stdio = ["ignore", "ignore", 2];
  const onSpawn = lock.addHolder;
  const { code, error, interruptedBy } = await runChild(command, args, {
    cwd: ROOT,
    stdio,
    onSpawn,
    ...options,
  });
  if (interruptedBy) throw new SetUpError("", 128 + constants.signals[interruptedBy]);
  if (error) throw new SetUpError(`${command} cannot be started: ${error.message}`);
  if (code !== 0) throw new SetUpError(`${failed}: exit code ${code}`);
}

function say(text) {
  process.stderr.write(`[set-up] ${text}\n`);
}

if (fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const flags = process.argv.slice(2);
  await setUp({
    production: flags.includes("--production"),
    forceBuild: flags.includes("--build"),
  });
}
