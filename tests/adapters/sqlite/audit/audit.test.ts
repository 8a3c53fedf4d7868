// D-6.5 on the file itself: every change of it is found. tests/e2e/reputation/reputation-audit.test.ts kills whole services.
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { verifyAudit } from "../../../../src/usecases/reputation/audit/verify-audit.ts";
import {
  AUDIT_KEY,
  MAC,
  openParts,
  type ReputationParts,
  realScene,
  wordOf,
} from "../../../contract/lookups/reputation-harness.ts";
import { auditRecords } from "../../../support/audit-views.ts";
import { failureOf } from "../../../support/failures.ts";
import { remembering } from "../../../support/value-caches.ts";
import { SqliteFile } from "../support.ts";

const verify = ({ audit }: ReputationParts) =>
  verifyAudit({ audit, mac: MAC, auditKey: AUDIT_KEY });

describe("SQLite: the audit log verifies", () => {
  test("D-6.5 a byte that is changed in the file itself, in any record, is found and named", () =>
    SqliteFile.use(async (file) => {
      const parts = await openParts(await file.open(), remembering);
      const scene = realScene(parts);
      await scene.enrol("ana");
      const { hash } = await scene.giveKey("ana");
      for (let i = 0; i < 5; i++) await scene.lookUp(hash, "ana");
      const records = await auditRecords(parts.audit);
      await parts.storage.close();
      const bytes = readFileSync(file.path);
      for (const { chainId, seq, requestId } of records) {
        const harmed = Buffer.from(bytes);
        const at = harmed.indexOf(String(requestId));
        expect(at).toBeGreaterThan(0);
        harmed[at] = "q".charCodeAt(0);
        writeFileSync(file.path, harmed);
        const again = await openParts(await file.open(), remembering);
        const { problem } = await verify(again);
        expect(problem).toMatchObject({ kind: "changed", chainId, seq: Number(seq) });
        await again.storage.close();
      }
      writeFileSync(file.path, bytes);
      const restored = await openParts(await file.open(), remembering);
      expect(await verify(restored)).toEqual({ problem: null, chains: 1, records: 5 });
      await restored.storage.close();
    }));

  test("D-6.1, D-6.3 a file that is restored from a copy gives nobody the consents that it lost", () =>
    SqliteFile.use(async (file) => {
      const parts = await openParts(await file.open(), remembering);
      const scene = realScene(parts);
      await scene.enrol("ana");
      const { hash } = await scene.giveKey("ana");
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("consent_required");
      const tool = file.openElsewhere();
      const tables = tool
        .query<{ name: string }, []>(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        )
        .all()
        .map(({ name }) => name);
      for (const name of tables)
        tool.run(`CREATE TABLE "copy of ${name}" AS SELECT * FROM "${name}"`);
      await scene.consent("ana");
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
      for (const name of tables.toSorted(
        (a, b) => Number(a === "repsync_versions") - Number(b === "repsync_versions"),
      )) {
        const columns = tool
          .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
          .all(name)
          .map((column) => `"${column.name}"`)
          .join(", ");
        tool.run(`DELETE FROM "${name}"`);
        tool.run(`INSERT INTO "${name}" (${columns}) SELECT ${columns} FROM "copy of ${name}"`);
      }
      // Another change brings the versions to where they were when the consent was remembered.
      tool.run("UPDATE repsync_versions SET version = version + 1");
      expect(await failureOf(scene.lookUp(hash, "ana"))).toMatchObject({ kind: "commit_failed" });
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("consent_required");
    }));
});
