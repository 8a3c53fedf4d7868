import type { OpenSqlite } from "../../../../src/adapters/sqlite/driver/connection.ts";

/** The driver of the runtime that the test runs on. */
export async function driverOfRuntime(): Promise<OpenSqlite> {
  if (process.versions["bun"] !== undefined) {
    return (await import("../../../../src/adapters/sqlite/driver/bun-driver.ts")).openBunSqlite;
  }
  return (await import("../../../../src/adapters/sqlite/driver/node-driver.ts")).openNodeSqlite;
}
