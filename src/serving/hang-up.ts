// What SIGHUP means: an operator asks for new settings, or the terminal is gone. D-10.11.
import { closeSync, openSync } from "node:fs";
import process from "node:process";

const LOOK_EVERY_MS = 5_000;

/** Calls `stop` when the terminal that the process was started from has closed, and `replace` at any other SIGHUP. */
export function onHangUp({ replace, stop }: Record<"replace" | "stop", () => void>): void {
  let hadTerminal = hasTerminal();
  let isMissed = false;
  const look = () => {
    // Nobody told us of a terminal that is gone twice: who lets a service outlive its terminal means it to go on.
    const isGone = hadTerminal && !hasTerminal();
    if (isGone && isMissed) hadTerminal = false;
    isMissed = isGone;
  };
  setInterval(look, LOOK_EVERY_MS).unref();
  process.on("SIGHUP", () => {
    if (hadTerminal && !hasTerminal()) stop();
    else replace();
  });
}

/** A process whose terminal was closed has none any more. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r+"));
    return true;
  } catch {
    return false;
  }
}
