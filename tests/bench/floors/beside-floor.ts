import { alternate, type Timed } from "../alternate.ts";
import { processorMs } from "../child-process.ts";
import { type BenchResult, rowRate } from "../result.ts";
import type { Pair } from "../stores.ts";

/** A measurement of so many rows a turn. */
interface Rounds {
  readonly rows: number;
  readonly warmUpRounds: number;
  readonly rounds: number;
}

/** The rate of rows, service to floor. */
export async function besideFloor(
  { service }: Pair,
  { rows, ...rounds }: Rounds,
  { ours, other }: { readonly ours: Timed; readonly other: Timed },
): Promise<Omit<BenchResult, "name" | "bar">> {
  const beforeMs = processorMs(service.pid);
  let turns = 0;
  const counted = (round: number) => {
    turns++;
    return ours(round);
  };
  const { oursMs, otherMs, oursP95Ms } = await alternate({ ours: counted, other }, rounds);
  return {
    ours: rowRate(rows, oursMs),
    other: rowRate(rows, otherMs),
    ratio: otherMs / oursMs,
    percentiles: `${oursMs.toFixed(1)}/${oursP95Ms.toFixed(1)} ms`,
    perCore: rowRate(rows, (processorMs(service.pid) - beforeMs) / turns),
  };
}
