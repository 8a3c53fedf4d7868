// Working copies of the project that can be measured: this one, and the one that `--beside` names.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** How to start the service of a working copy. */
export interface Checkout {
  readonly bun: string;
  readonly main: string;
}

/** This working copy, on the Bun that runs us. */
export const OURS: Checkout = {
  bun: process.execPath,
  main: fileURLToPath(new URL("../../src/main.ts", import.meta.url)),
};

/** The working copy in a folder, with its own packages and its own Bun. Throws when it has none. */
export function openCheckout(folder: string): Checkout {
  const root = resolve(folder);
  const checkout = { bun: join(root, "node_modules/.bin/bun"), main: join(root, "src/main.ts") };
  for (const path of [checkout.bun, checkout.main]) {
    if (!existsSync(path)) throw new Error(`--beside "${folder}": there is no ${path}`);
  }
  return checkout;
}
