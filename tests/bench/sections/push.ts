import { MIXED, makePushBody, type PushedRows, type Shape } from "../bench-rows.ts";
import { openPage, pullPage, pushRows } from "../client.ts";
import { besideFloor } from "../floors/beside-floor.ts";
import { sized } from "../quick.ts";
import type { BenchResult, Reporter } from "../result.ts";
import { type BenchStore, startBoth } from "../stores.ts";
import { benchPushOptions } from "./push-options.ts";

const TABLE_ROWS = sized(50_000, 10_000);
const BARS = { SQLite: 0.5, MongoDB: 0.85, PostgreSQL: 0.8 };
const BATCHES_OF_MANY = [
  { rows: 1_000, warmUpRounds: 10, rounds: 60 },
  { rows: 5_000, warmUpRounds: 10, rounds: 40 },
];
/** MongoDB takes tens of times longer, with three servers on the cores of one machine. */
const BATCHES = {
  SQLite: BATCHES_OF_MANY,
  PostgreSQL: BATCHES_OF_MANY,
  MongoDB: [
    { rows: 1_000, warmUpRounds: 3, rounds: 31 },
    { rows: 5_000, warmUpRounds: 2, rounds: 13 },
  ],
};

/** Pushes of existing keys with changed values, then of new keys, against the same upserts without the service. */
export async function benchPush(store: BenchStore, reporter: Reporter): Promise<void> {
  const bar = { atLeast: BARS[store.name] };
  await pushBatches(store, reporter, { shape: MIXED, what: "", batches: BATCHES[store.name], bar });
  await benchPushOptions(store, reporter);
}

/** Batches of a thousand rows. */
export async function pushThousands(
  store: BenchStore,
  reporter: Reporter,
  pushed: Omit<Pushed, "batches">,
): Promise<void> {
  await pushBatches(store, reporter, { ...pushed, batches: BATCHES[store.name].slice(0, 1) });
}

/** What is pushed, and how the lines of it are called. */
interface Pushed {
  readonly shape: Shape;
  readonly what: string;
  readonly batches: (typeof BATCHES)[keyof typeof BATCHES];
  readonly bar: BenchResult["bar"];
}

async function pushBatches(
  store: BenchStore,
  reporter: Reporter,
  { shape, what, batches, bar }: Pushed,
): Promise<void> {
  const pair = await startBoth(store, TABLE_ROWS, shape);
  const { service, floor, stop } = pair;
  try {
    let version = 0;
    let newRows = 0;
    for (const { rows, ...rounds } of batches) {
      const existing: PushedRows[] = [];
      const added: PushedRows[] = [];
      for (let round = 0; round < rounds.warmUpRounds + rounds.rounds; round++) {
        const first = (round * rows) % TABLE_ROWS;
        if (first === 0) version++;
        existing.push(makePushBody(shape.makeRows(first, rows, version)));
        added.push(makePushBody(shape.makeRows(TABLE_ROWS + newRows, rows)));
        newRows += rows;
      }
      for (const [keys, bodies] of Object.entries({ existing, new: added })) {
        const rate = await besideFloor(
          pair,
          { ...rounds, rows },
          {
            ours: (round) => pushRows(service.url, bodies[round] as PushedRows, shape),
            other: (round) => pushRows(floor.url, bodies[round] as PushedRows),
          },
        );
        reporter.add({ ...rate, name: `push of ${rows} ${keys} keys${what}, ${store.name}`, bar });
      }
    }
    await checkSame(service.url, floor.url, shape);
  } finally {
    await stop();
  }
}

/** What both have written has to be the same for the ratio to mean anything. */
async function checkSame(serviceUrl: string, floorUrl: string, { table }: Shape): Promise<void> {
  const [ours, other] = await Promise.all([
    pullPage(serviceUrl, "limit=5000", table),
    pullPage(floorUrl, "limit=5000"),
  ]);
  const views = (page: Parameters<typeof openPage>[0]) =>
    openPage(page).map((row) => `${row["sku"]} ${row["title"]} ${row["views"]} ${row["price"]}`);
  if (views(ours).join() !== views(other).join()) {
    throw new Error("Both servers have not written the same rows");
  }
}
