// Random tests: a failure prints its seed, and `SEED=<number>` runs the same values again.
import fc from "fast-check";

const LONGEST_CHECK_MS = 25_000;

/** Seed of every random test of this process. */
export const SEED = readSeed(process.env.SEED);

/** Checks a property on random values. The error of a failure holds the seed and the smallest counterexample. */
export function checkProperty<Values>(property: fc.IProperty<Values>, numRuns = 300): void {
  fc.assert(property, { seed: SEED, numRuns });
}

/** As `checkProperty`, for properties that wait. */
export async function checkAsyncProperty<Values>(
  property: fc.IAsyncProperty<Values>,
  numRuns = 60,
): Promise<void> {
  // The search for the smallest counterexample ends in time for the failure to be printed.
  const limits = { interruptAfterTimeLimit: LONGEST_CHECK_MS, markInterruptAsFailure: true };
  await fc.assert(property, { seed: SEED, numRuns, ...limits });
}

function readSeed(text: string | undefined): number {
  if (text === undefined || text === "") return Math.floor(Math.random() * 0x7fff_ffff);
  const seed = Number(text);
  if (!Number.isSafeInteger(seed)) throw new Error(`SEED must be a whole number: "${text}"`);
  return seed;
}
