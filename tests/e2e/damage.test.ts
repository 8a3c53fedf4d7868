// A page of the file that holds what SQLite never wrote there: what is told of it, and by whom.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type AlertReceiver, startAlertReceiver } from "../http/support/alert-receiver.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import {
  BUN,
  CLI,
  type ServiceProcess,
  startProcess,
  startService,
} from "./support/service-process.ts";

const PAGE_BYTES = 4_096;

/** A file with rows, made by a service that was stopped. */
async function makeFile(receiver: AlertReceiver) {
  const file = join(makeTempFolder(), "repsync.db");
  const env = { STORAGE_URL: `sqlite:${file}`, LOG_LEVEL: "warn", ...receiver.env };
  const service = await startService({ env });
  const records = Array.from({ length: 3_000 }, (_, n) => ({
    name: `note ${n}`,
    body: "x".repeat(500),
  }));
  expect((await service.push("notes", { records })).status).toBe(200);
  await service.stop();
  return { file, env };
}

/** Fills pages with bytes that begin no page. */
function spoil(file: string, pages: readonly number[]): void {
  const opened = openSync(file, "r+");
  for (const page of pages) {
    writeSync(
      opened,
      new Uint8Array(PAGE_BYTES).fill(0xa5),
      0,
      PAGE_BYTES,
      (page - 1) * PAGE_BYTES,
    );
  }
  closeSync(opened);
}

/** The page where a table or index begins. */
function rootPages(file: string, pattern: string): readonly number[] {
  const database = new Database(file, { readonly: true });
  const found = database
    .query<{ rootpage: number }, [string]>(
      "SELECT rootpage FROM sqlite_schema WHERE tbl_name LIKE ?",
    )
    .all(pattern);
  database.close();
  return found.map(({ rootpage }) => rootpage);
}

/** Level (50 is an error) and message of the lines of the log. */
function linesOf(service: ServiceProcess): readonly string[] {
  const lines = service
    .stderr()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  return lines.map((line) => {
    const { level, msg } = JSON.parse(line);
    return `${level} ${msg}`;
  });
}

/** Status of a pull of all rows. */
async function pullAll(service: ServiceProcess): Promise<readonly [number, unknown]> {
  const { status, json } = await service.pull("notes", "?limit=5000");
  return [status, json["error"]];
}

test("D-11.6 the first damaged page is one error line, a metric and an alert, and doctor fails", async () => {
  const receiver = await startAlertReceiver();
  const { file, env } = await makeFile(receiver);
  const service = await startService({ env });
  expect((await service.send("/metrics")).text).toContain("\nrepsync_store_damaged 0\n");
  await service.stop();
  const [root = 0] = rootPages(file, "notes");
  expect(root).toBeGreaterThan(1);
  const database = new Database(file, { readonly: true });
  const [{ count = 0 } = {}] = database
    .query<{ count: number }, []>("SELECT page_count AS count FROM pragma_page_count")
    .all();
  database.close();
  spoil(file, [Math.floor(count / 2)]);
  const damaged = await startService({ env });
  const reply = [503, "The database is unavailable: the file is damaged"] as const;
  for (let n = 0; n < 3; n++) expect(await pullAll(damaged)).toEqual(reply);
  expect((await damaged.send("/v1/health")).status).toBe(200);
  expect((await damaged.send("/metrics")).text).toContain("\nrepsync_store_damaged 1\n");
  const [alert] = await receiver.waitFor(1);
  expect(alert?.json).toMatchObject({ type: "store.damaged", error: reply[1] });
  const command = [...BUN, CLI, "doctor"] as const;
  const doctor = startProcess(command, { env: { ...env, LOG_LEVEL: "silent" } });
  expect((await doctor.ended).code).toBe(1);
  expect(doctor.stdout()).toMatch(/^fail +store: its file is damaged/m);
  await damaged.stop();
  const lines = linesOf(damaged);
  expect(lines.filter((line) => line.startsWith("50 "))).toEqual([
    "50 The store is damaged. Stop the service, keep a copy of the file, and restore the last backup",
  ]);
  expect(lines.filter((line) => line === "40 Damage of the store was met again")).toHaveLength(2);
  expect(receiver.received).toHaveLength(1);
});

test("D-11.6 damage is told from memory where the store cannot keep the alert", async () => {
  const receiver = await startAlertReceiver();
  const { file, env } = await makeFile(receiver);
  spoil(file, rootPages(file, "repsync_alerts"));
  receiver.answer = 500;
  const service = await startService({ env });
  await receiver.waitFor(2);
  receiver.answer = 200;
  const received = await receiver.waitFor(3);
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  expect(received[0]?.json).toMatchObject({ type: "store.damaged" });
  expect((await service.send("/metrics")).text).toContain("\nrepsync_store_damaged 1\n");
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});
