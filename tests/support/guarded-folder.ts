import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { memoryRoot } from "./memory-root.ts";

/** Removes a folder once its standard input ends, as it does with our process, however that comes about. */
const REMOVE_FOLDER_AT_EOF = `
trap "" INT TERM HUP
read -r _
tries=0
while [ -e "$1" ] && [ $tries -lt 100 ]; do
  rm -rf "$1" 2>/dev/null
  tries=$((tries + 1))
  sleep 0.1
done`;

/** Held, so that none is collected: its standard input would end. */
const guards = new Set<ChildProcess>();

/** A temporary folder that cannot outlive this process, not even after a SIGKILL. */
export interface GuardedFolder {
  readonly path: string;
  /** Removes it before that; programs that use it have ended. */
  remove(): void;
}

export function makeGuardedFolder(prefix: string, root = memoryRoot()): GuardedFolder {
  const path = mkdtempSync(join(root, prefix));
  const guard = spawn("sh", ["-c", REMOVE_FOLDER_AT_EOF, "sh", path], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  guards.add(guard);
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
      guard.stdin.end();
      guards.delete(guard);
    },
  };
}
