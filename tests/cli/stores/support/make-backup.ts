// A store with a row, and a backup of it.
import { expect } from "bun:test";
import { join } from "node:path";
import { serviceEnv } from "../../../e2e/support/service-process.ts";
import type { Backend } from "../../../http/support/backends.ts";
import { makeTempFolder } from "../../../http/support/make-temp-folder.ts";
import { startApp } from "../../../http/support/sync-app.ts";
import { runCli } from "../../support/run-cli.ts";

const ADMIN = { ADMIN_USERNAME: "root", ADMIN_PASSWORD: "correct horse" };
export const BODY = "a body that is nowhere else";
export const NOTE = { records: [{ name: "a", body: BODY }] };

/** A store with a row, a backup of it, and the command line on any store. */
export async function makeBackup(backend: Backend, env: Readonly<Record<string, string>> = {}) {
  const folder = makeTempFolder();
  const url = await backend.makeUrl();
  const settings = { ...serviceEnv(folder), ...ADMIN, LOG_LEVEL: "", ...env };
  const cli = (
    store: string,
    args: readonly string[],
    more: Readonly<Record<string, string>> = {},
    input = "",
  ) => runCli(args, { folder, env: { ...settings, STORAGE_URL: store, ...more }, input });
  const service = await startApp({ env: { ...settings, STORAGE_URL: url, LOG_LEVEL: "silent" } });
  expect((await service.push("notes", NOTE)).status).toBe(200);
  await service.stop();
  const file = join(folder, "store.backup");
  const made = await cli(url, ["backup", file]);
  expect([made.code, made.stderr]).toEqual([0, ""]);
  const rows = async (store: string) =>
    (await cli(store, ["status", "--json"])).json.local.table_counts.notes as number;
  return { folder, url, file, cli, rows, settings };
}
