// What programs and people do to the rows of live ends.
import { formatMs } from "../../../src/domain/shared/time.ts";
import { STAMP_NOW } from "../../../src/domain/sync/rows/row-time.ts";
import type { Row } from "../../../src/domain/sync/table/table.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import type { Ledger, Version } from "./ledger.ts";
import type { LiveEnd } from "./live-end.ts";
import { type Act, type LiveScenario, SCALE } from "./live-scenario.ts";

/** Times further ahead rank below all others. */
const AHEAD_MS = 300_000;
/** Texts that are longer are refused by ends that do not take them yet. */
export const MAX_ACCEPTED_CHARS = 12;

export class LiveWriters {
  readonly #random: SeededRandom;
  readonly #scenario: LiveScenario;
  readonly #ends: readonly LiveEnd[];
  readonly #ledger: Ledger;
  readonly #stampsNow: boolean;
  readonly #secondMs: number;
  #writes = 0;

  constructor(
    random: SeededRandom,
    world: {
      scenario: LiveScenario;
      ends: readonly LiveEnd[];
      ledger: Ledger;
      stampsNow: boolean;
    },
  ) {
    this.#random = random;
    this.#scenario = world.scenario;
    this.#ends = world.ends;
    this.#ledger = world.ledger;
    this.#stampsNow = world.stampsNow;
    this.#secondMs = 1_000 * SCALE[world.scenario.timeType];
  }

  /** Does something at any end. */
  async act(): Promise<void> {
    const { owner } = this.#scenario;
    const end = this.#random.pick(
      this.#ends.filter(({ name }) => owner === null || name === owner),
    );
    const act = this.#pickAct(end);
    const rows = await end.rows();
    if (act === "delete") return this.#delete(end, rows);
    const known = rows.map((row) => String(row["k"]));
    const isNew = known.length === 0 || act === "new" || act === "late" || act === "refused";
    const k = isNew ? `k${this.#random.int(1, this.#scenario.keys)}` : this.#random.pick(known);
    await this.#write(end, act, k);
  }

  #pickAct(end: LiveEnd): Act {
    const { acts: all, topology, deletes } = this.#scenario;
    // What a foreign remote's own writers put late, nobody can know of.
    const isForeign = topology === "foreign pair" && end.name === "B";
    const acts = (Object.entries(all) as [Act, number][]).filter(([act]) =>
      isForeign ? act === "new" || act === "edit" : deletes || act !== "delete",
    );
    let left = this.#random.next() * acts.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [act, weight] of acts) {
      left -= weight;
      if (left < 0) return act;
    }
    return "edit";
  }

  async #write(end: LiveEnd, act: Act, k: string): Promise<void> {
    const atMs = this.#timeOf(act, end.clock.nowMs());
    const at = atMs === null ? null : this.#timeText(act, atMs);
    const long = act === "refused" ? "-too-long-for-some" : "";
    const v = `${end.name}${++this.#writes}${long}`;
    if (!end.takes(v)) return;
    const before = await end.row(k);
    if (this.#scenario.stamped) return this.#writeStamped(end, act, { k, v, before });
    // A foreign remote tells of no row that it keeps, so nobody puts an old version over a new one there.
    const isForeign = this.#scenario.topology === "foreign pair";
    const isGuarded =
      act === "guarded" || (before !== null && (act === "late" || (isForeign && at !== null)));
    const version = { at, v, notes: end.hasNotes ? `of ${v}` : null };
    const row: Row = { k, v, at, ...(end.hasNotes ? { notes: version.notes } : {}) };
    if (!(await end.write(row, isGuarded ? { conflict: "newer" } : {}))) return;
    const nows = this.#ends.flatMap(({ clock, storeClock }) => [clock.nowMs(), storeClock.nowMs()]);
    const isAhead = at !== null && Date.parse(at) > Math.min(...nows) + AHEAD_MS;
    this.#ledger.wrote(k, version, { before: before && versionOf(before), isAhead });
  }

  /** A row without a time, of a file where it is late and new. */
  async #writeStamped(
    end: LiveEnd,
    act: Act,
    { k, v, before }: { readonly k: string; readonly v: string; readonly before: Row | null },
  ): Promise<void> {
    const nowMs = end.clock.nowMs();
    const fileMs = Math.floor(nowMs - this.#random.int(100, 5_000) * this.#secondMs);
    const isOfFile = act === "late" && before === null;
    const stamps = isOfFile ? { fileTime: formatMs(fileMs), restores: false } : STAMP_NOW;
    const notes = end.hasNotes ? `of ${v}` : null;
    const at = this.#stampsNow ? formatMs(Math.floor(nowMs)) : null;
    const row: Row = { k, v, at, ...(notes === null ? {} : { notes }) };
    if (!(await end.write(row, { stamps }))) return;
    const written = await end.row(k);
    if (written?.["v"] !== v) throw new Error(`${v} was replaced before it was seen`);
    const seen = { before: before && versionOf(before), isAhead: false };
    this.#ledger.wrote(k, { ...versionOf(written), notes }, seen);
  }

  /** Null for a row without a time. */
  #timeOf(act: Act, nowMs: number): number | null {
    const random = this.#random;
    const secondMs = this.#secondMs;
    const coarseMs = this.#scenario.coarseSeconds * secondMs;
    switch (act) {
      case "late":
      case "old version":
        return nowMs - random.int(100, 5_000) * secondMs;
      case "guarded":
        return nowMs - random.int(0, 3_000) * secondMs;
      case "coarse":
        return Math.floor(nowMs / coarseMs) * coarseMs;
      case "ahead":
        return nowMs + random.pick([100, 5_000]) * secondMs;
      case "timeless":
        return null;
      default:
        return nowMs;
    }
  }

  /** With microseconds, so that only coarse times are equal. */
  #timeText(act: Act, atMs: number): string {
    if (this.#scenario.timeType === "date") return formatMs(atMs).slice(0, 10);
    if (act === "coarse") return formatMs(atMs);
    const micros = String(this.#random.int(1, 999)).padStart(3, "0");
    return `${new Date(Math.floor(atMs)).toISOString().slice(0, -1)}${micros}Z`;
  }

  async #delete(end: LiveEnd, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const row = this.#random.pick(rows);
    if (!(await end.remove(String(row["k"])))) return;
    this.#ledger.deleted(String(row["k"]), deletionTime(versionOf(row).at, end.storeClock.nowMs()));
  }
}

export function versionOf(row: Row): Version {
  const at = row["at"];
  const notes = row["notes"];
  return {
    at: typeof at === "string" ? at : null,
    v: String(row["v"]),
    notes: typeof notes === "string" ? notes : null,
  };
}

/** Now, or 1 µs after the row where that is later and not too far ahead. D-7.6. */
function deletionTime(at: string | null, nowMs: number): string {
  const now = formatMs(Math.floor(nowMs));
  if (at === null || Date.parse(at) > nowMs + AHEAD_MS) return now;
  const micros = BigInt(Date.parse(at)) * 1000n + BigInt(/\.\d{3}(\d{3})Z$/.exec(at)?.[1] ?? 0);
  if (micros < BigInt(Math.floor(nowMs)) * 1000n) return now;
  const [ms, rest] = [Number((micros + 1n) / 1000n), Number((micros + 1n) % 1000n)];
  return `${new Date(ms).toISOString().slice(0, -1)}${String(rest).padStart(3, "0")}Z`;
}
