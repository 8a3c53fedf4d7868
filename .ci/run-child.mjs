// Runs a program as if it stood in our place: signals reach it, and its end is told as an exit code.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { isatty } from "node:tty";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Resolves to the exit code (128 + n after signal n, 127 when the program cannot be started), the
 * signal that asked us to end meanwhile, and standard output where `stdio` keeps it. `onErrorText` is given standard error, where
 * `stdio` pipes it.
 */
export function runChild(command, args, { onSpawn, onErrorText, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "inherit", ...options });
    let output = "";
    let interruptedBy;
    const forward = (signal) => {
      interruptedBy = signal;
      // Ctrl-C in a terminal reaches the program by itself; twice would mean "at once" to it.
      if (signal === "SIGINT" && [0, 1, 2].some((fd) => isatty(fd))) return;
      child.kill(signal);
    };
    const finish = (code, error) => {
      for (const signal of FORWARDED) process.off(signal, forward);
      resolve({ code, error, output, interruptedBy });
    };
    for (const signal of FORWARDED) process.on(signal, forward);
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text) => onErrorText?.(text));
    child.once("spawn", () => onSpawn?.(child.pid));
    child.once("error", (error) => finish(127, error));
    child.once("close", (code, signal) => finish(code ?? 128 + constants.signals[signal]));
  });
}
