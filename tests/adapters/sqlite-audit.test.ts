// D-6.5 on the file itself: every change of it is found, and no reply is ahead of its record.
import type { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { verifyAudit } from "../../src/usecases/reputation/verify-audit.ts";
import {
  AUDIT_KEY,
  MAC,
  openParts,
  type ReputationParts,
  Scene,
  wordOf,
} from "../contract/reputation/reputation-harness.ts";
import { SEED } from "../support/seed.ts";
import { remembering } from "./sqlite-reputation-support.ts";
import { failureOf, SqliteFile } from "./sqlite-support.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");
const children: Bun.Subprocess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

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
    for (const table of ["repsync_audit", "repsync_audit_heads", "repsync_audit_census"]) {
      tool.run(`CREATE TABLE copy_of_${table} AS SELECT * FROM ${table}`);
    }
    await body(parts, tool);
  });
}

function restore(tool: Database) {
  for (const table of ["repsync_audit", "repsync_audit_heads", "repsync_audit_census"]) {
    tool.run(`DELETE FROM ${table}`);
    tool.run(`INSERT INTO ${table} SELECT * FROM copy_of_${table}`);
  }
}

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
      tool.run("UPDATE repsync_audit_census SET chains = 1");
      expect((await verify(parts)).problem).toMatchObject({ kind: "head" });
      tool.run("DELETE FROM repsync_audit_census");
      expect((await verify(parts)).problem).toMatchObject({ kind: "head" });
      restore(tool);
      expect(changes).toBe(7 * 16 * 2);
      expect((await verify(parts)).problem).toBeNull();
    }));

  test("D-6.5 removed records are missed: any one, the last ones, all of a chain, all", () =>
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
      restore(tool);
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

  test(
    "D-6.5 every reply received before kill -9 has its record, and the log verifies",
    () =>
      SqliteFile.use(async (file) => {
        const random = (below: number) => Math.floor((((SEED * 7919) % 10_007) / 10_007) * below);
        for (let round = 0; round < 3; round++) {
          const received = await loadUntilKilled(file.path, 40 + random(400) + round * 300);
          const tool = file.openElsewhere();
          const rows = tool
            .query<{ id: string }, []>("SELECT request_id AS id FROM repsync_audit")
            .all();
          const kept = new Set(rows.map(({ id }) => id));
          expect(received.filter((id) => !kept.has(id))).toEqual([]);
          expect(received.length).toBeGreaterThan(0);
          const pepper = tool
            .query("SELECT secret FROM repsync_secrets WHERE name = 'api_key_pepper'")
            .get();
          const { secret } = pepper as { secret: string };
          const encoder = new TextEncoder();
          const auditKey = encoder.encode(
            MAC.hmacHex(encoder.encode(secret), "repsync.audit.key.v1"),
          );
          const parts = await openParts(await file.open(), remembering);
          const verdict = await verifyAudit({ audit: parts.audit, mac: MAC, auditKey });
          expect(verdict.problem).toBeNull();
          await parts.storage.close();
        }
      }),
    120_000,
  );
});

/** Starts the service, loads it, and kills it after so many replies. Gives the ids of the requests it answered. */
async function loadUntilKilled(path: string, replies: number): Promise<string[]> {
  const child = Bun.spawn([process.execPath, MAIN], {
    env: {
      PATH: process.env.PATH ?? "",
      STORAGE_URL: `sqlite:${path}`,
      PORT: "0",
      LOG_LEVEL: "silent",
      ADMIN_USERNAME: "root",
      ADMIN_PASSWORD: "correct horse",
    },
    stdout: "pipe",
    stderr: "ignore",
  });
  children.push(child);
  const reader = child.stdout.getReader();
  const line = new TextDecoder().decode((await reader.read()).value);
  const url = / is listening on (\S+)/.exec(line)?.[1] ?? "";
  const send = async (target: string, init: RequestInit) =>
    (await (await fetch(`${url}${target}`, init)).json()) as { data: Record<string, string> };
  const credentials = JSON.stringify({ username: "root", password: "correct horse" });
  const { data } = await send("/v1/sessions", { method: "POST", body: credentials });
  const headers = { Authorization: `Bearer ${data["token"]}` };
  const plan = JSON.stringify({ plan: "enterprise", rate_limit_per_minute: 1_000_000 });
  await send("/v1/admin/accounts/root/plan", { method: "PUT", body: plan, headers });
  const body = JSON.stringify({ name: "k" });
  const issued = await send("/v1/me/api-keys", { method: "POST", body, headers });
  const received: string[] = [];
  const caller = async () => {
    for (;;) {
      const id = crypto.randomUUID();
      const lookup = { "X-API-Key": issued.data["key"] ?? "", "X-Request-Id": id };
      const reply = await fetch(`${url}/v1/public/profiles/x`, { headers: lookup });
      if (reply.status !== 404) throw new Error(await reply.text());
      await reply.text();
      received.push(id);
      if (received.length >= replies) child.kill("SIGKILL");
    }
  };
  const callers = await Promise.allSettled(Array.from({ length: 16 }, caller));
  expect(callers.every(({ status }) => status === "rejected")).toBe(true);
  await child.exited;
  return received;
}
