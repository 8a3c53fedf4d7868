import { describe, expect, test } from "bun:test";
import type { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import { readPage } from "../../../support/rows/read-rows.ts";
import { SqliteFile } from "../support.ts";
import { batchOf, ROWS_PER_BATCH, SHARED } from "./child.ts";

const CHILD = new URL("./child.ts", import.meta.url).pathname;
const TIMEOUT_MS = 120_000;

function startWriter(file: SqliteFile, writer: number, batches: number) {
  const args = [process.execPath, CHILD, file.path, String(writer), String(batches)];
  return Bun.spawn(args, { stdout: "pipe", stderr: "pipe" });
}

/** How a process ended: its exit code, and what it told of it. */
async function endOf(child: ReturnType<typeof startWriter>): Promise<string> {
  return `${await child.exited} ${await child.stderr.text()}`.trim();
}

async function readAll(storage: SqliteStorage): Promise<Row[]> {
  const query = { sinceTime: null, offsetRows: 0, limitRows: 1_000_000 };
  return (await readPage(storage.tables, SHARED, query)).rows;
}

/** The rows of a writer by batch, and the one batch number that all shared rows carry. */
function batchesOf(rows: readonly Row[], writer: number): number[] {
  const counts = new Map<number, number>();
  for (const row of rows) {
    if (row["writer"] !== writer) continue;
    counts.set(Number(row["batch"]), (counts.get(Number(row["batch"])) ?? 0) + 1);
  }
  for (const count of counts.values()) expect(count).toBe(ROWS_PER_BATCH);
  return [...counts.keys()].sort((a, b) => a - b);
}

describe("SQLite: several processes on one file", () => {
  test(
    "D-3.8 kill -9 during writes loses no acknowledged batch and tears none",
    () =>
      SqliteFile.use(async (file) => {
        let written = 0;
        for (let writer = 0; writer < 6; writer++) {
          const child = startWriter(file, writer, 0);
          let told = "";
          const decoder = new TextDecoder();
          for await (const chunk of child.stdout) {
            told += decoder.decode(chunk);
            // Killed at another batch each time, somewhere within the next one.
            if (told.split("\n").length > 3 + writer * 5) child.kill("SIGKILL");
          }
          await child.exited;
          const acknowledged = told.split("\n").slice(0, -1).map(Number);
          const storage = await file.open();
          const rows = await readAll(storage);
          const stored = batchesOf(rows, writer);
          expect(acknowledged).toEqual(acknowledged.map((_, batch) => batch));
          expect(stored).toEqual(stored.map((_, batch) => batch));
          expect(stored.length).toBeGreaterThanOrEqual(acknowledged.length);
          expect(stored.length).toBeLessThanOrEqual(acknowledged.length + 1);
          expect(batchesOf(rows, -1)).toEqual([writer * 1_000_000 + stored.length - 1]);
          written += stored.length;
          expect(await storage.tables.count(SHARED)).toBe((written + 1) * ROWS_PER_BATCH);
          await storage.close();
        }
        const check = file.openElsewhere().query("PRAGMA integrity_check").values();
        expect(check).toEqual([["ok"]]);
      }),
    TIMEOUT_MS,
  );

  test(
    "D-3.8 processes that write at once wait for each other, and a reader sees whole batches",
    () =>
      SqliteFile.use(async (file) => {
        const storage = await file.open();
        await storage.tables.prepare([SHARED]);
        const batches = 60;
        const writers = [0, 1, 2, 3];
        const children = writers.map((writer) => startWriter(file, writer, batches));
        let isRunning = true;
        const exits = Promise.all(children.map(endOf)).finally(() => {
          isRunning = false;
        });
        do {
          const rows = await readAll(storage);
          for (const writer of writers) batchesOf(rows, writer);
          expect(batchesOf(rows, -1).length).toBe(rows.length === 0 ? 0 : 1);
          await new Promise((resolve) => setImmediate(resolve));
        } while (isRunning);
        expect(await exits).toEqual(["0", "0", "0", "0"]);
        const rows = await readAll(storage);
        expect(rows.length).toBe((writers.length * batches + 1) * ROWS_PER_BATCH);
        expect(new Set(rows.map((row) => row["id"])).size).toBe(rows.length);
        const last = batchOf(0, batches - 1)[0];
        expect(rows.find((row) => row["writer"] === 0 && row["n"] === last?.["n"])).toMatchObject({
          ...last,
        });
      }),
    TIMEOUT_MS,
  );

  test(
    "D-2.4 processes that prepare a new file at once all succeed",
    () =>
      SqliteFile.use(async (file) => {
        const children = [0, 1, 2, 3].map((writer) => startWriter(file, writer, 1));
        expect(await Promise.all(children.map(endOf))).toEqual(["0", "0", "0", "0"]);
        expect(await (await file.open()).tables.count(SHARED)).toBe(5 * ROWS_PER_BATCH);
      }),
    TIMEOUT_MS,
  );
});
