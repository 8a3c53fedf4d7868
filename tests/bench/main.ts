// npm run bench [-- [publish] pull push sizes memory health wide runs lookups changes accounts instances endurance pocketbase tracing costs]
//               [sqlite mongodb postgresql] [--quick]
// npm run bench -- beside COMMIT [lookups pages pushes runs] [sqlite mongodb postgresql] [--quick]
// Measures repsync beside what its speed is judged by: the least that the same work costs, or another commit.
import { parseArgs } from "node:util";
import { benchBeside, COMPARISONS } from "./beside/beside.ts";
import { publishResults } from "./figures.ts";
import { commitHere, describeMachine, printResults } from "./report.ts";
import { type BenchResult, type Reporter, STORE_NAMES } from "./result.ts";
import { benchAccounts } from "./sections/accounts.ts";
import { benchChanges } from "./sections/changes.ts";
import { benchCosts } from "./sections/costs.ts";
import { benchHealth } from "./sections/health.ts";
import { benchInstances } from "./sections/instances.ts";
import { benchEndurance, benchLookups } from "./sections/lookups.ts";
import { benchMillion } from "./sections/million.ts";
import { benchPocketbase } from "./sections/pocketbase.ts";
import { benchPull } from "./sections/pull.ts";
import { benchPush } from "./sections/push.ts";
import { benchRuns } from "./sections/runs.ts";
import { benchSizes } from "./sections/sizes.ts";
import { benchTracing } from "./sections/tracing.ts";
import { benchWide, benchWideMillion } from "./sections/wide.ts";
import { type BenchStore, openStores } from "./stores.ts";

/** A section, and the stores it is for. */
interface Section {
  readonly run: (store: BenchStore, reporter: Reporter) => Promise<void>;
  readonly storeNames: readonly string[];
  /** True when it takes long and is measured only when it is named. */
  readonly isOnlyNamed?: boolean;
}

const STORES: readonly string[] = STORE_NAMES.map((name) => name.toLowerCase());
const SECTIONS: Readonly<Record<string, Section>> = {
  pull: { run: benchPull, storeNames: STORES },
  push: { run: benchPush, storeNames: STORES },
  sizes: { run: benchSizes, storeNames: STORES },
  memory: { run: benchMillion, storeNames: STORES },
  health: { run: benchHealth, storeNames: STORES },
  wide: { run: benchWide, storeNames: ["sqlite"], isOnlyNamed: true },
  "wide-million": { run: benchWideMillion, storeNames: ["sqlite"], isOnlyNamed: true },
  runs: { run: benchRuns, storeNames: ["sqlite", "postgresql"] },
  lookups: { run: benchLookups, storeNames: STORES },
  changes: { run: benchChanges, storeNames: STORES },
  accounts: { run: benchAccounts, storeNames: STORES },
  instances: { run: benchInstances, storeNames: ["mongodb", "postgresql"] },
  endurance: { run: benchEndurance, storeNames: ["sqlite"] },
  pocketbase: { run: benchPocketbase, storeNames: ["sqlite"] },
  tracing: { run: benchTracing, storeNames: STORES },
  costs: { run: benchCosts, storeNames: STORES, isOnlyNamed: true },
};

/** What the command line asks for. */
interface Choice {
  /** Of `SECTIONS`, or of `COMPARISONS` beside a commit. */
  readonly names: readonly string[];
  readonly storeNames: readonly string[];
  readonly commit: string | null;
  /** The commit whose figures are to be published. */
  readonly published: string | null;
}

process.once("SIGTERM", () => process.exit(1));
process.once("SIGINT", () => process.exit(1));
await bench(readChoice(process.argv.slice(2)));
process.exit(0);

/** Ends the process with 2 when it cannot be read. */
function readChoice(args: string[]): Choice {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        quick: { type: "boolean", default: false },
      },
    });
    const isPublishing = positionals[0] === "publish";
    if (isPublishing && values.quick) throw new Error("Figures of --quick are not published");
    const isBeside = positionals[0] === "beside";
    const commit = isBeside ? (positionals[1] ?? "") : null;
    if (commit === "") throw new Error("beside wants a commit");
    const words = positionals.slice(isBeside ? 2 : Number(isPublishing));
    const possible = Object.keys(isBeside ? COMPARISONS : SECTIONS);
    const known = [...possible, ...STORES];
    const unknown = words.filter((name) => !known.includes(name));
    if (unknown.length > 0) {
      throw new Error(`Unknown here: ${unknown.join(" ")}. There are ${known.join(", ")}`);
    }
    return {
      names: chosenOf(possible, words),
      storeNames: chosenOf(STORES, words),
      commit,
      published: isPublishing ? commitHere() : null,
    };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

/** The named ones; all of them when none is named. */
function chosenOf(names: readonly string[], named: readonly string[]): readonly string[] {
  const chosen = names.filter((name) => named.includes(name));
  return chosen.length > 0 ? chosen : names.filter((name) => !SECTIONS[name]?.isOnlyNamed);
}

async function bench({ names, storeNames, commit, published }: Choice): Promise<void> {
  const results: BenchResult[] = [];
  const reporter: Reporter = {
    add: (result) => {
      results.push(result);
      console.log(`  ${result.name}: ${result.ratio.toFixed(2)}`);
    },
    say: (text) => console.log(text),
  };
  console.log(describeMachine());
  const { stores, missing, close } = await openStores(storeNames);
  try {
    for (const reason of missing) console.log(`Left out: ${reason}`);
    if (commit === null) await benchSections(names, stores, reporter);
    else await benchBeside({ commit, names }, stores, reporter);
  } finally {
    await close();
    printResults(results);
    if (published !== null) publishResults(results, originOf(published));
  }
}

/** Date, commit and machine, as they stand below the published figures. */
function originOf(commit: string): string {
  return `${new Date().toISOString().slice(0, 10)}, ${commit}, ${describeMachine()}`;
}

async function benchSections(
  names: readonly string[],
  stores: readonly BenchStore[],
  reporter: Reporter,
): Promise<void> {
  for (const name of names) {
    const section = SECTIONS[name];
    for (const store of stores) {
      if (!section?.storeNames.includes(store.name.toLowerCase())) continue;
      console.log(`${name}, ${store.name} …`);
      await section.run(store, reporter);
    }
  }
}
