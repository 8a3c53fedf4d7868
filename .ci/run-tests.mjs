// Runs `bun test` once, with limits for what hangs, and reads its report.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runChild } from "./run-child.mjs";
import { BUN, ROOT } from "./setup.mjs";
import { readReport } from "./test-report.mjs";

const LOOK_MS = 2_000;
/** Between asking the runner to end and killing it. */
const GRACE_MS = 30_000;

/**
 * Resolves to the exit code, or why it could not be started, the tests and the times of the files, the files that were killed, and
 * whether errors stand outside of all tests. `fileMs` and `runMs` limit a file and the whole run; without them nothing ends.
 */
export async function runTests({ args, env, fileMs, runMs }) {
  const folder = mkdtempSync(join(tmpdir(), "repsync-test-"));
  const filesUnderWay = join(folder, "under-way");
  mkdirSync(filesUnderWay);
  const reportFile = join(folder, "report.xml");
  const report = ["--reporter=junit", `--reporter-outfile=${reportFile}`];
  const killed = [];
  let isOver = false;
  let words = "";
  const timers = [];
  const watch = (pid) => {
    if (runMs === undefined) return;
    const look = () => killed.push(...killHanging(pid, filesUnderWay, fileMs));
    timers.push(setInterval(look, LOOK_MS));
    const end = () => {
      isOver = true;
      // It names what is under way, and writes its report.
      kill(pid, "SIGINT");
      timers.push(setTimeout(() => kill(pid, "SIGKILL"), GRACE_MS));
    };
    timers.push(setTimeout(end, runMs));
  };
  const { code, error } = await runChild(BUN, ["test", ...report, ...args], {
    cwd: ROOT,
    env: { ...env, TEST_FILES_UNDER_WAY: filesUnderWay },
    // A pipe has no colours.
    stdio: ["inherit", "inherit", runMs === undefined ? "inherit" : "pipe"],
    onSpawn: watch,
    onErrorText(text) {
      process.stderr.write(text);
      words = (words + text).slice(-2_000);
    },
  });
  for (const timer of timers) clearTimeout(timer);
  const { tests, files } = readReport(reportFile);
  rmSync(folder, { recursive: true, force: true });
  return { code, error, tests, files, killed, isOver, hasOutside: /^ *\d+ errors?$/m.test(words) };
}

/** Each worker keeps a file there, by its process id, which names the test file that it is at. */
function killHanging(runner, filesUnderWay, fileMs) {
  const killed = [];
  for (const pid of readdirSync(filesUnderWay)) {
    const path = join(filesUnderWay, pid);
    try {
      if (Date.now() - statSync(path).mtimeMs < fileMs) continue;
      const file = readFileSync(path, "utf8");
      rmSync(path);
      // One that has crashed left it here.
      if (!isChild(pid, runner)) continue;
      // Its runner reports the file as failed, and goes on with another worker.
      kill(pid, "SIGKILL");
      killed.push(file);
    } catch {
      // The worker has ended the file meanwhile.
    }
  }
  return killed;
}

/** Where the system does not tell, taken for granted. */
function isChild(pid, parent) {
  if (!existsSync("/proc/self/stat")) return true;
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent;
}

function kill(pid, signal) {
  try {
    process.kill(Number(pid), signal);
  } catch {
    // It has ended.
  }
}
