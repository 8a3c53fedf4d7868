// Times two things side by side, so that whatever else the machine does hits both alike.

/** What is timed; `round` counts from 0, warm-up included. */
export type Timed = (round: number) => Promise<unknown>;

/** Medians in milliseconds. */
export interface Medians {
  readonly oursMs: number;
  readonly otherMs: number;
}

/** Times `ours` and `other` in turns. Warm-up rounds come first and do not count. */
export async function alternate(
  contestants: { readonly ours: Timed; readonly other: Timed },
  { warmUpRounds, rounds }: { readonly warmUpRounds: number; readonly rounds: number },
): Promise<Medians> {
  const ours: number[] = [];
  const other: number[] = [];
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    const oursMs = await timeMs(() => contestants.ours(round));
    const otherMs = await timeMs(() => contestants.other(round));
    if (round < warmUpRounds) continue;
    ours.push(oursMs);
    other.push(otherMs);
  }
  return { oursMs: median(ours), otherMs: median(other) };
}

/** How long something takes, in milliseconds. */
export async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

/** The middle value; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return (low + high) / 2;
}
