// Files of many rows through the command line: the memory that they take, and what is told of a single line.
import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { serviceEnv } from "../../e2e/support/service-process.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { runCliProcess } from "../support/cli-process.ts";
import { runCli } from "../support/run-cli.ts";

setDefaultTimeout(300_000);

const MIB = 1024 * 1024;

test("D-4.12 importing and exporting 300,000 rows takes less than 200 MB", async () => {
  const folder = makeTempFolder();
  const env = serviceEnv(folder);
  const rows = Array.from({ length: 300_000 }, (_, i) => `shop ${i % 100},${i},12.50,2024-01-01\n`);
  writeFileSync(join(folder, "in.csv"), `shop,sku,price,updated_at\n${rows.join("")}`);
  const peaks: number[] = [];
  for (const [command, file, counts] of [
    ["import", "in.csv", { read: 300_000, written: 300_000, failed: 0 }],
    ["export", "out.json", { rows: 300_000, format: "json" }],
    ["import", "out.json", { read: 300_000, written: 300_000, failed: 0 }],
  ] as const) {
    const ended = await runCliProcess([command, "listings", file, "--json"], { folder, env });
    expect(ended.json).toMatchObject(counts);
    peaks.push(ended.peakBytes);
  }
  expect(Math.max(...peaks)).toBeLessThan(200 * MIB);
});

test("D-14.1 a million rows, of which one near the end has no number", async () => {
  const folder = makeTempFolder();
  const lines = Array.from({ length: 1_000_000 }, (_, i) => {
    const price = i === 999_997 ? "n/a" : `${i % 100}.50`;
    return `${i + 1},Item ${i},${price},2026-01-${10 + (i % 19)}\n`;
  });
  writeFileSync(join(folder, "items.csv"), `id,name,price,updated_at\n${lines.join("")}`);
  const { code, stdout, stderr } = await runCli(["tables", "infer", "items.csv"], { folder });
  expect(code).toBe(0);
  expect(stderr).toContain(
    'price       text     1 of 1,000,000 values is no number, the first "n/a" in line 999999\n',
  );
  expect(JSON.parse(stdout)).toMatchObject({
    tables: { items: { upsert_key: ["id"], timestamp_column: "updated_at" } },
  });
});
