// docs/operating.md says when each alert comes.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AlertType } from "../../src/domain/alerts/alert.ts";

/** The types; tsc asks for a new one. */
const TYPES: Readonly<Record<AlertType, true>> = {
  ...{ "run.failed": true, "run.partial": true, "records.rejected": true, "drift.found": true },
  ...{ "quota.80": true, "quota.100": true, "key.revoked": true, "key.rotated": true },
  ...{ "backup.failed": true, "store.damaged": true },
};

test("docs/operating.md: the table of alerts has every type, and no other", () => {
  const document = readFileSync(join(import.meta.dir, "../../docs/operating.md"), "utf8");
  const [, table = ""] = /^\| type \| when \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(document) ?? [];
  const types = table
    .trimEnd()
    .split("\n")
    .flatMap((line) => [...(line.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g)])
    .map(([, type = ""]) => type);
  expect(types.sort()).toEqual(Object.keys(TYPES).sort());
});
