import { readFile } from "node:fs/promises";
import type { DocsAssets } from "../../ports/http/http-server.ts";

const FOLDER = new URL("../../../dist/swagger-ui/", import.meta.url);

/** Reads what the set-up copied from the package `swagger-ui-dist`. */
export class InstalledAssets implements DocsAssets {
  async read(name: string): Promise<Uint8Array<ArrayBuffer>> {
    return await readFile(new URL(name, FOLDER));
  }
}
