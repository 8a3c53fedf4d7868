// npm run bench [-- pull push memory health wide runs lookups changes accounts instances workers endurance pocketbase tracing costs]
//               [sqlite mongodb] [--write] [--beside FOLDER]
// Measures repsync beside what its speed is judged by: the least that the same work costs, or another checkout.
import { parseArgs } from "node:util";
import { type Checkout, openCheckout } from "./checkout.ts";
import { describeMachine, printResults, writeResults } from "./report.ts";
import type { BenchResult, Reporter } from "./result.ts";
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
import { benchTracing } from "./sections/tracing.ts";
import { benchWide, benchWideMillion } from "./sections/wide.ts";
import { benchWorkers } from "./sections/workers.ts";
import { type BenchStore, openStores } from "./stores.ts";

/** A section, and the stores it is for. */
interface Section {
  readonly run: (store: BenchStore, reporter: Reporter, beside: Checkout | null) => Promise<void>;
  readonly storeNames: readonly string[];
  /** True when it takes long and is measured only when it is named. */
  readonly isOnlyNamed?: boolean;
  /** True when it can measure beside another checkout. */
  readonly isForBeside?: boolean;
}

const STORES: readonly string[] = ["sqlite", "mongodb"];
const SECTIONS: Readonly<Record<string, Section>> = {
  pull: { run: benchPull, storeNames: STORES, isForBeside: true },
  push: { run: benchPush, storeNames: STORES, isForBeside: true },
  memory: { run: benchMillion, storeNames: STORES },
  health: { run: benchHealth, storeNames: STORES },
  wide: { run: benchWide, storeNames: ["sqlite"], isOnlyNamed: true },
  "wide-million": { run: benchWideMillion, storeNames: ["sqlite"], isOnlyNamed: true },
  runs: { run: benchRuns, storeNames: ["sqlite"] },
  lookups: { run: benchLookups, storeNames: STORES, isForBeside: true },
  changes: { run: benchChanges, storeNames: STORES, isForBeside: true },
  accounts: { run: benchAccounts, storeNames: STORES, isForBeside: true },
  instances: { run: benchInstances, storeNames: ["mongodb"], isForBeside: true },
  workers: { run: benchWorkers, storeNames: STORES },
  endurance: { run: benchEndurance, storeNames: ["sqlite"] },
  pocketbase: { run: benchPocketbase, storeNames: ["sqlite"] },
  tracing: { run: benchTracing, storeNames: STORES },
  costs: { run: benchCosts, storeNames: STORES, isOnlyNamed: true },
};

/** What the command line asks for. */
interface Choice {
  readonly sections: readonly string[];
  readonly storeNames: readonly string[];
  readonly beside: Checkout | null;
  readonly isWriting: boolean;
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
      options: { beside: { type: "string" }, write: { type: "boolean", default: false } },
    });
    const beside = values.beside === undefined ? null : openCheckout(values.beside);
    const possible = Object.keys(SECTIONS).filter(
      (name) => beside === null || SECTIONS[name]?.isForBeside,
    );
    const known = [...possible, ...STORES];
    const unknown = positionals.filter((name) => !known.includes(name));
    if (unknown.length > 0) {
      throw new Error(`Unknown here: ${unknown.join(" ")}. There are ${known.join(", ")}`);
    }
    return {
      sections: chosenOf(possible, positionals),
      storeNames: chosenOf(STORES, positionals),
      beside,
      isWriting: values.write,
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

async function bench(choice: Choice): Promise<void> {
  const results: BenchResult[] = [];
  const reporter: Reporter = {
    add: (result) => {
      results.push(result);
      console.log(`  ${result.name}: ${result.ratio.toFixed(2)}`);
    },
    say: (text) => console.log(text),
  };
  console.log(describeMachine());
  const { stores, missing, close } = await openStores(choice.storeNames);
  try {
    for (const reason of missing) console.log(`Left out: ${reason}`);
    for (const name of choice.sections) {
      const section = SECTIONS[name];
      const wanted = stores.filter((store) =>
        section?.storeNames.includes(store.name.toLowerCase()),
      );
      for (const store of wanted) {
        console.log(`${name}, ${store.name} …`);
        await section?.run(store, reporter, choice.beside);
      }
    }
  } finally {
    await close();
  }
  printResults(results);
  if (choice.isWriting) writeResults(results);
}
