// What differs between the runtimes, Bun and Deno: server, SQLite, memory and name.
import type { OpenSqlite } from "../adapters/sqlite/driver/driver.ts";
import { SystemClock } from "../adapters/system/system.ts";
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
  (await import("../adapters/bun/memory-bound.ts")).boundMemory(untouchedBytes, new SystemClock());
}

/** Such as `bun 1.4.5`. */
export function runtimeName(): string {
  if (typeof Bun !== "undefined") return `bun ${Bun.version}`;
  const { Deno } = globalThis as unknown as { Deno: { version: { deno: string } } };
  return `deno ${Deno.version.deno}`;
}
