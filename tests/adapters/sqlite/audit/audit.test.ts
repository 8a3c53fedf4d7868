// D-6.5 on the file itself: every change of it is found. tests/e2e/reputation-audit.test.ts kills whole services.
import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { verifyAudit } from "../../../../src/usecases/reputation/audit/verify-audit.ts";
import {
  AUDIT_KEY,
  MAC,
  openParts,
  type ReputationParts,
  Scene,
  wordOf,
} from "../../../contract/lookups/reputation-harness.ts";
import { remembering } from "../reputation-support.ts";
import { failureOf, SqliteFile } from "../support.ts";

const TIME = { nowMs: () => Date.now(), advance: async () => {}, dispose: async () => {} };

/** A log of two chains, three and four records, with copies of its tables to restore it from. */
async function withLog(body: (parts: ReputationParts, tool: Database) => Promise<void>) {
  await SqliteFile.use(async (file) => {
    const parts = await openParts(await file.open(), remembering);
    const scene = new Scene(parts, { storage: parts, ...TIME });
    await scene.enrol("ana");
    await scene.consent("ana");
    const { hash } = await scene.giveKey("ana");
    for (const name of ["ana", "nobody", "ana"]) await scene.lookUp(hash, name);
    const other = await openParts(await file.open(), remembering);
    const second = new Scene(other, { storage: other, ...TIME });
    for (const name of ["ana", "x", "ana", "ana"]) await second.lookUp(hash, name);
    const tool = file.openElsewhere();
    // What the tests undo again need not come to the disk.
    tool.run("PRAGMA synchronous = OFF");
    for (const table of ["repsync_audit", "repsync_audit_heads", "repsync_audit_chain_count"]) {
      tool.run(`CREATE TABLE copy_of_${table} AS SELECT * FROM ${table}`);
    }
    await body(parts, tool);
  });
}

function restore(tool: Database) {
  for (const table of ["repsync_audit", "repsync_audit_heads", "repsync_audit_chain_count"]) {
    tool.run(`DELETE FROM ${table}`);
    tool.run(`INSERT INTO ${table} SELECT * FROM copy_of_${table}`);
  }
}

const LOG_REMOVED = "The log was begun, and all of it is gone";
const verify = ({ audit }: ReputationParts) =>
  verifyAudit({ audit, mac: MAC, auditKey: AUDIT_KEY });

