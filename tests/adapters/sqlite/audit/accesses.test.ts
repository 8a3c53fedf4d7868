// D-5.5 on the file itself: a person's accesses are found in logs of more than one segment, whichever process wrote them.
import { describe, expect, test } from "bun:test";
import type { AccessPosition } from "../../../../src/ports/lookups/audit-log.ts";
import { openParts, Scene } from "../../../contract/lookups/reputation-harness.ts";
import { remembering } from "../reputation-support.ts";
import { SqliteFile } from "../support.ts";

const PEOPLE = ["ana", "bea", "cyd"] as const;
const BATCH_CALLS = 500;
const DAY_MS = 86_400_000;

/** What another tool finds for a person: the ids of their accesses, newest first. */
interface Found {
  readonly id: string;
}

/** A service on the file whose clock a test moves. */
async function openScene(file: SqliteFile, clock: { ms: number }) {
  const nowMs = () => clock.ms;
  const parts = await openParts(
    await file.open({ clock: { nowMs, monotonicMs: nowMs } }),
    remembering,
  );
  const scene = new Scene(parts, {
    storage: parts,
    nowMs,
    advance: async () => {},
    dispose: async () => {},
  });
  return { parts, scene };
}

/** The first service on the file, all people, and a key of one of them. */
async function setScene(file: SqliteFile) {
  const clock = { ms: Date.UTC(2026, 2, 1) };
  const { parts, scene } = await openScene(file, clock);
  for (const name of PEOPLE)
    await scene.enrol(name, { plan: "enterprise", rateLimitPerMinute: 10 ** 9 });
  const { hash } = await scene.giveKey("ana");
  return { clock, parts, scene, hash };
}

/** Looks people up in turns: the first of them at most of the time. */
async function lookUpMany(
  scene: Scene,
  hash: string,
  of: { calls: number; clock: { ms: number } },
) {
  for (let done = 0; done < of.calls; done += BATCH_CALLS) {
    const calls = Array.from({ length: BATCH_CALLS }, (_, i) => ({
      keyHash: hash,
      username: PEOPLE[i % 100 === 0 ? 1 : i === 250 ? 2 : 0] ?? "",
    }));
    await scene.lookUpMany(calls);
    of.clock.ms += 1_000;
  }
}

describe("SQLite: accesses of a long log", () => {
  test("D-5.5 every access is shown once, newest first, over segments, processes and a clock set back", () =>
    SqliteFile.use(async (file) => {
      const { clock, parts, scene, hash } = await setScene(file);
      await lookUpMany(scene, hash, { calls: 9_000, clock });
      clock.ms -= 5_500;
      await lookUpMany(scene, hash, { calls: 9_000, clock });
      const other = await openScene(file, clock);
      await lookUpMany(other.scene, hash, { calls: 1_000, clock });
      await lookUpMany(scene, hash, { calls: 500, clock });

      const tool = file.openElsewhere();
      expect(tool.query("SELECT count(*) AS n FROM repsync_audit_segments").get()).toEqual({
        n: 5,
      });
      for (const [name, count] of [
        ["bea", 195],
        ["cyd", 39],
      ] as const) {
        const pages: string[] = [];
        let before: AccessPosition | null = null;
        for (;;) {
          const items = await parts.audit.accessLog(name, { limit: 7, before });
          pages.push(...items.map(({ id }) => id));
          const last = items.at(-1);
          if (last === undefined) break;
          before = last;
        }
        const subject = tool
          .query<{ hmac: string }, [string]>(
            `SELECT subject_hmac AS hmac FROM repsync_audit GROUP BY 1
             HAVING count(*) = ? LIMIT 1`,
          )
          .get(count as never);
        const expected = tool
          .query<Found, [string]>(
            `SELECT chain_id || '-' || seq AS id FROM repsync_audit WHERE subject_hmac = ?
             ORDER BY at DESC, chain_id DESC, seq DESC`,
          )
          .all(subject?.hmac ?? "");
        expect(expected.length).toBe(count);
        expect(pages).toEqual(expected.map(({ id }) => id));
      }
    }));

  test("D-5.5 accesses of the same moment come in the order of their chains, wherever they are listed", () =>
    SqliteFile.use(async (file) => {
      const { clock, parts, hash } = await setScene(file);
      const idsOf = async (limit: number) =>
        (await parts.audit.accessLog("bea", { limit, before: null })).map(({ id }) => id);
      let ids: string[] = [];
      let newest: string | undefined;
      // The newest chain is in no segment yet, and searched first: here its record is not the first in order.
      do {
        await (await openScene(file, clock)).scene.lookUp(hash, "bea");
        const all = await idsOf(100);
        newest = all.find((id) => !ids.includes(id));
        ids = all;
      } while (ids[0] === newest);
      expect(ids).toEqual(ids.toSorted().reverse());
      expect(await idsOf(1)).toEqual(ids.slice(0, 1));
    }));

  test("D-1.3 pruned accesses are gone, and those behind them are still found", () =>
    SqliteFile.use(async (file) => {
      const { clock, parts, scene, hash } = await setScene(file);
      await lookUpMany(scene, hash, { calls: 17_000, clock });
      clock.ms += DAY_MS;
      await lookUpMany(scene, hash, { calls: 500, clock });
      const [head] = await parts.audit.heads();
      const chainId = head?.statement.chainId ?? "";
      const checkpoint = { chainId, seq: 17_000, hash: "h", at: "2026-03-02T00:00:00.000Z" };
      await parts.audit.prune({ statement: checkpoint, signature: "s" });
      const page = { limit: 100, before: null };
      expect((await parts.audit.accessLog("bea", page)).length).toBe(5);
      expect((await parts.audit.accessLog("cyd", page)).length).toBe(1);
      const tool = file.openElsewhere();
      const places = "SELECT count(*) AS n, min(seq) AS first FROM repsync_audit_segment_records";
      // Listed up to 17,408, the end of the seventeenth slice.
      expect(tool.query(places).get()).toEqual({ n: 408, first: 17_001 });
      await lookUpMany(scene, hash, { calls: 9_000, clock });
      expect((await parts.audit.accessLog("cyd", page)).length).toBe(19);
    }));
});
