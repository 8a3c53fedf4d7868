// A model of live ends by D-7.1, D-7.4, D-7.6 and, with `stamps`, D-14.2; it shares no code with the service. In each history
// ends write, edit, delete and import, disagree about the time, run in either direction, are interrupted, and write while a run
// is under way. Then all is quiet, and every end that has a remote runs `both` a few times: all ends must be equal then. Change a
// rule here before you change it in the service. Not modelled: pages, refusals, registries.
import { SeededRandom } from "../../support/seeded-random.ts";

import {
  AHEAD,
  BEGIN,
  FILE_TIME,
  FIRST_STAMP,
  isSame,
  LAG,
  LONG_AGO,
  ModelEnd,
  type ModelOptions,
  SECOND,
  type Version,
} from "./model-end.ts";

/** Who runs against whom. */
export const TOPOLOGIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  pair: { A: "B" },
  mutual: { A: "B", B: "A" },
  hub: { A: "H", B: "H" },
  "chain of pushes": { A: "B", B: "C" },
  "chain of pulls": { C: "B", B: "A" },
};

export class ModelWorld {
  readonly #random: SeededRandom;
  readonly #options: ModelOptions;
  readonly #remotes: Readonly<Record<string, string>>;
  readonly #ends: ReadonlyMap<string, ModelEnd>;
  /** Rows with which ends began. */
  readonly #begun: { readonly end: ModelEnd; readonly key: string; readonly version: Version }[] =
    [];
  /** By key, the latest version or delete, and keys of which two have one time. */
  readonly #newest = new Map<string, { readonly time: number; readonly content: number | null }>();
  readonly #ties = new Set<string>();
  /** Versions and deletes that a writer has seen and replaced: `key content`, `key deletedAt`. */
  readonly #replaced = new Set<string>();
  #now = BEGIN;
  #count = 0;
  #isQuiet = false;

