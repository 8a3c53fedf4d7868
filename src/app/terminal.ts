// The meaning of SIGHUP: files are to be read again, or the terminal has closed. D-11.5. The system takes a closed terminal away
// first: a process stops when it had a terminal at a stream, and has none any more. `nohup` leaves it none.
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { isatty } from "node:tty";

const LOOK_EVERY_MS = 5_000;

/** Calls `stop` at a SIGHUP of its closed terminal, and `reload` at any other. */
export function onHangUp({ reload, stop }: Record<"reload" | "stop", () => void>): void {
  let hadTerminal = isOnTerminal();
  let isMissed = false;
  const look = () => {
    // A terminal gone for two looks without a signal: somebody means the service to outlive it.
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

/** False without a terminal at any stream, as under `nohup`, and once it has closed. */
function isOnTerminal(): boolean {
  return [0, 1, 2].some((fd) => isatty(fd));
}

/** True for a program with a terminal at no stream: `nohup` means it to go on without it. */
export function outlivesTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r+"));
    return !isOnTerminal();
  } catch {
    return false;
  }
}
