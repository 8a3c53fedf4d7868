// The npm commands in a checkout of their own: set-up after damage, and work without a network.
// Files of an installed package are links into Bun's cache: a test may remove them, and must never write to them.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../../.ci/setup.mjs";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { runProcess, serviceEnv, startProcess } from "../support/service-process.ts";

setDefaultTimeout(180_000);

/** What the commands need of the checkout. */
const PARTS = ["package.json", "bun.lock", "bunfig.toml", "tsconfig.json", ".ci", "src"];
const TEST_PARTS = ["tests/support", "tests/domain/shared/limits.test.ts"];
/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:9";
const NO_NETWORK = {
  HTTP_PROXY: NOWHERE,
  HTTPS_PROXY: NOWHERE,
  npm_config_registry: NOWHERE,
  npm_config_proxy: NOWHERE,
};

const ENTRIES = [...PARTS.map((part) => part.split("/")[0] ?? ""), "tests"];

describe("npm", () => {
  let checkout = "";
  let modules = "";

  beforeAll(() => {
    checkout = mkdtempSync(join(tmpdir(), "repsync-checkout-"));
    modules = join(checkout, "node_modules");
    for (const part of [...PARTS, ...TEST_PARTS]) {
      cpSync(join(ROOT, part), join(checkout, part), { recursive: true });
    }
  });

  afterAll(() => rmSync(checkout, { recursive: true, force: true }));

  function npm(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    return runProcess(["npm", "--silent", ...args], { folder: checkout, env });
  }

  test("D-1.2 any command sets everything up, also where a set-up was cut short", async () => {
    mkdirSync(join(modules, ".cache", "repsync"), { recursive: true });
    writeFileSync(join(modules, ".cache", "repsync", "stamp"), "installing");
    mkdirSync(join(modules, "elysia"));
    writeFileSync(join(modules, "elysia", "package.json"), "");
    const { code, stdout, stderr } = await npm(["run", "repsync", "--", "--help"]);
    expect([code, stdout.split("\n")[0]]).toEqual([0, "Usage: repsync <command> [options]"]);
    expect(stderr).toContain("Set-up is complete");
  });

  test("D-1.2 npm start serves without a network then, again and again", async () => {
    for (let run = 1; run <= 2; run++) {
      const service = startProcess(["npm", "--silent", "start"], {
        folder: checkout,
        env: { ...serviceEnv(makeTempFolder()), ...NO_NETWORK },
      });
      await service.waitFor("address", ({ stdout }) => /http:\S+\n/.exec(stdout()));
      service.kill("SIGTERM");
      expect(await service.ended).toEqual({ code: 0, signal: null });
      expect(service.stdout()).toMatch(/^repsync is listening on http:\/\/127\.0\.0\.1:\d+\n/);
      expect(service.stderr()).toBe("");
    }
  });

  test("D-1.2 npm test ends with the counts, and with an exit code that says how it went", async () => {
    const file = "tests/domain/shared/limits.test.ts";
    const run = () => npm(["test", "--", file], NO_NETWORK);
    const passed = await run();
    expect([passed.code, lastLine(passed)]).toEqual([
      0,
      expect.stringMatching(/^[1-9]\d* passed, 0 failed, 0 skipped$/),
    ]);
    const path = join(checkout, file);
    writeFileSync(path, `${readFileSync(path, "utf8")}\ntest("fails", () => expect(1).toBe(2));\n`);
    const failed = await run();
    expect([failed.code, lastLine(failed)]).toEqual([
      1,
      expect.stringMatching(/^[1-9]\d* passed, 1 failed, 0 skipped$/),
    ]);
  });

  test("D-1.2 a package that is gone comes back", async () => {
    rmSync(join(modules, "elysia"), { recursive: true });
    expect((await npm(["run", "repsync", "--", "--help"])).code).toBe(0);
    expect(existsSync(join(modules, "elysia", "package.json"))).toBeTrue();
  });

  test("D-1.2 the commands leave nothing in the checkout but what git ignores", () => {
    const made = readdirSync(checkout).filter((name) => !ENTRIES.includes(name));
    expect(made.toSorted()).toEqual(["dist", "node_modules"]);
  });
});

function lastLine({ stdout }: { readonly stdout: string }): string | undefined {
  return stdout.trimEnd().split("\n").at(-1);
}
