// Loads contestants of lookups in short turns, so that whatever else the machine does hits all alike.
import { median } from "./alternate.ts";
import type { Load } from "./lookup-load.ts";
import { sized } from "./quick.ts";

/** Loads one contestant for a turn. */
export type Turn = () => Promise<Load>;

/** What one contestant did, a load of each round. */
export type Loads = readonly Load[];

/** Lets every contestant have a turn in each round, in the reverse order in every second round. */
export async function takeTurns<Names extends string>(
  turns: Readonly<Record<Names, Turn>>,
  rounds: number,
): Promise<Readonly<Record<Names, Loads>>> {
  const names = Object.keys(turns) as Names[];
  const loads = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Names,
    Load[]
  >;
  for (let round = 0; round < sized(rounds, 1); round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      loads[name].push(await turns[name]());
    }
  }
  return loads;
}

/** The same turn, while `work` goes on until it is told that the turn is over. */
export function whileWorking(turn: Turn, work: (isOver: () => boolean) => Promise<void>): Turn {
  return async () => {
    let isOver = false;
    const load = turn().finally(() => {
      isOver = true;
    });
    await Promise.all([load, work(() => isOver)]);
    return await load;
  };
}

/** Does something so many times a second, one after the other, until told to end. */
export async function atRate(
  perSecond: number,
  isOver: () => boolean,
  act: () => Promise<unknown>,
): Promise<void> {
  while (!isOver()) {
    const pause = new Promise((resolve) => setTimeout(resolve, 1_000 / perSecond));
    await Promise.all([act(), pause]);
  }
}

/** The median over the rounds of a figure. */
function medianOf(figure: "perSecond" | "p99Ms", loads: Loads): number {
  return median(loads.map((load) => load[figure]));
}

/** Requests a second, as tables show them. */
export function rateText(loads: Loads): string {
  return `${Math.round(medianOf("perSecond", loads))}/s`;
}

/** The 99th percentile, as tables show it. */
export function p99Text(loads: Loads): string {
  return `${medianOf("p99Ms", loads).toFixed(1)} ms`;
}

/** How many times the other's figure ours is. */
export function ratioOf(figure: "perSecond" | "p99Ms", ours: Loads, other: Loads): number {
  return medianOf(figure, ours) / medianOf(figure, other);
}
