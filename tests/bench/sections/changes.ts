import { makePushBody } from "../bench-rows.ts";
import type { Checkout } from "../checkout.ts";
import { pushRows } from "../client.ts";
import { rateText, ratioOf, type Turn, takeTurns } from "../lookup-rounds.ts";
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
  const loads = await takeTurns({ quiet, busy: whilePushing(service.url, quiet) }, ROUNDS);
  return {
    ours: rateText(loads.busy),
    other: rateText(loads.quiet),
    ratio: ratioOf("perSecond", loads.busy, loads.quiet),
  };
}

/** The same turn, with pushes of one stranger each meanwhile. */
function whilePushing(url: string, turn: Turn): Turn {
  return async () => {
    let isOver = false;
    const push = async () => {
      while (!isOver) {
        const pause = new Promise((resolve) => setTimeout(resolve, 1_000 / PUSHES_PER_SECOND));
        await Promise.all([pushStranger(url), pause]);
      }
    };
    const load = turn().finally(() => {
      isOver = true;
    });
    await Promise.all([load, push()]);
    return await load;
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
