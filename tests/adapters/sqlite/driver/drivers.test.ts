import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SEED } from "../../../support/seed.ts";
import { SqliteFile } from "../support.ts";
import { ROWS_PER_BATCH, SHARED } from "../tables/child.ts";

const ROOT = join(import.meta.dir, "../../../..");
const DENO = join(ROOT, "node_modules/.bin/deno");
const TIMEOUT_MS = 120_000;

const hasDeno = existsSync(DENO);
if (!hasDeno && process.env["CI"] === "true") throw new Error("Deno is not installed");
if (!hasDeno) console.warn("SKIPPED: the SQLite driver of Deno, as Deno is not installed");
const denoTest = test.skipIf(!hasDeno);

function start(runtime: "bun" | "deno", script: string, ...args: readonly (string | number)[]) {
  const command = runtime === "bun" ? [process.execPath] : [DENO, "run", "--quiet", "-A"];
  const file = join(import.meta.dir, script);
  return Bun.spawn([...command, file, ...args.map(String)], {
    cwd: ROOT,
    stdout: "pipe",
    stderr: "inherit",
  });
}

denoTest(
  "D-3.3 both drivers of SQLite give the same values, pages and failures",
  () =>
    SqliteFile.use(async (file) => {
      const outputs = (["bun", "deno"] as const).map((runtime) => {
        const child = start(
          runtime,
          "../tables/scenario.ts",
          join(file.folder, `${runtime}.db`),
          SEED,
        );
        return new Response(child.stdout).text();
      });
      const [fromBun = "", fromDeno = ""] = await Promise.all(outputs);
      const deno = fromDeno.split("\n");
      for (const [i, line] of fromBun.split("\n").entries()) {
        if (line !== deno[i])
          throw new Error(`SEED=${SEED}, line ${i}: ${line} is ${deno[i]} in Deno`);
      }
      expect(deno.length).toBeGreaterThan(1000);
    }),
  TIMEOUT_MS,
);

denoTest(
  "D-3.8 processes of both runtimes share one file",
  () =>
    SqliteFile.use(async (file) => {
      const runtimes = ["bun", "deno", "bun", "deno"] as const;
      const children = runtimes.map((runtime, n) =>
        start(runtime, "../tables/child.ts", file.path, n, 30),
      );
      expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0, 0]);
      const storage = await file.open();
      expect(await storage.tables.count(SHARED)).toBe((4 * 30 + 1) * ROWS_PER_BATCH);
    }),
  TIMEOUT_MS,
);
