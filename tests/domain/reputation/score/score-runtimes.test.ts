// Bun runs on JavaScriptCore, Deno on V8: two engines that were written apart.
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { GENERATED_SCORES } from "./generated-scores.ts";
import { GOLDEN_SCORES } from "./golden-scores.ts";

const DENO = fileURLToPath(new URL("../../../../node_modules/.bin/deno", import.meta.url));
const SCRIPT = fileURLToPath(new URL("./print-scores.ts", import.meta.url));
const EXPECTED = {
  golden: GOLDEN_SCORES.map(({ score, starLevel, points }) => ({ score, starLevel, points })),
  generated: GENERATED_SCORES,
};

test("D-6.6 the scores are the same on Bun, in a process of its own", () => {
  expect(JSON.parse(execFileSync(process.execPath, [SCRIPT], { encoding: "utf8" }))).toEqual(
    EXPECTED,
  );
});

test.skipIf(!existsSync(DENO))(
  "D-6.6 the scores are the same on Deno",
  () => {
    const options = ["--no-config", "--no-lock", "--no-remote", "--cached-only"];
    const printed = execFileSync(DENO, ["run", ...options, SCRIPT], {
      encoding: "utf8",
      env: { ...process.env, DENO_NO_UPDATE_CHECK: "1", DENO_NO_PACKAGE_JSON: "1" },
    });
    expect(JSON.parse(printed)).toEqual(EXPECTED);
  },
  60_000,
);