  constructor(seed: number, topology: string, options: ModelOptions) {
    this.#random = new SeededRandom(seed);
    this.#options = options;
    this.#remotes = TOPOLOGIES[topology] ?? {};
    const names = [...new Set(Object.entries(this.#remotes).flat())].sort();
    const skew = (options.skew ?? 0) * SECOND;
    this.#ends = new Map(
      names.map((name) => [name, new ModelEnd(options, this.#random.int(-skew, skew))]),
    );
    for (const end of options.begun ? this.#ends.values() : []) {
      for (let k = 0; k < 8; k++) {
        const version = { time: FIRST_STAMP, content: ++this.#count };
        end.write(`k${k}`, version, BEGIN);
        this.#begun.push({ end, key: `k${k}`, version });
      }
    }
  }

  /** What went wrong, or null, and after how many rounds. */
  play(steps = 40): { readonly problem: string | null; readonly rounds: number } {
    const random = this.#random;
    for (let i = 0; i < steps; i++) {
      this.#now += random.pick([1, 1, 5, 30, 100, 400]) * SECOND;
      if (random.chance(0.6)) this.#act();
      else {
        const direction = random.pick(["push", "pull", "both", "both"] as const);
        this.#run(random.pick(Object.keys(this.#remotes)), direction, random.chance(0.05));
      }
    }
    this.#isQuiet = true;
    for (let rounds = 1; rounds <= 5; rounds++) {
      this.#now += 1_000 * SECOND;
      const names = Object.keys(this.#remotes);
      for (const name of [...names, ...names.toReversed()]) this.#run(name, "both", false);
      if (this.#areEqual()) return { problem: this.#lost(), rounds };
    }
    return { problem: "the ends differ", rounds: 5 };
  }

  #clock(end: ModelEnd): number {
    return this.#now + end.skew;
  }

  // Runs

  #isInterrupted(): boolean {
    return this.#options.crashes === true && !this.#isQuiet && this.#random.chance(0.03);
  }

  #meanwhile(): void {
    if (this.#options.meanwhile && !this.#isQuiet && this.#random.chance(0.1)) this.#act();
  }

  #sendTombstones(source: ModelEnd, from: number, target: ModelEnd): number {
    const to = source.feed.length;
    for (const { key, deletedAt } of source.feed.slice(from, to)) {
      if (source.tombstones.get(key) === deletedAt)
        target.bury(key, deletedAt, this.#clock(target));
    }
    return to;
  }

  #run(name: string, direction: "push" | "pull" | "both", isFull: boolean): void {
    const here = this.#end(name);
    const there = this.#end(this.#remotes[name] ?? "");
    if (isFull) Object.assign(here.markers, { push: LONG_AGO, pull: LONG_AGO });
    if (direction !== "pull" && !this.#push(here, there)) return;
    if (direction !== "push") this.#pull(here, there);
  }

  #push(here: ModelEnd, there: ModelEnd): boolean {
    const { mark, markers } = here;
    const late = here.earliestSince(here.ownMark, true);
    const began = this.#clock(here);
    const from = Math.min(markers.push, late ?? markers.push);
    here.sent = this.#sendTombstones(here, here.sent, there);
    for (const [key, version] of here.rowsFrom(from)) {
      const isAgreed = late === null && isSame(here.agreed.get(key), version);
      if (isSame(here.rows.get(key), version) && !isAgreed) {
        there.write(key, version, this.#clock(there), "push");
        here.agreed.set(key, version);
      }
      markers.push = Math.max(markers.push, Math.min(version.time, began - LAG));
      if (this.#isInterrupted()) return false;
      this.#meanwhile();
    }
    here.ownMark = this.#options.without === "early mark" ? here.mark : mark;
    return true;
  }

  #pull(here: ModelEnd, there: ModelEnd): void {
    const { mark } = there;
    const { markers } = here;
    const late = there.earliestSince(here.remoteMark, false);
    const began = this.#clock(there);
    const from = Math.min(markers.pull, late ?? markers.pull);
    here.fetched = this.#sendTombstones(there, here.fetched, here);
    for (const [key, version] of there.rowsFrom(from)) {
      here.write(key, version, this.#clock(here), "run");
      if (isSame(here.rows.get(key), version)) here.agreed.set(key, version);
      markers.pull = Math.max(markers.pull, Math.min(version.time, began - LAG));
      if (this.#isInterrupted()) return;
      this.#meanwhile();
    }
    here.remoteMark = this.#options.without === "early mark" ? there.mark : mark;
  }

  // Writers

  #act(): void {
    const random = this.#random;
    const end = random.pick([...this.#ends.values()]);
    const now = this.#clock(end);
    const kind = this.#kind();
    const keys = [...end.rows.keys()];
    const isNew = keys.length === 0 || ["new", "late", "import"].includes(kind);
    const key = isNew ? `k${random.int(0, kind === "import" ? 4 : 25)}` : random.pick(keys);
    if (kind === "delete" || kind === "delete and insert") {
      if (keys.length === 0) return;
      this.#replaces(key, end);
      const deletedAt = end.delete(key, now);
      this.#remember(key, deletedAt, null);
      if (kind === "delete") return;
    }
    const isFileRow = kind === "import" && !end.rows.has(key);
    const time = isFileRow
      ? this.#fileTime(end, key)
      : this.#options.stamps === undefined
        ? this.#timeOf(kind, now)
        : this.#stamp(end, key);
    if (time === null) return;
    if (!isFileRow) this.#replaces(key, end);
    // The file has the same at all ends.
    const content = isFileRow ? -1 : ++this.#count;
    const isGuarded = kind === "guarded" || (kind === "late" && end.rows.has(key));
    end.write(key, { time, content }, now, isGuarded ? "push" : null);
    this.#remember(key, time, content);
  }

  #kind(): string {
    const { deletes, oddTimes, stamps } = this.#options;
    const given = {
      late: 3,
      guarded: 2,
      ...(oddTimes ? { "old version": 2, coarse: 3, ahead: 1 } : {}),
    };
    const kinds = {
      ...{ new: 4, edit: 5 },
      ...(stamps === undefined ? given : { import: 3 }),
      ...(deletes ? { delete: 4 } : {}),
      ...(deletes && stamps !== undefined ? { "delete and insert": 2 } : {}),
    };
    return this.#random.pick(
      Object.entries(kinds).flatMap(([kind, weight]) => Array<string>(weight).fill(kind)),
    );
  }

  #timeOf(kind: string, now: number): number {
    const random = this.#random;
    const ago = (from: number, to: number) => now - random.int(from, to) * SECOND;
    if (kind === "late") return ago(100, 5_000) - SECOND / 4;
    if (kind === "guarded") return ago(0, 3_000) - SECOND / 2;
    if (kind === "old version") return ago(100, 5_000);
    if (kind === "coarse") return Math.floor(now / (100 * SECOND)) * 100 * SECOND;
    if (kind === "ahead") return now + random.pick([100, 5_000]) * SECOND;
    return now;
  }

  /** The time that a row without one gets. D-14.2. */
  #stamp(end: ModelEnd, key: string): number {
    const now = this.#clock(end);
    const { stamps } = this.#options;
    const row = stamps === "now" ? undefined : end.rows.get(key)?.time;
    const deletedAt = stamps === "row and tombstone" ? end.tombstones.get(key) : undefined;
    const isPassed = (time: number | undefined) => time !== undefined && time <= now + AHEAD;
    return Math.max(now, ...[row, deletedAt].filter(isPassed).map((time) => Number(time) + 1));
  }

  /** The time that a new row of the file gets; null where it stays deleted. D-14.2. */
  #fileTime(end: ModelEnd, key: string): number | null {
    const now = this.#clock(end);
    if (this.#options.without === "file time") return this.#stamp(end, key);
    const time = Math.min(now, FILE_TIME);
    return (end.tombstones.get(key) ?? LONG_AGO) > time ? null : time;
  }

  #replaces(key: string, end: ModelEnd): void {
    const row = end.rows.get(key);
    const deletedAt = end.tombstones.get(key);
    if (row !== undefined) this.#replaced.add(`${key} ${row.content}`);
    else if (deletedAt !== undefined) this.#replaced.add(`${key} deleted ${deletedAt}`);
  }

  #remember(key: string, time: number, content: number | null): void {
    const newest = this.#newest.get(key)?.time ?? LONG_AGO;
    // Of equal times the last to be carried stands.
    if (time === newest) this.#ties.add(key);
    if (time >= newest) this.#newest.set(key, { time, content });
  }

  // What stands at last

  #end(name: string): ModelEnd {
    return this.#ends.get(name) as ModelEnd;
  }

  #areEqual(): boolean {
    const [first, ...others] = [...this.#ends.values()];
    const keys = new Set([...this.#ends.values()].flatMap((end) => [...end.rows.keys()]));
    const isOf = (end: ModelEnd | undefined, key: string) => end?.rows.get(key)?.content;
    const isUntouched = (key: string) =>
      this.#options.begun === true &&
      [...this.#ends.values()].every((end) => end.rows.get(key)?.time === FIRST_STAMP);
    return [...keys].every(
      (key) => isUntouched(key) || others.every((end) => isOf(end, key) === isOf(first, key)),
    );
  }

  /** A version or a delete that should stand and does not; null for none. */
  #lost(): string | null {
    const { oddTimes, meanwhile, stamps } = this.#options;
    const ends = [...this.#ends.values()];
    for (const key of stamps === undefined
      ? []
      : new Set(ends.flatMap((end) => [...end.rows.keys(), ...end.tombstones.keys()]))) {
      for (const { rows, tombstones } of ends) {
        const row = rows.get(key);
        const stands =
          row === undefined ? `${key} deleted ${tombstones.get(key)}` : `${key} ${row.content}`;
        if (this.#replaced.has(stands))
          return `${stands} stands, though who replaced it had seen it`;
      }
    }
    for (const { end, key, version } of this.#begun) {
      if (!this.#newest.has(key) && !isSame(end.rows.get(key), version))
        return `${key} went, though nobody touched it`;
    }
    if (oddTimes || meanwhile) return null;
    const [end] = ends;
    for (const [key, { content }] of this.#newest) {
      if (!this.#ties.has(key) && (end?.rows.get(key)?.content ?? null) !== content)
        return `${key} is not its newest`;
    }
    return null;
  }
}
