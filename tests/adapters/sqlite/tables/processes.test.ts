import { expect, test } from "bun:test";
import { SqliteFile } from "../support.ts";
import { ROWS_PER_BATCH, SHARED } from "./child.ts";

const CHILD = new URL("./child.ts", import.meta.url).pathname;

// tests/e2e has services that write to one file at once, and that are killed meanwhile.
test(
  "D-2.4 processes that prepare a new file at once all succeed",
  () =>
    SqliteFile.use(async (file) => {
      const ends = [0, 1, 2, 3].map(async (writer) => {
        const args = [process.execPath, CHILD, file.path, String(writer), "1"];
        const child = Bun.spawn(args, { stdout: "ignore", stderr: "pipe" });
        return `${await child.exited} ${await child.stderr.text()}`.trim();
      });
      expect(await Promise.all(ends)).toEqual(["0", "0", "0", "0"]);
      expect(await (await file.open()).tables.count(SHARED)).toBe(5 * ROWS_PER_BATCH);
    }),
  120_000,
);
