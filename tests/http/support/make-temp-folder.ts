import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepResource } from "../../support/resources.ts";

/** A folder of the test's own, removed after it. */
export function makeTempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "repsync-http-"));
  keepResource(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
