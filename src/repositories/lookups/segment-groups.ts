// Finds the segments of the audit log that may name somebody. A search reads slices in place of thousands of filters: a slice is
// one bit of all segments of a group, in a small document. A segment has some 512 records and 16,384 bits, seven for each name: one
// in a hundred thousand matches in vain. 64 segments are a small group, 64 of these a large one; a search of a hundred million
// records reads some 800 documents for a name. Whoever makes slices at the same time writes the same. The index only says where to
// look: the log is verified without it.
import {
  commonBits,
  filterBits,
  hasBits,
  type IndexShape,
  joinSlices,
  sliceFilters,
} from "../../domain/reputation/audit/name-filter.ts";
import type { Key } from "../../domain/shared/document-key.ts";
import type { DocumentStore, Reader } from "../../ports/documents.ts";
import {
  AUDIT,
  type IndexDocument,
  SEGMENTS,
  SLICES,
  type SliceDocument,
} from "../lookup-collections.ts";
import { Repository } from "../repository.ts";

/** About the documents that one commit changes. */
const PORTION = 1_024;

const NO_INDEX: IndexDocument = {
  kind: "index",
  segments: 0,
  small: 0,
  large: 0,
  cleared: 0,
};

/** The progress of the index, within a body. */
export async function readIndex(at: Reader): Promise<IndexDocument> {
  const [[found]] = await at.read({ from: AUDIT, keys: [["index"]] });
  return (found as IndexDocument | undefined) ?? NO_INDEX;
}

export class SegmentGroups extends Repository {
  readonly #shape: IndexShape;

  constructor(documents: DocumentStore, shape: IndexShape) {
    super(documents);
    this.#shape = shape;
  }

