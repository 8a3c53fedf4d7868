/** The stores that are measured. */
export const STORE_NAMES = ["SQLite", "MongoDB", "PostgreSQL"] as const;
export type StoreName = (typeof STORE_NAMES)[number];

/** One line of the result table. */
export interface BenchResult {
  readonly name: string;
  /** What repsync reached, with its unit. */
  readonly ours: string;
  /** What it is compared with, with its unit. */
  readonly other: string;
  readonly ratio: number;
  /** The least and the greatest ratio of a round, where each round is a pair. */
  readonly spread?: string;
  /** Half of the turns, and 95 of 100, took at most so long. */
  readonly percentiles?: string;
  /** What the service does in a second of processor time, without that of the store's servers. */
  readonly perCore?: string;
  /** What the ratio has to be; null for a line that only informs. */
  readonly bar: { readonly atLeast: number } | { readonly atMost: number } | null;
}

/** Where a section reports to. */
export interface Reporter {
  /** Takes a line of the table. */
  add(result: BenchResult): void;
  /** Says what goes on, or why something is left out. */
  say(text: string): void;
}

/** How many rows a second. */
export function rowRate(rows: number, ms: number): string {
  return `${(rows / ms).toFixed(rows / ms < 10 ? 1 : 0)}k rows/s`;
}

/** Whether a result reaches its bar; empty without one. */
export function verdict({ ratio, bar }: BenchResult): "PASS" | "BELOW" | "" {
  if (bar === null) return "";
  const isReached = "atLeast" in bar ? ratio >= bar.atLeast : ratio <= bar.atMost;
  return isReached ? "PASS" : "BELOW";
}

export function barText(bar: BenchResult["bar"]): string {
  if (bar === null) return "";
  return "atLeast" in bar ? `>= ${bar.atLeast}` : `<= ${bar.atMost}`;
}
