// Times two things side by side, so that whatever else the machine does hits both alike.

import { sized } from "./quick.ts";

/** What is timed; `round` counts from 0, warm-up included. */
export type Timed = (round: number) => Promise<unknown>;

/** Medians in milliseconds, and what 95 of 100 of our turns took at most. */
export interface Medians {
  readonly oursMs: number;
  readonly otherMs: number;
  readonly oursP95Ms: number;
}

/** Times `ours` and `other` in turns. Warm-up rounds come first and do not count. */
export async function alternate(
  contestants: { readonly ours: Timed; readonly other: Timed },
  length: { readonly warmUpRounds: number; readonly rounds: number },
): Promise<Medians> {
  const warmUpRounds = sized(length.warmUpRounds, 1);
  const rounds = sized(length.rounds, 2);
  const ours: number[] = [];
  const other: number[] = [];
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    const oursMs = await timeMs(() => contestants.ours(round));
    const otherMs = await timeMs(() => contestants.other(round));
    if (round < warmUpRounds) continue;
    ours.push(oursMs);
    other.push(otherMs);
  }
  ours.sort((a, b) => a - b);
  const oursP95Ms = ours[Math.ceil(ours.length * 0.95) - 1] ?? Number.NaN;
  return { oursMs: median(ours), otherMs: median(other), oursP95Ms };
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
