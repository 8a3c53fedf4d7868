// Two running services, and the command line beside one of them.
import { expect } from "bun:test";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { serviceEnv } from "../../e2e/support/service-process.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { type SyncClient, startApp } from "../../http/support/sync-app.ts";
import { runCli } from "./run-cli.ts";

export const NOTES: TableEntry = {
  upsert_key: ["name"],
  timestamp_column: "at",
  columns: { name: { type: "text" }, body: { type: "text" }, at: { type: "datetime" } },
};
/** The same, but for bodies that are too long. */
export const SHORT_NOTES: TableEntry = {
  ...NOTES,
  columns: { ...NOTES.columns, body: { type: "text", max_length: 3 } },
};
export const AT = "2024-01-01T00:00:00Z";

/** Two running services, and the command line beside the first one. */
export async function startPair(
  tables: { readonly local?: TableEntry; readonly remote?: TableEntry } = {},
) {
  const remote = await startApp({ tables: { notes: tables.remote ?? NOTES } });
  const folder = makeTempFolder();
  const here = { notes: tables.local ?? NOTES };
  const env = { ...serviceEnv(folder, here), SYNC_REMOTE_URL: remote.url };
  const local = await startApp({ env: { ...env, LOG_LEVEL: "silent" }, tables: here });
  const cli = (args: string, more: Readonly<Record<string, string>> = {}) =>
    runCli(args.split(" "), { folder, env: { ...env, LOG_LEVEL: "", ...more } });
  return { local, remote, env, folder, cli };
}

/** The status of a deployment with one table, in some other way. */
export function statusReply(fields: object, headers: Readonly<Record<string, string>> = {}) {
  const status = {
    ...{ sync_enabled: true, tables: ["a"], table_counts: { a: 1 }, last_sync: {} },
    ...{ server_time: AT, features: { gzip: true, sha256: true, incremental: true } },
  };
  return Response.json({ ...status, ...fields }, { headers });
}

export async function fill(
  service: SyncClient,
  names: readonly string[],
  body = "x",
): Promise<void> {
  const records = names.map((name) => ({ name, body, at: AT }));
  expect((await service.push("notes", { records })).status).toBe(200);
}

export async function namesOf(service: SyncClient): Promise<unknown[]> {
  return (await service.records("notes")).map(({ name }) => name);
}
