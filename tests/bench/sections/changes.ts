import { makePushBody } from "../bench-rows.ts";
import type { Checkout } from "../checkout.ts";
import { pushRows } from "../client.ts";
import { atRate, rateText, ratioOf, takeTurns, whileWorking } from "../lookup-rounds.ts";
import { LookupScene } from "../lookup-services.ts";
import type { BenchResult, Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";

const ROUNDS = 6;
const SECONDS = 4;
const PUSHES_PER_SECOND = 10;
const STRANGERS = 1_000;
const BAR = { atLeast: 0.9 };
let pushes = 0;

/** Lookups while profiles of people change whom nobody looks up, against the same without changes. */
export async function benchChanges(
  store: BenchStore,
  reporter: Reporter,
  beside: Checkout | null,
): Promise<void> {
  const name = `lookups, ${PUSHES_PER_SECOND} profile pushes a second against none`;
  await LookupScene.use(store, reporter, async (scene) => {
    reporter.add({ name: `${name}, ${store.name}`, ...(await compare(scene)), bar: BAR });
    if (beside === null) return;
    const other = await compare(scene, beside);
    reporter.add({ name: `${name}, the other checkout, ${store.name}`, ...other, bar: null });
  });
}

async function compare(
  scene: LookupScene,
  checkout?: Checkout,
): Promise<Omit<BenchResult, "name" | "bar">> {
  const service = await scene.startService(checkout);
  const quiet = scene.loadFor(SECONDS, service);
  const busy = whileWorking(quiet, (isOver) =>
    atRate(PUSHES_PER_SECOND, isOver, () => pushStranger(service.url)),
  );
  const loads = await takeTurns({ quiet, busy }, ROUNDS);
  return {
    ours: rateText(loads.busy),
    other: rateText(loads.quiet),
    ratio: ratioOf("perSecond", loads.busy, loads.quiet),
  };
}

async function pushStranger(url: string): Promise<void> {
  const profile = {
    username: `stranger-${++pushes % STRANGERS}`,
    display_name: `Change ${pushes}`,
    updated_at: new Date().toISOString(),
  };
  await pushRows(url, makePushBody([profile]), { table: "profiles" });
}
