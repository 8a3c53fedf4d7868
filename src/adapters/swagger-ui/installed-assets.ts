import { readFile } from "node:fs/promises";
import type { DocsAssets } from "../../ports/http/http-server.ts";

/** Reads from the installed `swagger-ui-dist` package. */
export class InstalledAssets implements DocsAssets {
  async read(name: string): Promise<Uint8Array<ArrayBuffer>> {
    return await readFile(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)));
  }
}
