// The package as strangers use it. It needs the package registry, so only CI and `npm run test:slow` run this folder.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../.ci/setup.mjs";
import { type Command, runProcess, startProcess } from "../e2e/support/service-process.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { type Installed, installPacked, makeHostile, sizeWithoutBun } from "./support/installed.ts";

const MINUTES = 180_000;
setDefaultTimeout(MINUTES);

let installed: Installed;

beforeAll(async () => {
  installed = await installPacked();
}, MINUTES);
afterAll(() => rmSync(installed.folder, { recursive: true, force: true }));

/** Runs `repsync` of the global install, or another program, to its end. */
function repsync(args: readonly string[], folder = makeTempFolder(), command?: Command) {
  const [program, ...first] = command ?? [installed.program];
  return runProcess([program, ...first, ...args], { folder, env: installed.env });
}

/** Starts `serve` on a free port, and gives its address. */
async function serve(folder: string, command?: Command) {
  const [program, ...first] = command ?? [installed.program];
  const env = { ...installed.env, PORT: "0", HOST: "127.0.0.1" };
  const started = startProcess([program, ...first, "serve"], { folder, env });
  const url = await started.waitFor("address", ({ stdout }) =>
    /^repsync is listening on (http:\S+)$/m.exec(stdout())?.at(1),
  );
  return { ...started, url };
}

async function statusOf(url: string): Promise<number> {
  const reply = await fetch(url);
  await reply.bytes();
  return reply.status;
}

const WAYS = [
  ["node16", "node16"],
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
] as const;

const PAGES = [
  ...["/v1/health", "/console", "/swagger", "/swagger/json"],
  ...["/swagger/swagger-ui-bundle.js", "/swagger/swagger-ui.css"],
];

/** `init`, `doctor` and `serve` with every page, in a new folder. */
async function useAll(command?: Command): Promise<void> {
  const folder = makeTempFolder();
  const made = await repsync(["init"], folder, command);
  expect([made.code, readdirSync(folder).sort()]).toEqual([0, [".env", "tables.json"]]);
  const doctor = await repsync(["doctor"], folder, command);
  expect([doctor.code, doctor.stderr]).toEqual([0, ""]);
  const service = await serve(folder, command);
  const statuses = await Promise.all(PAGES.map((page) => statusOf(service.url + page)));
  expect(statuses).toEqual(PAGES.map(() => 200));
  service.kill("SIGTERM");
  // Its output ends with the service; what npx itself ends with is npm's affair.
  const ended = await service.ended;
  if (command === undefined) expect(ended).toEqual({ code: 0, signal: null });
  await expect(fetch(service.url)).rejects.toThrow();
}

