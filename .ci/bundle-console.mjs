// bun .ci/bundle-console.mjs <hash of inputs> [--clean]: bundles the console into dist/console.
import * as fs from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { PAGES } from "../src/console/pages/pages.tsx";

/** Files of earlier builds stay for a while: another process may still name them. A package has none. */
const KEPT_MS = process.argv.includes("--clean") ? 0 : 600_000;

const root = join(import.meta.dir, "..");
const source = join(root, "src", "console");
const target = join(root, "dist", "console");

const { outputs } = await Bun.build({
  entrypoints: [join(source, "main.tsx"), join(source, "styles", "console.css")],
  target: "browser",
  format: "esm",
  minify: true,
  // Pages that are loaded when they are opened.
  splitting: true,
  naming: "[name]-[hash].[ext]",
  define: { "process.env.NODE_ENV": '"production"' },
});

fs.mkdirSync(target, { recursive: true });
const names = [];
for (const output of outputs) {
  const name = basename(output.path);
  const bytes = new Uint8Array(await output.arrayBuffer());
  write(name, bytes);
  write(`${name}.gz`, gzipSync(bytes, { level: 9 }));
  names.push(name);
}
const built = {
  inputs: process.argv[2] ?? "",
  script: names.find((name) => name.startsWith("main-")),
  style: names.find((name) => name.endsWith(".css")),
  files: names,
  pages: PAGES.flatMap(({ address, below }) => [address, ...below]),
};
write("console.json", JSON.stringify(built));
removeOld();

/** By a rename, so that nobody reads half a file. */
function write(name, content) {
  const draft = join(target, `.${name}-${process.pid}`);
  fs.writeFileSync(draft, content);
  fs.renameSync(draft, join(target, name));
}

function removeOld() {
  const current = new Set(["console.json", ...names.flatMap((name) => [name, `${name}.gz`])]);
  for (const name of fs.readdirSync(target).filter((name) => !current.has(name))) {
    const file = join(target, name);
    const changedMs = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changedMs >= KEPT_MS) fs.rmSync(file, { force: true });
  }
}
