import { alternate } from "../alternate.ts";
import { makeRow } from "../bench-rows.ts";
import { type OpenRow, openPage, pullPage } from "../client.ts";
import { type Reporter, rowRate } from "../result.ts";
import { type BenchStore, startBoth } from "../stores.ts";

const TABLE_ROWS = 50_000;
const PAGE_ROWS = [1_000, 5_000];
const BARS = { SQLite: 0.7, MongoDB: 0.8 };
const ROUNDS = { warmUpRounds: 20, rounds: 80 };

/** Pull pages, read in order, against the same read, JSON, SHA-256 and gzip without the service. */
export async function benchPull(store: BenchStore, reporter: Reporter): Promise<void> {
  const { service, floor, stop } = await startBoth(store, TABLE_ROWS);
  try {
    for (const rows of PAGE_ROWS) {
      const offsetOf = (round: number) => (round * rows) % TABLE_ROWS;
      const ours = (round: number) =>
        pullPage(service.url, `limit=${rows}&offset=${offsetOf(round)}`);
      const other = (round: number) => pullPage(floor.url, floorQuery(rows, offsetOf(round)));
      checkSame(openPage(await ours(1)), openPage(await other(1)));
      const { oursMs, otherMs } = await alternate({ ours, other }, ROUNDS);
      reporter.add({
        name: `pull, pages of ${rows}, ${store.name}`,
        ours: rowRate(rows, oursMs),
        other: rowRate(rows, otherMs),
        ratio: otherMs / oursMs,
        bar: { atLeast: BARS[store.name] },
      });
    }
  } finally {
    await stop();
  }
}

function floorQuery(rows: number, offset: number): string {
  if (offset === 0) return `limit=${rows}`;
  return `limit=${rows}&after=${makeRow(offset - 1).updated_at}`;
}

/** Both have to give the same rows for the ratio to mean anything. */
function checkSame(ours: readonly OpenRow[], other: readonly OpenRow[]): void {
  const isSame = ours.every((row, i) => row["sku"] === other[i]?.["sku"]);
  if (ours.length === 0 || ours.length !== other.length || !isSame) {
    throw new Error("Both servers do not give the same page");
  }
}