  /** The numbers of all segments that may have one of these names, within a body. */
  async findNaming(at: Reader, names: readonly string[]): Promise<ReadonlySet<number>> {
    const { groupSize } = this.#shape;
    const { small, large } = await readIndex(at);
    const bitsOf = names.map((name) => filterBits(name, this.#shape));
    const bits = [...new Set(bitsOf.flat())];
    const keys: Key[] = [];
    for (let group = 0; group < large; group++) {
      for (const bit of bits) keys.push(["large", group, bit]);
    }
    for (let group = large * groupSize; group < small; group++) {
      const parts = new Set(bits.map((bit) => Math.floor(bit / groupSize)));
      for (const part of parts) keys.push(["small", group, part]);
    }
    const [slices, unsliced] = await at.read(
      { from: SLICES, keys },
      { from: SEGMENTS, stretch: behind(small * groupSize) },
    );
    const found = new Set<number>();
    const byKey = new Map(slices.map((slice) => [nameOf(slice), slice.bits]));
    for (const wanted of bitsOf) {
      for (let group = 0; group < large; group++) {
        const of = wanted.map((bit) => byKey.get(`large ${group} ${bit}`));
        this.#addCommon(found, of, group * groupSize ** 2);
      }
      for (let group = large * groupSize; group < small; group++) {
        const of = wanted.map((bit) => this.#sliceOf(byKey, group, bit));
        this.#addCommon(found, of, group * groupSize);
      }
      for (const { number, filter } of unsliced) {
        if (filter === undefined || hasBits(filter, wanted)) found.add(number);
      }
    }
    return found;
  }

  /** Makes the slices of groups that are complete. */
  async makeDue(): Promise<void> {
    const { groupSize } = this.#shape;
    for (;;) {
      const index = await this.reading("audit.index", readIndex);
      const { segments, small, large, cleared } = index;
      if (segments >= (small + 1) * groupSize) await this.#makeSmall(small);
      else if (small >= (large + 1) * groupSize) await this.#makeLarge(large);
      else if (cleared < large) await this.#clear(cleared);
      else return;
    }
  }

  /** Removes the slices of groups whose segments were all pruned; `numbers` are those of pruned ones. */
  async dropEmpty(numbers: readonly number[]): Promise<void> {
    const { groupSize, filterBits: bits } = this.#shape;
    const { small, large } = await this.reading("audit.index", readIndex);
    for (const [size, count, parts, from] of [
      [groupSize ** 2, large, bits, "large"],
      [groupSize, small, bits / groupSize, "small"],
    ] as const) {
      const groups = new Set(numbers.map((number) => Math.floor(number / size)));
      for (const group of groups) {
        const stretch = { ...behind(group * size), upTo: [(group + 1) * size - 1], limit: 1 };
        const isEmpty = await this.reading("audit.index", async (at) => {
          const [left] = await at.read({ from: SEGMENTS, keysOf: stretch });
          return left.length === 0;
        });
        if (group < count && isEmpty) await this.#remove(from, group, parts);
      }
    }
  }

  #addCommon(found: Set<number>, slices: readonly (Uint8Array | undefined)[], from: number): void {
    const present = slices.filter((slice) => slice !== undefined);
    // Slices of a group whose segments were pruned are gone.
    if (present.length < slices.length) return;
    for (const place of commonBits(present)) found.add(from + place);
  }

  #sliceOf(byKey: ReadonlyMap<string, Uint8Array>, group: number, bit: number) {
    const { groupSize } = this.#shape;
    const part = byKey.get(`small ${group} ${Math.floor(bit / groupSize)}`);
    const bytes = groupSize / 8;
    const at = (bit % groupSize) * bytes;
    return part?.subarray(at, at + bytes);
  }

  async #makeSmall(group: number): Promise<void> {
    const { groupSize, filterBits: bits } = this.#shape;
    const numbers = Array.from({ length: groupSize }, (_, n) => group * groupSize + n);
    await this.writing("audit.slice", async (tx) => {
      const index = await readIndex(tx);
      if (index.small !== group) return;
      const [segments] = await tx.read({ from: SEGMENTS, keys: numbers.map((number) => [number]) });
      const filters: Uint8Array[] = numbers.map(() => new Uint8Array(bits / 8));
      for (const { filter, ...segment } of segments) {
        if (filter !== undefined) filters[segment.number - group * groupSize] = filter;
        tx.put(SEGMENTS, segment);
      }
      if (segments.length > 0) {
        for (const [part, slices] of sliceFilters(filters, this.#shape).entries()) {
          tx.put(SLICES, { size: "small", group, part, bits: slices });
        }
      }
      tx.put(AUDIT, { ...index, small: group + 1 });
    });
  }

  /** Makes a large group in portions: two that make the same at the same time write the same. */
  async #makeLarge(group: number): Promise<void> {
    const { groupSize, filterBits: bits } = this.#shape;
    const smalls = Array.from({ length: groupSize }, (_, n) => group * groupSize + n);
    const atOnce = Math.max(1, Math.floor(PORTION / groupSize));
    for (let first = 0; first < bits / groupSize; first += atOnce) {
      const parts = Array.from({ length: atOnce }, (_, n) => first + n);
      await this.writing("audit.slice", async (tx) => {
        const keys = parts.flatMap((part) => smalls.map((small): Key => ["small", small, part]));
        const [found] = await tx.read({ from: SLICES, keys });
        for (const [part, ofPart] of Map.groupBy(found, ({ part }) => part)) {
          const slices: (Uint8Array | undefined)[] = Array(groupSize).fill(undefined);
          for (const slice of ofPart) slices[slice.group - group * groupSize] = slice.bits;
          for (const [bit, bits] of joinSlices(slices, this.#shape).entries()) {
            tx.put(SLICES, { size: "large", group, part: part * groupSize + bit, bits });
          }
        }
      });
    }
    await this.writing("audit.slice", async (tx) => {
      const index = await readIndex(tx);
      if (index.large === group) tx.put(AUDIT, { ...index, large: group + 1 });
    });
  }

  /** Removes the small slices that have become large ones. */
  async #clear(group: number): Promise<void> {
    const { groupSize, filterBits: bits } = this.#shape;
    for (let n = 0; n < groupSize; n++) {
      await this.#remove("small", group * groupSize + n, bits / groupSize);
    }
    await this.writing("audit.slice", async (tx) => {
      const index = await readIndex(tx);
      if (index.cleared === group) tx.put(AUDIT, { ...index, cleared: group + 1 });
    });
  }

  async #remove(size: SliceDocument["size"], group: number, parts: number): Promise<void> {
    for (let first = 0; first < parts; first += PORTION) {
      await this.writing("audit.slice", async (tx) => {
        const end = Math.min(first + PORTION, parts);
        for (let part = first; part < end; part++) tx.remove(SLICES, [size, group, part]);
      });
    }
  }
}

/** Segments from a number on. */
function behind(number: number) {
  return number === 0 ? {} : { after: [number - 1] };
}

function nameOf({ size, group, part }: SliceDocument): string {
  return `${size} ${group} ${part}`;
}
