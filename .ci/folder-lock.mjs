// A lock between processes that a dead one cannot hold: a folder that names its holders.
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const HEARTBEAT_MS = 5_000;
// Covers a process id that was given to another program, after a reboot for example.
const SILENT_HOLDER_MS = 120_000;
const LEFTOVER_MS = 3_600_000;

/**
 * Waits for the lock at `folder`; `onWait(pid)` is called once if another process holds it.
 * Returns `addHolder(pid)`, for a child that may go on working after our death, and `release()`.
 */
export async function lockFolder(folder, onWait) {
  fs.mkdirSync(dirname(folder), { recursive: true });
  removeLeftovers(folder);
  const token = `${process.pid}-${Math.random().toString(36).slice(2)}`;
  for (let tries = 0; !take(folder, token); tries++) {
    const holder = readHolder(folder);
    if (holder && !holder.alive) moveAway(folder, holder.token);
    else {
      if (tries === 1) onWait(holder?.pids[0]);
      await sleep(200);
    }
  }
  const beat = setInterval(() => touch(join(folder, "owner")), HEARTBEAT_MS).unref();
  return {
    addHolder: (pid) => fs.appendFileSync(join(folder, "owner"), ` ${pid}`),
    release() {
      clearInterval(beat);
      if (readHolder(folder)?.token !== token) return;
      moveAway(folder, token);
      fs.rmSync(`${folder}.ended-${token}`, { recursive: true, force: true });
    },
  };
}

/** A rename onto a folder that is not empty fails, so exactly one process succeeds. */
function take(folder, token) {
  const made = `${folder}.new-${token}`;
  fs.mkdirSync(made, { recursive: true });
  fs.writeFileSync(join(made, "owner"), `${token} ${process.pid}`);
  try {
    fs.renameSync(made, folder);
    return true;
  } catch {
    fs.rmSync(made, { recursive: true, force: true });
    return false;
  }
}

function readHolder(folder) {
  try {
    const owner = join(folder, "owner");
    const [token, ...pids] = fs.readFileSync(owner, "utf8").split(" ");
    const silentMs = Date.now() - fs.statSync(owner).mtimeMs;
    return { token, pids, alive: silentMs < SILENT_HOLDER_MS && pids.some(isAlive) };
  } catch {
    return undefined; // released since we tried
  }
}

function isAlive(pid) {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** The name carries the ended holder's token, so a slow process cannot move the next holder away. */
function moveAway(folder, token) {
  try {
    fs.renameSync(folder, `${folder}.ended-${token}`);
  } catch {
    // Another process was faster.
  }
}

function touch(file) {
  try {
    const now = new Date();
    fs.utimesSync(file, now, now);
  } catch {
    // Someone removed the folder; the next holder's set-up repairs what follows from that.
  }
}

function removeLeftovers(folder) {
  for (const name of fs.readdirSync(dirname(folder))) {
    if (!name.startsWith(`${basename(folder)}.`)) continue;
    const path = join(dirname(folder), name);
    const changedMs = fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changedMs > LEFTOVER_MS) fs.rmSync(path, { recursive: true, force: true });
  }
}
