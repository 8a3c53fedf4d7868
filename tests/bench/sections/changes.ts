import { loadBesideChanges, PUSHES_PER_SECOND } from "../lookup-changes.ts";
import { rateText, ratioOf, takeTurns } from "../lookup-rounds.ts";
import { LookupScene } from "../lookup-services.ts";
import type { Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";

const ROUNDS = 6;
const SECONDS = 4;
const BAR = { atLeast: 0.9 };

/** Lookups while profiles of people change whom nobody looks up, against the same without changes. */
export async function benchChanges(store: BenchStore, reporter: Reporter): Promise<void> {
  await LookupScene.use(store, reporter, async (scene) => {
    const service = await scene.startService();
    const quiet = scene.loadFor(SECONDS, service);
    const busy = loadBesideChanges(scene, service, SECONDS);
    const loads = await takeTurns({ quiet, busy }, ROUNDS);
    reporter.add({
      name: `lookups, ${PUSHES_PER_SECOND} profile pushes a second against none, ${store.name}`,
      ours: rateText(loads.busy),
      other: rateText(loads.quiet),
      ratio: ratioOf("perSecond", loads.busy, loads.quiet),
      bar: BAR,
    });
  });
}
