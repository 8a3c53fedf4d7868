// Measures this checkout beside another commit, in turns, so that nothing gets slower unnoticed.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";
import { checkOut, OURS } from "./checkout.ts";
import { compareLookups } from "./lookups.ts";
import { type Report, reportPair, type Sides } from "./paired.ts";
import { compareRuns } from "./runs.ts";
import { comparePages, comparePushes } from "./tables.ts";

/** Compares one thing on one store. */
type Comparison = (store: BenchStore, sides: Sides, report: Report) => Promise<void>;

export const COMPARISONS: Readonly<Record<string, Comparison>> = {
  lookups: compareLookups,
  pages: comparePages,
  pushes: comparePushes,
  runs: compareRuns,
};

/** Runs the named comparisons on every store. Throws for an unknown commit. */
export async function benchBeside(
  { commit, names }: { readonly commit: string; readonly names: readonly string[] },
  stores: readonly BenchStore[],
  reporter: Reporter,
): Promise<void> {
  const sides = { ours: OURS, other: checkOut(commit) };
  const hasPostgres = existsSync(join(sides.other.folder, "src/adapters/postgres"));
  for (const store of stores) {
    if (store.name === "PostgreSQL" && !hasPostgres) {
      reporter.say(`Left out: ${commit} has no PostgreSQL`);
      continue;
    }
    for (const name of names) {
      reporter.say(`${name}, ${store.name} …`);
      await COMPARISONS[name]?.(store, sides, (what, loads, unit) =>
        reportPair(reporter, `${what}, ${store.name}`, { loads, unit }),
      );
    }
  }
}