describe("the package", () => {
  test("D-10.1 a global install without install scripts has init, doctor, serve and the demo", async () => {
    const demo = repsync(["demo", "--once"]);
    await useAll();
    const played = await demo;
    expect([played.code, played.signal]).toEqual([0, null]);
    expect(played.stdout).toContain("Compared row by row: all 171,075 rows are equal.");
    // Of deployments that are gone there is nothing to look at.
    expect(played.stdout).not.toContain("http://");
  });

  test("D-10.1 npx on the tarball has them too", async () => {
    const { code, stdout } = await repsync(["--help"], makeTempFolder(), installed.npx);
    expect([code, stdout.split("\n")[0]]).toEqual([0, "Usage: repsync <command> [options]"]);
    await useAll(installed.npx);
  });

  test("D-10.1 an install into a project has them where it was put, beside the packages of the project", async () => {
    const folder = makeTempFolder();
    writeFileSync(join(folder, "package.json"), "{}");
    const { env, tarball } = installed;
    await promisify(execFile)("npm", ["install", tarball], { cwd: folder, env });
    const { code } = await repsync(["doctor"], folder, ["npx", "--no", "repsync"]);
    expect(code).toBe(0);
    for (const [module, resolution] of WAYS) {
      expect(await typesProblems(folder, module, resolution)).toBe("");
    }
    const program = `import { createSyncClient } from "repsync/client";
      import { createLookupClient } from "repsync/lookups";
      console.log(typeof createSyncClient, typeof createLookupClient);`;
    const node = ["node", "--input-type=module", "--eval", program] as const;
    const { stdout } = await runProcess(node, { folder, env });
    expect(stdout).toBe("function function\n");
  });

  test("D-10.1 nothing of the caller's folder is run, and its .env is read as it stands", async () => {
    const folder = makeTempFolder();
    makeHostile(folder);
    const before = readdirSync(folder).sort();
    const service = await serve(folder);
    const headers = { "X-Sync-Key": "a$(touch RAN)$HOME" };
    const pull = `${service.url}/api/v1/sync/pull/profiles?since=2026-01-01`;
    expect((await fetch(pull, { headers })).status).toBe(200);
    service.kill("SIGTERM");
    expect(await service.ended).toEqual({ code: 0, signal: null });
    expect((await repsync(["doctor", "--env-file", ".env"], folder)).code).toBe(0);
    expect(readdirSync(folder).sort()).toEqual([...before, "data"].sort());
  });

  test("D-10.13 an --env-file that is missing is exit code 2, also where Node looks for one", async () => {
    const { code, stderr } = await repsync(["--env-file", "missing", "status"]);
    expect([code, stderr]).toEqual([
      2,
      "The file missing cannot be read: there is no such file or folder\nName a file of settings after --env-file; repsync init writes one, .env\n",
    ]);
  });

  test("D-10.1 the end of the program is the end of the service, and the other way round", async () => {
    const killed = await serve(makeTempFolder());
    killed.kill("SIGKILL");
    // Its standard output ends with the last process that holds it.
    expect((await killed.ended).signal).toBe("SIGKILL");
    await expect(fetch(killed.url)).rejects.toThrow();
    const wrong = await repsync(["status", "--loud"]);
    expect(wrong.code).toBe(2);
  });

  test("D-10.1 it has a licence and its settings, no file of development, and no package with an install script but Bun", () => {
    const { packageFolder } = installed;
    const names = readdirSync(packageFolder);
    expect(names.sort()).toEqual([
      ...[".env.example", "LICENSE", "README.md", "bunfig.toml", "dist", "docs"],
      ...["node_modules", "package.json", "src", "tsconfig.json"],
    ]);
    const packages = readdirSync(join(packageFolder, "node_modules"), { recursive: true })
      .map(String)
      .filter((path) => /^(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path))
      .map((path) => JSON.parse(readFileSync(join(packageFolder, "node_modules", path), "utf8")));
    expect(packages.length).toBeGreaterThan(20);
    const scripted = packages.filter(({ scripts = {} }) =>
      ["preinstall", "install", "postinstall"].some((name) => name in scripts),
    );
    expect(scripted.map(({ name }) => name)).toEqual(["bun"]);
  });

  test("D-10.1 with its packages it takes less than 120 MB but for Bun", async () => {
    expect(await sizeWithoutBun(installed)).toBeLessThan(120_000_000);
  });
});

const TYPED = `import { createSyncClient, type PullPage } from "repsync/client";
import { createLookupClient, type Reputation } from "repsync/lookups";
const client = createSyncClient({ baseUrl: "https://sync.example", key: "k" });
const page: Promise<{ readonly page: PullPage }> = client.pullPage("t", { since: "2026-01-01" });
const lookups = createLookupClient({ baseUrl: "https://sync.example", key: "k" });
const found: Promise<Reputation> = lookups.reputation("ana");
// @ts-expect-error A key is text.
createSyncClient({ baseUrl: "https://sync.example", key: 1 });
export { found, page };
`;

/** What TypeScript says of a program that imports both clients, for a way to find modules. */
async function typesProblems(folder: string, module: string, resolution: string): Promise<string> {
  writeFileSync(join(folder, "typed.mts"), TYPED);
  const compilerOptions = {
    ...{ module, moduleResolution: resolution, strict: true, noEmit: true, types: [] },
    ...{ target: "es2022", lib: ["es2022", "dom"] },
  };
  const config = JSON.stringify({ compilerOptions, files: ["typed.mts"] });
  writeFileSync(join(folder, "tsconfig.json"), config);
  const tsc = join(ROOT, "node_modules", "typescript-5", "bin", "tsc");
  const { stdout } = await runProcess(["node", tsc], { folder });
  return stdout;
}
