import { alternate } from "../alternate.ts";
import { makePushBody, makeRows, type PushedRows } from "../bench-rows.ts";
import { openPage, pullPage, pushRows } from "../client.ts";
import { type Reporter, rowRate } from "../result.ts";
import { type BenchStore, startBoth } from "../stores.ts";
import { benchPushOptions } from "./push-options.ts";

const TABLE_ROWS = 50_000;
const BARS = { SQLite: 0.5, MongoDB: 0.85 };
/** MongoDB takes tens of times longer, with three servers on the cores of one machine. */
const BATCHES = {
  SQLite: [
    { rows: 1_000, warmUpRounds: 10, rounds: 60 },
    { rows: 5_000, warmUpRounds: 10, rounds: 40 },
  ],
  MongoDB: [
    { rows: 1_000, warmUpRounds: 3, rounds: 31 },
    { rows: 5_000, warmUpRounds: 2, rounds: 13 },
  ],
};

/** Pushes of existing keys with changed values, then of new keys, against the same upserts without the service. */
export async function benchPush(store: BenchStore, reporter: Reporter): Promise<void> {
  const { service, floor, stop } = await startBoth(store, TABLE_ROWS);
  try {
    let version = 0;
    let newRows = 0;
    for (const { rows, ...rounds } of BATCHES[store.name]) {
      const existing: PushedRows[] = [];
      const added: PushedRows[] = [];
      for (let round = 0; round < rounds.warmUpRounds + rounds.rounds; round++) {
        const first = (round * rows) % TABLE_ROWS;
        if (first === 0) version++;
        existing.push(makePushBody(makeRows(first, rows, version)));
        added.push(makePushBody(makeRows(TABLE_ROWS + newRows, rows)));
        newRows += rows;
      }
      for (const [keys, bodies] of Object.entries({ existing, new: added })) {
        const { oursMs, otherMs } = await alternate(
          {
            ours: (round) => pushRows(service.url, bodies[round] as PushedRows),
            other: (round) => pushRows(floor.url, bodies[round] as PushedRows),
          },
          rounds,
        );
        reporter.add({
          name: `push of ${rows} ${keys} keys, ${store.name}`,
          ours: rowRate(rows, oursMs),
          other: rowRate(rows, otherMs),
          ratio: otherMs / oursMs,
          bar: { atLeast: BARS[store.name] },
        });
      }
    }
    await checkSame(service.url, floor.url);
  } finally {
    await stop();
  }
  await benchPushOptions(store, reporter);
}

/** What both have written has to be the same for the ratio to mean anything. */
async function checkSame(serviceUrl: string, floorUrl: string): Promise<void> {
  const [ours, other] = await Promise.all([
    pullPage(serviceUrl, "limit=5000"),
    pullPage(floorUrl, "limit=5000"),
  ]);
  const views = (page: Parameters<typeof openPage>[0]) =>
    openPage(page).map((row) => `${row["sku"]} ${row["views"]} ${row["price"]}`);
  if (views(ours).join() !== views(other).join()) {
    throw new Error("Both servers have not written the same rows");
  }
}