describe("SQLite: the audit log verifies", () => {
  test("D-6.5 no field of any record or head can be changed unseen", () =>
    withLog(async (parts, tool) => {
      expect(await verify(parts)).toEqual({ problem: null, chains: 2, records: 7 });
      const places = tool
        .query<{ chain_id: string; seq: number }, []>("SELECT chain_id, seq FROM repsync_audit")
        .all();
      const columnsOf = (table: string) =>
        tool.query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)").all(table);
      let changes = 0;
      for (const { chain_id, seq } of places) {
        for (const { name } of columnsOf("repsync_audit")) {
          const where = `WHERE chain_id = '${chain_id}' AND seq = ${seq}`;
          for (const value of [`coalesce(${name}, '') || '0'`, `coalesce(${name}, 0) + 100`]) {
            tool.run(`UPDATE repsync_audit SET ${name} = ${value} ${where}`);
            const { problem } = await verify(parts);
            expect([name, seq, problem === null]).toEqual([name, seq, false]);
            if (!["chain_id", "seq"].includes(name)) {
              expect([problem?.chainId, problem?.seq]).toEqual([chain_id, seq]);
            }
            restore(tool);
            changes++;
          }
        }
      }
      for (const { name } of columnsOf("repsync_audit_heads")) {
        tool.run(`UPDATE repsync_audit_heads SET ${name} = ${name} || '0' WHERE chain_number = 2`);
        expect([name, (await verify(parts)).problem === null]).toEqual([name, false]);
        restore(tool);
      }
      tool.run("UPDATE repsync_audit_chain_count SET chains = 1");
      expect((await verify(parts)).problem).toMatchObject({ kind: "head" });
      tool.run("DELETE FROM repsync_audit_chain_count");
      expect((await verify(parts)).problem).toMatchObject({ kind: "head" });
      restore(tool);
      expect(changes).toBe(7 * 16 * 2);
      expect((await verify(parts)).problem).toBeNull();
    }));

  test("D-6.5, D-8.9 removed records are missed: any one, the last ones, all of a chain, all", () =>
    withLog(async (parts, tool) => {
      const heads = (await parts.audit.heads()).map(({ statement }) => statement);
      for (const { chainId, seq } of heads) {
        for (let gone = 1; gone <= seq; gone++) {
          tool.run("DELETE FROM repsync_audit WHERE chain_id = ? AND seq = ?", [chainId, gone]);
          expect((await verify(parts)).problem).toMatchObject({
            kind: "missing",
            chainId,
            seq: gone,
          });
          restore(tool);
          tool.run("DELETE FROM repsync_audit WHERE chain_id = ? AND seq >= ?", [chainId, gone]);
          expect((await verify(parts)).problem).toMatchObject({
            kind: "missing",
            chainId,
            seq: gone,
          });
          restore(tool);
        }
        tool.run("DELETE FROM repsync_audit WHERE chain_id = ?", [chainId]);
        tool.run("DELETE FROM repsync_audit_heads WHERE chain_id = ?", [chainId]);
        expect((await verify(parts)).problem).not.toBeNull();
        restore(tool);
      }
      tool.run("DELETE FROM repsync_audit");
      expect((await verify(parts)).problem).toMatchObject({ kind: "missing", seq: 1 });
      tool.run("DELETE FROM repsync_audit_heads");
      expect((await verify(parts)).problem).not.toBeNull();
      tool.run("DELETE FROM repsync_audit_chain_count");
      expect((await verify(parts)).problem?.message).toBe(LOG_REMOVED);
      restore(tool);
    }));

  test("D-6.5 the last chain, removed whole, is missed also when another one has begun since", () =>
    SqliteFile.use(async (file) => {
      const parts = await openParts(await file.open(), remembering);
      const scene = new Scene(parts, { storage: parts, ...TIME });
      await scene.enrol("ana");
      const { hash } = await scene.giveKey("ana");
      await scene.lookUp(hash, "x");
      const lookUpElsewhere = async () => {
        const other = await openParts(await file.open(), remembering);
        await new Scene(other, { storage: other, ...TIME }).lookUp(hash, "x");
      };
      await lookUpElsewhere();
      const tool = file.openElsewhere();
      const last = "(SELECT chain_id FROM repsync_audit_heads WHERE chain_number = 2)";
      tool.run(`DELETE FROM repsync_audit WHERE chain_id = ${last}`);
      tool.run("DELETE FROM repsync_audit_heads WHERE chain_number = 2");
      await lookUpElsewhere();
      expect((await verify(parts)).problem).toMatchObject({
        kind: "head",
        message: expect.stringContaining("the head of chain number 2, before it, is gone"),
      });
    }));

  test("D-6.5 records that changed places and records that were added are found", () =>
    withLog(async (parts, tool) => {
      const [head] = (await parts.audit.heads()).map(({ statement }) => statement);
      const chain = head?.chainId ?? "";
      const move = (from: number, to: number) =>
        tool.run("UPDATE repsync_audit SET seq = ? WHERE chain_id = ? AND seq = ?", [
          to,
          chain,
          from,
        ]);
      for (const [a, b] of [
        [1, 2],
        [2, 3],
        [1, 3],
      ] as const) {
        move(a, 99);
        move(b, a);
        move(99, b);
        expect((await verify(parts)).problem).toMatchObject({ kind: "changed", seq: a });
        restore(tool);
      }
      tool.run(`INSERT INTO repsync_audit SELECT chain_id, ${(head?.seq ?? 0) + 1}, version, at, request_id,
        account_id, key_id, endpoint, purpose, subject_hmac, consent_id, decision, code, status,
        previous_hash, hash FROM repsync_audit WHERE chain_id = '${chain}' AND seq = 1`);
      expect((await verify(parts)).problem).not.toBeNull();
      restore(tool);
      for (const place of [0, -7]) {
        for (const id of [chain, "another"]) {
          tool.run(
            `INSERT INTO repsync_audit SELECT ?, ?, version, at, request_id,
            account_id, key_id, endpoint, purpose, subject_hmac, consent_id, decision, code, status,
            previous_hash, hash FROM repsync_audit WHERE chain_id = '${chain}' AND seq = 2`,
            [id, place],
          );
          const { problem } = await verify(parts);
          expect([place, id, problem?.chainId]).toEqual([place, id, id]);
          restore(tool);
        }
      }
    }));

  test("D-6.5, D-5.8 a lookup whose record cannot be written is not answered, and does not count", () =>
    withLog(async (parts, tool) => {
      const limits = { callsPerMinute: 30, callsPerMonth: null };
      const before = (await parts.usage.read("ana", limits)).reading.minuteCalls;
      const scene = new Scene(parts, { storage: parts, ...TIME });
      const { hash } = await scene.giveKey("ana", { id: "key-other", hash: "another hash" });
      tool.run("ALTER TABLE repsync_audit RENAME TO moved_away");
      expect(await failureOf(scene.lookUp(hash, "ana"))).toMatchObject({
        kind: "store_unavailable",
      });
      expect((await parts.usage.read("ana", limits)).reading.minuteCalls).toBe(before);
      tool.run("ALTER TABLE moved_away RENAME TO repsync_audit");
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
      expect(await verify(parts)).toMatchObject({ problem: null, records: 8 });
    }));

  test("D-6.5 a copy of the process that goes on with its chain is refused, and begins another", () =>
    withLog(async (parts, tool) => {
      const scene = new Scene(parts, { storage: parts, ...TIME });
      const { hash } = await scene.giveKey("ana", { id: "key-other", hash: "another hash" });
      tool.run("UPDATE repsync_audit_heads SET seq = seq + 1 WHERE chain_number = 1");
      expect(await failureOf(scene.lookUp(hash, "ana"))).toMatchObject({ kind: "commit_failed" });
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
      expect((await parts.audit.heads()).length).toBe(3);
    }));

  test("D-6.5 a byte that is changed in the file itself, in any record, is found and named", () =>
    SqliteFile.use(async (file) => {
      const parts = await openParts(await file.open(), remembering);
      const scene = new Scene(parts, { storage: parts, ...TIME });
      await scene.enrol("ana");
      const { hash } = await scene.giveKey("ana");
      for (let i = 0; i < 5; i++) await scene.lookUp(hash, "ana");
      const [chainId = ""] = await parts.audit.chainIds();
      const records = await parts.audit.records(chainId, { afterSeq: null, limit: 10 });
      await parts.storage.close();
      const bytes = readFileSync(file.path);
      for (const { seq, requestId } of records) {
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

  test("D-6.5 a record that exists twice is found wherever it stands", () =>
    SqliteFile.use(async (file) => {
      const parts = await openParts(await file.open(), remembering);
      const scene = new Scene(parts, { storage: parts, ...TIME });
      await scene.enrol("ana", { plan: "enterprise", rateLimitPerMinute: 1_000_000 });
      const { hash } = await scene.giveKey("ana");
      const call = { keyHash: hash, username: "ana" };
      for (let i = 0; i < 21; i++) await scene.lookUpMany(Array(50).fill(call));
      const tool = file.openElsewhere();
      tool.run("ALTER TABLE repsync_audit RENAME TO keyed");
      for (const seq of [1, 999, 1_000, 1_001, 1_050]) {
        tool.run("CREATE TABLE repsync_audit AS SELECT * FROM keyed");
        tool.run("INSERT INTO repsync_audit SELECT * FROM keyed WHERE seq = ?", [seq]);
        expect([seq, (await verify(parts)).problem]).toMatchObject([seq, { kind: "forked", seq }]);
        tool.run("DROP TABLE repsync_audit");
      }
      tool.run("ALTER TABLE keyed RENAME TO repsync_audit");
      expect(await verify(parts)).toEqual({ problem: null, chains: 1, records: 1_050 });
    }));

  test("D-6.1, D-6.3 a file that is restored from a copy gives nobody the consents that it lost", () =>
    SqliteFile.use(async (file) => {
      const parts = await openParts(await file.open(), remembering);
      const scene = new Scene(parts, { storage: parts, ...TIME });
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
