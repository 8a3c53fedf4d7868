// What a process runs on: its runtime, Bun or Deno, and the terminal that it was started from.
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { isatty } from "node:tty";
import type { OpenSqlite } from "../adapters/sqlite/driver/connection.ts";
import type { StartHttpServer } from "../ports/http/http.ts";

export async function serverOfRuntime(): Promise<StartHttpServer> {
  return typeof Bun === "undefined"
    ? (await import("../adapters/deno/http-server.ts")).startDenoServer
    : (await import("../adapters/bun/http-server.ts")).startBunServer;
}

export async function sqliteOfRuntime(): Promise<OpenSqlite> {
  return typeof Bun === "undefined"
    ? (await import("../adapters/sqlite/driver/node-driver.ts")).openNodeSqlite
    : (await import("../adapters/sqlite/driver/bun-driver.ts")).openBunSqlite;
}

/** On Bun, which lets garbage grow, collects it once resident memory is above `untouchedBytes`. */
export async function boundMemory(untouchedBytes: number): Promise<void> {
  if (typeof Bun === "undefined") return;
  const { SystemClock } = await import("../adapters/system/system.ts");
  (await import("../adapters/bun/memory-bound.ts")).boundMemory(untouchedBytes, new SystemClock());
}

/** Such as `bun 1.4.5`. */
export function runtimeName(): string {
  if (typeof Bun !== "undefined") return `bun ${Bun.version}`;
  const { Deno } = globalThis as unknown as { Deno: { version: { deno: string } } };
  return `deno ${Deno.version.deno}`;
}

const LOOK_EVERY_MS = 5_000;

/**
 * Calls `stop` at a SIGHUP of its closed terminal, and `reload` at any other. D-11.5. The system takes a closed terminal away first:
 * a process stops when it had a terminal at a stream, and has none any more. `nohup` leaves it none.
 */
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
