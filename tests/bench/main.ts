// npm run bench [-- pull push memory runs lookups endurance pocketbase] [sqlite mongodb] [--write]
// Measures repsync beside what its speed is judged by.

import { describeMachine, printResults, writeResults } from "./report.ts";
import type { BenchResult, Reporter } from "./result.ts";
import { benchEndurance, benchLookups } from "./sections/lookups.ts";
import { benchMillion } from "./sections/million.ts";
import { benchPocketbase } from "./sections/pocketbase.ts";
import { benchPull } from "./sections/pull.ts";
import { benchPush } from "./sections/push.ts";
import { benchRuns } from "./sections/runs.ts";
import { type BenchStore, openStores } from "./stores.ts";

/** A section, and the stores it is for. */
interface Section {
  readonly run: (store: BenchStore, reporter: Reporter) => Promise<void>;
  readonly storeNames: readonly string[];
}

const STORES: readonly string[] = ["sqlite", "mongodb"];
const SECTIONS: Readonly<Record<string, Section>> = {
  pull: { run: benchPull, storeNames: STORES },
  push: { run: benchPush, storeNames: STORES },
  memory: { run: benchMillion, storeNames: STORES },
  runs: { run: benchRuns, storeNames: ["sqlite"] },
  lookups: { run: benchLookups, storeNames: STORES },
  endurance: { run: benchEndurance, storeNames: ["sqlite"] },
  pocketbase: { run: benchPocketbase, storeNames: ["sqlite"] },
};

const args = process.argv.slice(2);
const isWriting = args.includes("--write");
const named = args.filter((arg) => arg !== "--write");
const unknown = named.filter((name) => SECTIONS[name] === undefined && !STORES.includes(name));
if (unknown.length > 0) {
  const known = [...Object.keys(SECTIONS), ...STORES, "--write"];
  console.error(`Unknown: ${unknown.join(" ")}. There are ${known.join(", ")}.`);
  process.exit(2);
}
process.once("SIGTERM", () => process.exit(1));
process.once("SIGINT", () => process.exit(1));
await bench({
  sections: chosenOf(Object.keys(SECTIONS)),
  storeNames: chosenOf(STORES),
});
process.exit(0);

/** The named ones; all of them when none is named. */
function chosenOf(names: readonly string[]): readonly string[] {
  const chosen = names.filter((name) => named.includes(name));
  return chosen.length > 0 ? chosen : names;
}

async function bench(chosen: {
  readonly sections: readonly string[];
  readonly storeNames: readonly string[];
}): Promise<void> {
  const results: BenchResult[] = [];
  const reporter: Reporter = {
    add: (result) => results.push(result),
    say: (text) => console.log(text),
  };
  console.log(describeMachine());
  const { stores, missing, close } = await openStores(chosen.storeNames);
  try {
    for (const reason of missing) console.log(`Left out: ${reason}`);
    for (const name of chosen.sections) {
      const section = SECTIONS[name];
      const wanted = stores.filter((store) =>
        section?.storeNames.includes(store.name.toLowerCase()),
      );
      for (const store of wanted) {
        console.log(`${name}, ${store.name} …`);
        await section?.run(store, reporter);
      }
    }
  } finally {
    await close();
  }
  printResults(results);
  if (isWriting) writeResults(results);
}
