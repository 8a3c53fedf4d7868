// Bloom filters of the names in stretches of the audit log, and slices: the same bit of many filters.

/** Sizes of the index of the log. */
export interface IndexShape {
  /** Least records of a segment, which ends with a whole block. */
  readonly segmentRecords: number;
  /** Segments that are kept in one commit. */
  readonly segmentsAtOnce: number;
  /** Bits of a filter: some thirty for each record, so that one filter in a hundred thousand seems to have a name it lacks. */
  readonly filterBits: number;
  /** Segments of a small group, and small groups of a large one; a multiple of 8. */
  readonly groupSize: number;
}

export const INDEX_SHAPE: IndexShape = {
  segmentRecords: 512,
  segmentsAtOnce: 4,
  filterBits: 16_384,
  groupSize: 64,
};

/** Bits of a name. */
const BITS_OF_NAME = 7;
/** Hexadecimal digits of each of the two numbers that bits come from. */
const DIGITS = 8;

/** The bits that are set in every filter with a name, which is hexadecimal and random in its first 16 digits. */
export function filterBits(name: string, { filterBits: size }: IndexShape): readonly number[] {
  const first = Number.parseInt(name.slice(0, DIGITS), 16);
  const step = Number.parseInt(name.slice(DIGITS, 2 * DIGITS), 16) | 1;
  return Array.from({ length: BITS_OF_NAME }, (_, i) => Math.abs(first + i * step) % size);
}

/** Texts that are no such names, of damaged records, are left out. */
export function makeFilter(names: Iterable<string>, shape: IndexShape): Uint8Array {
  const filter = new Uint8Array(shape.filterBits / 8);
  for (const name of names) {
    if (/^[0-9a-f]{16}/.test(name)) for (const bit of filterBits(name, shape)) setBit(filter, bit);
  }
  return filter;
}

export function hasBits(filter: Uint8Array, bits: readonly number[]): boolean {
  return bits.every((bit) => ((filter[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0);
}

/** The slices of filters, in parts that hold `groupSize` slices each, one after the other. Bit `n` of a slice is of filter `n`. */
export function sliceFilters(
  filters: readonly Uint8Array[],
  { filterBits: size, groupSize }: IndexShape,
): readonly Uint8Array[] {
  const parts = Array.from({ length: size / groupSize }, () => new Uint8Array(groupSize ** 2 / 8));
  for (const [n, filter] of filters.entries()) {
    for (const [at, byte] of filter.entries()) {
      if (byte === 0) continue;
      for (let bit = at * 8; bit < at * 8 + 8; bit++) {
        if ((byte & (1 << (bit & 7))) === 0) continue;
        const part = parts[Math.floor(bit / groupSize)];
        if (part !== undefined) setBit(part, (bit % groupSize) * groupSize + n);
      }
    }
  }
  return parts;
}

/** Joins the same part of small groups to whole slices of their large group: one for each bit of the part. */
export function joinSlices(
  parts: readonly (Uint8Array | undefined)[],
  { groupSize }: IndexShape,
): readonly Uint8Array[] {
  const bytes = groupSize / 8;
  return Array.from({ length: groupSize }, (_, bit) => {
    const slice = new Uint8Array(groupSize * bytes);
    for (const [n, part] of parts.entries()) {
      if (part !== undefined) slice.set(part.subarray(bit * bytes, (bit + 1) * bytes), n * bytes);
    }
    return slice;
  });
}

/** Places of the bits that are set in all slices. */
export function commonBits(slices: readonly Uint8Array[]): readonly number[] {
  const [first = new Uint8Array(), ...others] = slices;
  const places: number[] = [];
  for (const [at, byte] of first.entries()) {
    const common = others.reduce((bits, slice) => bits & (slice[at] ?? 0), byte);
    for (let bit = 0; common >> bit !== 0; bit++) {
      if ((common & (1 << bit)) !== 0) places.push(at * 8 + bit);
    }
  }
  return places;
}

function setBit(bytes: Uint8Array, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
}
