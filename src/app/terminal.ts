// The meaning of SIGHUP: files are to be read anew, or the terminal is gone. D-11.5. The system takes a closed terminal away first:
// a process that had one among its streams, which `nohup` lets none be, and has none any more stops.
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { isatty } from "node:tty";

const LOOK_EVERY_MS = 5_000;

/** Calls `stop` when the terminal that the process was started from has closed, and `reload` at any other SIGHUP. */
export function onHangUp({ reload, stop }: Record<"reload" | "stop", () => void>): void {
  let hadTerminal = isOnTerminal();
  let isMissed = false;
  const look = () => {
    // Nobody told us of a terminal that is gone twice: who lets a service outlive its terminal means it to go on.
    const isGone = hadTerminal && !isOnTerminal();
    if (isGone && isMissed) hadTerminal = false;
    isMissed = isGone;
  };
  setInterval(look, LOOK_EVERY_MS).unref();
  process.on("SIGHUP", () => {
    if (hadTerminal && !isOnTerminal()) stop();
    else reload();
  });
}

/** False without a terminal at any stream, as `nohup` starts a program, and once the terminal was closed. */
function isOnTerminal(): boolean {
  return [0, 1, 2].some((fd) => isatty(fd));
}

/** True for a program that has a terminal, but at no stream: `nohup` means it to go on without it. */
export function outlivesTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r+"));
    return !isOnTerminal();
  } catch {
    return false;
  }
}
