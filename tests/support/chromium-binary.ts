// Finds a Chromium for the tests. Nothing is fetched: on Debian it is `apt-get install chromium-headless-shell`.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The shell without a window takes two fifths of the processor time. */
const NAMES = [
  "chromium-headless-shell",
  ...["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"],
];

/** The path of `CHROMIUM_BINARY`, or of the first browser on the PATH; or why there is none. */
export function findChromium(): { readonly path: string } | { readonly reason: string } {
  const named = process.env["CHROMIUM_BINARY"];
  if (named) {
    if (isProgram(named)) return { path: named };
    return { reason: `CHROMIUM_BINARY is "${named}", which cannot be run` };
  }
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter(Boolean);
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  const path = paths.find(isProgram);
  return path === undefined ? { reason: `none of ${NAMES.join(", ")} is on the PATH` } : { path };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
