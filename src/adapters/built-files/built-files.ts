// The files in `dist`: the console, and the assets of the interface's page.
import { readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import type { BuiltConsole, ConsoleFile, ConsoleFiles, DocsAssets } from "../../ports/http/http.ts";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** `console.json`, which the build writes last. */
interface Manifest {
  readonly script: string;
  readonly style: string;
  /** Script and style, and the files that the script loads later. */
  readonly files: readonly string[];
  readonly pages: readonly string[];
}

const CONSOLE = new URL("../../../dist/console/", import.meta.url);
const ASSETS = new URL("../../../dist/swagger-ui/", import.meta.url);

/** Reads the built console, and keeps it until the next build. */
export class BuiltConsoleFiles implements ConsoleFiles {
  #kept: { readonly builtAtMs: number; readonly built: BuiltConsole } | null = null;

  async read(): Promise<BuiltConsole | null> {
    const manifest = new URL("console.json", CONSOLE);
    const builtAtMs = await stat(manifest).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
    if (builtAtMs === null) return null;
    if (this.#kept?.builtAtMs === builtAtMs) return this.#kept.built;
    const { files, ...names } = JSON.parse(await readFile(manifest, "utf8")) as Manifest;
    const built = { ...names, files: new Map(await Promise.all(files.map(readBuilt))) };
    this.#kept = { builtAtMs, built };
    return built;
  }
}

async function readBuilt(name: string): Promise<readonly [string, ConsoleFile]> {
  const [bytes, gzip] = await Promise.all([
    readFile(new URL(name, CONSOLE)),
    readFile(new URL(`${name}.gz`, CONSOLE)),
  ]);
  const contentType = CONTENT_TYPES[extname(name)] ?? "application/octet-stream";
  return [name, { contentType, bytes, gzip }];
}

/** Assets that the set-up copied from the package `swagger-ui-dist`. */
export class InstalledAssets implements DocsAssets {
  async read(name: string): Promise<Uint8Array<ArrayBuffer>> {
    return await readFile(new URL(name, ASSETS));
  }
}
