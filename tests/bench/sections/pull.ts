import { MIXED, makeRow, type Shape } from "../bench-rows.ts";
import { type OpenRow, openPage, pullPage } from "../client.ts";
import { besideFloor } from "../floors/beside-floor.ts";
import { sized } from "../quick.ts";
import type { BenchResult, Reporter } from "../result.ts";
import { type BenchStore, startBoth } from "../stores.ts";

const TABLE_ROWS = sized(50_000, 10_000);
const PAGE_ROWS = [1_000, 5_000];
const BARS = { SQLite: 0.7, MongoDB: 0.8, PostgreSQL: 0.85 };
const ROUNDS = { warmUpRounds: 20, rounds: 80 };

/** Pull pages, read in order, against the same read, JSON, SHA-256 and gzip without the service. */
export async function benchPull(store: BenchStore, reporter: Reporter): Promise<void> {
  const bar = { atLeast: BARS[store.name] };
  await pullPages(store, reporter, { shape: MIXED, name: "pull", pageRows: PAGE_ROWS, bar });
}

/** What is pulled, and how the lines of it are called. */
interface Pulled {
  readonly shape: Shape;
  readonly name: string;
  readonly pageRows: readonly number[];
  readonly bar: BenchResult["bar"];
}

export async function pullPages(
  store: BenchStore,
  reporter: Reporter,
  { shape, name, pageRows, bar }: Pulled,
): Promise<void> {
  const pair = await startBoth(store, TABLE_ROWS, shape);
  const { service, floor, stop } = pair;
  try {
    for (const rows of pageRows) {
      const offsetOf = (round: number) => (round * rows) % TABLE_ROWS;
      const ours = (round: number) =>
        pullPage(service.url, `limit=${rows}&offset=${offsetOf(round)}`, shape.table);
      const other = (round: number) => pullPage(floor.url, floorQuery(rows, offsetOf(round)));
      checkSame(openPage(await ours(1)), openPage(await other(1)));
      const rate = await besideFloor(pair, { ...ROUNDS, rows }, { ours, other });
      reporter.add({ ...rate, name: `${name}, pages of ${rows}, ${store.name}`, bar });
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
