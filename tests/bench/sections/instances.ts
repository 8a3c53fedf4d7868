import { CONNECTIONS, type Load } from "../lookup-load.ts";
import { rateText, ratioOf, type Turn, takeTurns } from "../lookup-rounds.ts";
import { makeCaller } from "../lookup-scene.ts";
import { LookupScene } from "../lookup-services.ts";
import type { BenchResult, Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";

const ROUNDS = 6;
const SECONDS = 4;
const BAR = { atLeast: 0.8 };

/** Two instances that count for one account, against the same two with an account each. */
export async function benchInstances(store: BenchStore, reporter: Reporter): Promise<void> {
  const name = `lookups, two instances with one account against two accounts, ${store.name}`;
  await LookupScene.use(store, reporter, async (scene) => {
    reporter.add({ name, ...(await compare(scene)), bar: BAR });
  });
}

async function compare(scene: LookupScene): Promise<Omit<BenchResult, "name" | "bar">> {
  const first = await scene.startService();
  const second = await scene.startInstance(first.label);
  const otherKey = await makeCaller(first.url, "other-business");
  const half = (url: string, key: string) => scene.loadFor(SECONDS, { url, key }, CONNECTIONS / 2);
  const shared = both(half(first.url, first.key), half(second.url, first.key));
  const separate = both(half(first.url, first.key), half(second.url, otherKey));
  await shared();
  const loads = await takeTurns({ shared, separate }, ROUNDS);
  return {
    ours: rateText(loads.shared),
    other: rateText(loads.separate),
    ratio: ratioOf("perSecond", loads.shared, loads.separate),
  };
}

/** Two loads at once, added up. */
function both(one: Turn, two: Turn): Turn {
  return async (): Promise<Load> => {
    const [a, b] = await Promise.all([one(), two()]);
    return {
      requests: a.requests + b.requests,
      perSecond: a.perSecond + b.perSecond,
      p99Ms: Math.max(a.p99Ms, b.p99Ms),
    };
  };
}
