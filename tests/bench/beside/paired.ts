// What a comparison measures on both sides, and how it is told.
import { median } from "../alternate.ts";
import type { Load } from "../lookup-load.ts";
import type { Reporter } from "../result.ts";
import type { Checkout } from "./checkout.ts";

/** A lower share of the other's rate, or a greater one of its 99th percentile, is told as BELOW. */
const LEAST_SHARE = 0.95;
const MOST_P99 = 1.1;

/** What both sides did, a load of each round, in the same order. */
export interface PairedLoads {
  readonly ours: readonly Load[];
  readonly other: readonly Load[];
}

export interface Sides {
  readonly ours: Checkout;
  readonly other: Checkout;
}

/** Takes what a part has measured; `unit` is what is counted a second. */
export type Report = (name: string, loads: PairedLoads, unit: string) => void;

/** Reports a rate, and the 99th percentile where the rounds have many requests. */
export function reportPair(
  reporter: Reporter,
  name: string,
  { loads, unit }: { readonly loads: PairedLoads; readonly unit: string },
): void {
  reportRate(reporter, name, loads, unit);
  if (loads.ours.every(({ requests }) => requests > 1)) {
    reportP99(reporter, `${name}, 99th percentile`, loads);
  }
}

function reportRate(reporter: Reporter, name: string, loads: PairedLoads, unit: string): void {
  const text = (side: readonly Load[]) => {
    const rate = median(side.map(({ perSecond }) => perSecond));
    return `${rate < 10_000 ? rate.toFixed(0) : `${(rate / 1_000).toFixed(1)}k`} ${unit}/s`;
  };
  const ratios = ratiosOf("perSecond", loads);
  reporter.add({
    name,
    ours: text(loads.ours),
    other: text(loads.other),
    ratio: median(ratios),
    spread: spreadOf(ratios),
    bar: { atLeast: LEAST_SHARE },
  });
}

function reportP99(reporter: Reporter, name: string, loads: PairedLoads): void {
  const text = (side: readonly Load[]) => `${median(side.map(({ p99Ms }) => p99Ms)).toFixed(1)} ms`;
  const ratios = ratiosOf("p99Ms", loads);
  reporter.add({
    name,
    ours: text(loads.ours),
    other: text(loads.other),
    ratio: median(ratios),
    spread: spreadOf(ratios),
    bar: { atMost: MOST_P99 },
  });
}

/** Ours as a share of the other's, of each round's pair. */
function ratiosOf(figure: "perSecond" | "p99Ms", { ours, other }: PairedLoads): number[] {
  return ours.map((load, round) => load[figure] / (other[round]?.[figure] ?? Number.NaN));
}

/** The least and the greatest. */
function spreadOf(ratios: readonly number[]): string {
  return `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
}
