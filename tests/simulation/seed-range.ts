// Which seeds a test plays: SEED=<first> and SEEDS=<number> choose others than it plays by itself.

/** Seeds from the first one on. */
interface SeedRange {
  readonly first: number;
  readonly count: number;
}

/** The seeds to play; SEED alone is one seed. */
export function seedRange(defaultCount: number): SeedRange {
  const first = numberFrom("SEED");
  return { first: first ?? 1, count: numberFrom("SEEDS") ?? (first === null ? defaultCount : 1) };
}

/** The first and last seeds of parts of a range. */
export function seedRanges({ first, count }: SeedRange, partCount: number): [number, number][] {
  const end = first + count;
  return Array.from({ length: Math.ceil(count / partCount) }, (_, i) => {
    const from = first + i * partCount;
    return [from, Math.min(end, from + partCount) - 1];
  });
}

function numberFrom(name: string): number | null {
  const text = process.env[name];
  if (text === undefined || text === "") return null;
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw new Error(`${name} must be a whole number: "${text}"`);
}
