// docs/openapi.json is what a deployment publishes, and the types of the console are made from it.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildInterfaceTypes } from "../../.ci/build-interface-types.mjs";
import { BUN, ROOT } from "../../.ci/setup.mjs";
import { releaseResources } from "../http/support/resources.ts";
import { startApp } from "../http/support/sync-app.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

const FILE = join(ROOT, "docs/openapi.json");
const TYPES = join(ROOT, "dist/interface.d.ts");
/** With sync disabled the document names no tables of a registry. */
const NO_TABLES = { SYNC_ENABLED: "false" };

async function published(): Promise<string> {
  const { url } = await startApp({ env: NO_TABLES });
  return await (await fetch(`${url}/swagger/json`)).text();
}

/** `UPDATE_DOCS=1 npm test tests/docs` writes both; the formatter then has its way with the document. */
if (process.env.UPDATE_DOCS === "1") {
  const document = await published();
  writeFileSync(FILE, `${JSON.stringify(JSON.parse(document), null, 2)}\n`);
  await makeTypes();
  await releaseResources();
}

test("D-10.10 docs/openapi.json is what is served; UPDATE_DOCS=1 writes it anew", async () => {
  const document = JSON.parse(await published()) as unknown;
  expect(JSON.parse(readFileSync(FILE, "utf8"))).toEqual(document);
});

test("D-10.10 the set-up makes the types of the console from docs/openapi.json", () => {
  const document = JSON.parse(readFileSync(FILE, "utf8")) as { readonly paths: object };
  const made = readFileSync(TYPES, "utf8");
  for (const path of Object.keys(document.paths)) expect(made).toContain(`    "${path}": {`);
});

async function makeTypes(): Promise<void> {
  const say = () => {};
  await buildInterfaceTypes({ root: ROOT, bun: BUN, force: false, say });
}
