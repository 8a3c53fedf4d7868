import type { CopyCounts } from "../../ports/copies/store-copies.ts";
import type { DumpedPart, DumpedStore } from "../../ports/copies/store-dump.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";

const KEY = new TextEncoder().encode("repsync dump");

/** Counts and digests of the items of a dump, in any order. */
export class DumpDigests {
  readonly #mac: Mac;
  readonly #withRest: boolean;
  /** By label; `hash` is the sum of the hashes of the items, in any order. */
  readonly #sums = new Map<string, { items: number; hash: bigint }>();

  /** `withRest`: the rest that a store keeps with its rows counts, too. */
  constructor(mac: Mac, { withRest }: { readonly withRest: boolean }) {
    this.#mac = mac;
    this.#withRest = withRest;
  }

  add(part: DumpedPart): void {
    if (part.items.length === 0) return;
    const { of, name } = part;
    const label = `${of} of "${name}"`;
    const sum = this.#sums.get(label) ?? { items: 0, hash: 0n };
    for (const text of this.#textsOf(part)) {
      sum.hash += BigInt(`0x${this.#mac.hmacHex(KEY, text)}`);
    }
    sum.items += part.items.length;
    this.#sums.set(label, sum);
  }

  counts({ tables }: DumpedStore): CopyCounts {
    const rows = tables.map(({ name }) => this.#sums.get(`rows of "${name}"`)?.items ?? 0);
    return {
      tables: tables.length,
      rows: rows.reduce((sum, count) => sum + count, 0),
      accounts: this.#sums.get('documents of "accounts"')?.items ?? 0,
    };
  }

  #textsOf(part: DumpedPart): readonly string[] {
    if (part.of === "documents") return part.items.map(documentText);
    if (part.of === "tombstones") return part.items.map((item) => JSON.stringify(item));
    const { items } = part;
    if (this.#withRest) return items.map(({ row, rest }) => JSON.stringify({ row, rest }));
    return items.map(({ row }) => JSON.stringify({ row }));
  }

  /** The number and digest of items by their label. */
  get texts(): Readonly<Record<string, string>> {
    const texts = [...this.#sums].map(([label, { items, hash }]) => [
      label,
      `${items} ${hash.toString(16)}`,
    ]);
    return Object.fromEntries(texts.toSorted());
  }

  /** The label of the first difference; null without one. */
  differenceFrom(other: DumpDigests): string | null {
    const { texts } = other;
    const labels = new Set([...Object.keys(this.texts), ...Object.keys(texts)]);
    return [...labels].find((label) => this.texts[label] !== texts[label]) ?? null;
  }
}

/** The same text for equal documents, whatever the order of their fields. */
function documentText(doc: object): string {
  const fields = Object.entries(doc).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? value.toHex() : value,
  ]);
  return JSON.stringify(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
