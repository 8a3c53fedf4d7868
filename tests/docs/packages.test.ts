// What the project is made of: one language, one lock file, and the packages that both files name.
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../.ci/setup.mjs";

const LOCK_FILE =
  /^(bun\.lockb?|.*lock\.json|.*shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|deno\.lock)$/;

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
const wanted = { ...manifest.dependencies, ...manifest.devDependencies };

describe("the project", () => {
  test("D-1.1 bun.lock is the only lock file that is kept", () => {
    const ignored = readFileSync(join(ROOT, ".gitignore"), "utf8").split("\n");
    const kept = readdirSync(ROOT).filter((name) => !ignored.includes(name));
    expect(kept.filter((name) => LOCK_FILE.test(name))).toEqual(["bun.lock"]);
  });

  test("D-1.1 package.json names exact versions, and bun.lock has the same", () => {
    const lock = readFileSync(join(ROOT, "bun.lock"), "utf8");
    const wrong = Object.entries(wanted).filter(([name, wish]) => {
      // `npm:package@version` is a package under another name.
      const [, packageName = name, version = wish] = /^npm:(.+)@(.+)$/.exec(wish) ?? [];
      const isExact = /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version);
      return !isExact || !lock.includes(`"${name}": ["${packageName}@${version}",`);
    });
    expect(Object.keys(wanted).length).toBeGreaterThan(10);
    expect(wrong).toEqual([]);
  });

  test("D-1.1 all of the service is TypeScript", () => {
    const files = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true });
    const others = files.filter((entry) => entry.isFile() && !/\.tsx?$/.test(entry.name));
    // The console has style sheets, and the configuration of its compiler. Node starts Bun.
    expect(
      others
        .map(({ name }) => name)
        .filter((name) => !/^(.*\.css|tsconfig\.json|bin\.mjs)$/.test(name)),
    ).toEqual([]);
  });
});
