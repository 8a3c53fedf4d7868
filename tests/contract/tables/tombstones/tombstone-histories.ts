import { describe, expect } from "bun:test";
import fc from "fast-check";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import { checkAsyncProperty } from "../../../support/seed.ts";
import { type OpenedStore, type StoreHarness, storeTests } from "../../harness.ts";
import { type ModelRow, type ModelWrite, TombstoneModel } from "./tombstone-model.ts";
import { ItemsWithDeletes, type TombstoneParts } from "./tombstone-table.ts";

const SECOND = 1_000_000;
const KEYS = ["a", "b", "c"];

const key = fc.constantFrom(...KEYS);
/** A row with such a time leaves a tombstone that does not depend on when it is deleted. */
const timeToCome = fc.constantFrom(130, 160, 190, 220).map((seconds) => seconds * SECOND);
/** Of tombstones that arrive, so that rows have the same ones, and earlier and later ones. */
const deletedAt = fc.oneof(
  timeToCome,
  timeToCome.map((time) => time + 1),
  fc.constant(-100 * SECOND),
);
const anyTime = fc.oneof(
  { arbitrary: deletedAt, weight: 5 },
  { arbitrary: fc.constantFrom(null, 5_000 * SECOND, 6_000 * SECOND), weight: 1 },
);
const v = fc.integer({ min: 1, max: 3 });

type Step =
  | ({ readonly kind: "write" } & ModelWrite)
  | ({ readonly kind: "put"; readonly k: string } & ModelRow)
  | { readonly kind: "remove"; readonly k: string }
  | { readonly kind: "rekey"; readonly k: string; readonly to: string };

const write = fc.record({
  kind: fc.constant("write" as const),
  deleted: fc.array(fc.record({ k: key, deletedAt }), { maxLength: 2 }),
  rows: fc.array(fc.record({ k: key, at: anyTime, v }), { maxLength: 3 }),
  conflict: fc.constantFrom("overwrite", "newer", "restore"),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: write, weight: 4 },
  {
    arbitrary: fc.record({ kind: fc.constant("put" as const), k: key, at: anyTime, v }),
    weight: 2,
  },
  { arbitrary: fc.record({ kind: fc.constant("remove" as const), k: key }), weight: 3 },
  { arbitrary: fc.record({ kind: fc.constant("rekey" as const), k: key, to: key }), weight: 1 },
);

/** Random histories of deletes, writes and rows that come again: rows, tombstones and their order are the model's. */
export function tombstoneHistoryTests(harness: StoreHarness<TombstoneParts>): void {
  const it = storeTests(harness);
  let histories = 0;

  describe(`${harness.name}: histories of deletes`, () => {
    it("D-7.6 any deletes, arrivals and writes, by programs too, leave the rows and tombstones of the model", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      await checkAsyncProperty(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
          const history = await History.begin(items, store, `${++histories}-`);
          for (const next of steps) await history.play(next);
        }),
        harness.options.randomRuns,
      );
    });
  });
}

/** A history on keys of its own. */
class History {
  readonly #items: ItemsWithDeletes;
  readonly #prefix: string;
  readonly #startMs: number;
  /** Of the list, when it began. */
  readonly #place: string;
  readonly #model = new TombstoneModel();

  private constructor(options: {
    readonly items: ItemsWithDeletes;
    readonly prefix: string;
    readonly startMs: number;
    readonly place: string;
  }) {
    this.#items = options.items;
    this.#prefix = options.prefix;
    this.#startMs = options.startMs;
    this.#place = options.place;
  }

  static async begin(
    items: ItemsWithDeletes,
    store: OpenedStore<TombstoneParts>,
    prefix: string,
  ): Promise<History> {
    const startMs = Math.floor(store.nowMs() / 1000) * 1000;
    return new History({ items, prefix, startMs, place: await items.end() });
  }

  async play(next: Step): Promise<void> {
    if (next.kind === "write") await this.#write(next);
    else if (next.kind === "put") await this.#put(next.k, { at: next.at, v: next.v });
    else if (next.kind === "remove") await this.#remove(next.k);
    else await this.#rekey(next.k, next.to);
    await this.#check();
  }

  async #write(next: ModelWrite): Promise<void> {
    const rows = next.rows.map(({ k, ...row }) => this.#row(k, row));
    const deleted = next.deleted.map(({ k, deletedAt: time }, index) => ({
      ...{ index, key: { k: this.#prefix + k }, deletedAt: this.#time(time) },
    }));
    const { conflict } = next;
    const { failures: _, ...outcome } = await this.#items.write(rows, { conflict, deleted });
    expect(outcome).toEqual(this.#model.write(next));
  }

  async #put(k: string, row: ModelRow): Promise<void> {
    if (!this.#model.isClear(k, row)) return;
    const { k: stored, ...changes } = this.#row(k, row);
    if (this.#model.rows.has(k)) await this.#items.update(String(stored), changes);
    else await this.#items.insert({ k: stored ?? null, ...changes });
    this.#model.put(k, row);
  }

  async #remove(k: string): Promise<void> {
    if (!this.#isToCome(k)) return;
    await this.#items.remove(this.#prefix + k);
    this.#model.remove(k);
  }

  async #rekey(k: string, to: string): Promise<void> {
    const row = this.#model.rows.get(k);
    if (row === undefined || !this.#isToCome(k)) return;
    if (this.#model.rows.has(to) || !this.#model.isClear(to, row)) return;
    await this.#items.update(this.#prefix + k, { k: this.#prefix + to });
    this.#model.remove(k);
    this.#model.put(to, row);
  }

  #isToCome(k: string): boolean {
    const time = this.#model.rows.get(k)?.at ?? 0;
    return time > 100 * SECOND && time < 300 * SECOND;
  }

  async #check(): Promise<void> {
    const { rows, tombstones } = this.#model;
    expect(await this.#items.listed(this.#place)).toEqual(
      [...tombstones].map(([k, kept]) => [this.#prefix + k, this.#time(kept.deletedAt)]),
    );
    expect(await this.#items.rowsOf(KEYS.map((k) => this.#prefix + k))).toEqual(
      KEYS.flatMap((k) => {
        const row = rows.get(k);
        return row === undefined ? [] : [this.#row(k, row)];
      }),
    );
  }

  #row(k: string, { at, v }: ModelRow): Row {
    return { k: this.#prefix + k, at: at === null ? null : this.#time(at), v };
  }

  /** Canonical. */
  #time(micros: number): string {
    const whole = new Date(this.#startMs + Math.floor(micros / 1000)).toISOString().slice(0, 19);
    const rest = micros - Math.floor(micros / SECOND) * SECOND;
    return rest === 0 ? `${whole}Z` : `${whole}.${String(rest).padStart(6, "0")}Z`;
  }
}
