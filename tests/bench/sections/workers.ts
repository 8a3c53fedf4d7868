import { alternate } from "../alternate.ts";
import { makePushBody, makeRows } from "../bench-rows.ts";
import { pullPage, pushRows } from "../client.ts";
import { CONNECTIONS } from "../lookup-load.ts";
import { rateText, ratioOf, takeTurns } from "../lookup-rounds.ts";
import { LookupScene } from "../lookup-services.ts";
import type { Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";

const ROUNDS = 5;
const SECONDS = 3;
const ROWS = 20_000;
const PAGES_AT_ONCE = 8;
const PAGES = 64;
const TWO = { WORKERS: "2" };

/** What a second worker brings on this machine, for lookups and for pulls. D-10.11. */
export async function benchWorkers(store: BenchStore, reporter: Reporter): Promise<void> {
  await benchPulls(store, reporter);
  await LookupScene.use(store, reporter, async (scene) => {
    const one = await scene.startService();
    const two = await scene.startService(undefined, TWO);
    const loads = await takeTurns(
      {
        two: scene.loadFor(SECONDS, two, CONNECTIONS),
        one: scene.loadFor(SECONDS, one, CONNECTIONS),
      },
      ROUNDS,
    );
    reporter.add({
      name: `lookups, two workers against one, ${store.name}`,
      ours: rateText(loads.two),
      other: rateText(loads.one),
      ratio: ratioOf("perSecond", loads.two, loads.one),
      bar: null,
    });
  });
}

async function benchPulls(store: BenchStore, reporter: Reporter): Promise<void> {
  const one = await store.startService("pulls-of-one");
  const two = await store.startService("pulls-of-two", TWO);
  try {
    const body = makePushBody(makeRows(0, ROWS));
    for (const { url } of [one, two]) await pushRows(url, body);
    const contestants = { ours: () => pullAll(two.url), other: () => pullAll(one.url) };
    const { oursMs, otherMs } = await alternate(contestants, { warmUpRounds: 1, rounds: ROUNDS });
    const rate = (ms: number) => `${((PAGES / ms) * 1000).toFixed(0)} pages/s`;
    reporter.add({
      name: `pages of 1,000 rows, ${PAGES_AT_ONCE} at once, two workers against one, ${store.name}`,
      ours: rate(oursMs),
      other: rate(otherMs),
      ratio: otherMs / oursMs,
      bar: null,
    });
  } finally {
    await Promise.all([one.stop(), two.stop()]);
  }
}

/** By connections that stay open: the worker that accepted one answers all of its requests. */
async function pullAll(url: string): Promise<void> {
  let left = PAGES;
  const pull = async () => {
    while (left-- > 0) await pullPage(url, `since=1970-01-01&limit=1000&offset=${left * 100}`);
  };
  await Promise.all(Array.from({ length: PAGES_AT_ONCE }, pull));
}
