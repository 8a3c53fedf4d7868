// What SIGHUP means: files are to be read anew, or the terminal is gone. D-11.5. The system takes a closed terminal away first:
// a process that had one and cannot open `/dev/tty` any more stops.
import { closeSync, openSync } from "node:fs";
import process from "node:process";

const LOOK_EVERY_MS = 5_000;

/** Calls `stop` when the terminal that the process was started from has closed, and `reload` at any other SIGHUP. */
export function onHangUp({ reload, stop }: Record<"reload" | "stop", () => void>): void {
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
    else reload();
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
