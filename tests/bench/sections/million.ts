import { alternate, median, timeMs } from "../alternate.ts";
import { makePushBody, makeRows } from "../bench-rows.ts";
import type { Server } from "../child-process.ts";
import { openPage, pullPage, pushRows } from "../client.ts";
import { megabytes, watchMemory } from "../memory-watch.ts";
import { sized } from "../quick.ts";
import { type Reporter, rowRate } from "../result.ts";
import type { BenchStore } from "../stores.ts";

const TABLE_ROWS = sized(1_000_000, 100_000);
const BATCH_ROWS = 5_000;
const PAGE_ROWS = 5_000;
/** Pages at each end of the table that stand for its first and its last. */
const END_PAGES = 10;
const MAX_RESIDENT_BYTES = 300_000_000;
const MAX_DEPTH_RATIO = 2;

/** A million rows pushed to one process, then pulled in order: its memory, and what depth costs. */
export async function benchMillion(store: BenchStore, reporter: Reporter): Promise<void> {
  const service = await store.startService("million");
  const memory = watchMemory(service);
  try {
    const pushMs = await timeMs(() => pushAll(service));
    const pushedBytes = memory.peakBytes();
    const pageMs: number[] = [];
    const pullMs = await timeMs(() => pullAll(service, pageMs));
    reporter.say(
      `  ${store.name}: a million rows pushed at ${rowRate(TABLE_ROWS, pushMs)} and pulled at ` +
        `${rowRate(TABLE_ROWS, pullMs)}; most memory ${megabytes(pushedBytes)} while pushing`,
    );
    reporter.add({
      name: `memory, a million rows pushed and pulled, ${store.name}`,
      ours: megabytes(memory.peakBytes()),
      other: megabytes(MAX_RESIDENT_BYTES),
      ratio: memory.peakBytes() / MAX_RESIDENT_BYTES,
      bar: { atMost: 1 },
    });
    reportDepth(store, reporter, await depthMs(service, pageMs));
  } finally {
    memory.stop();
    await service.stop();
  }
}

async function pushAll(service: Server): Promise<void> {
  for (let first = 0; first < TABLE_ROWS; first += BATCH_ROWS) {
    await pushRows(service.url, makePushBody(makeRows(first, BATCH_ROWS)));
  }
}

async function pullAll(service: Server, pageMs: number[]): Promise<void> {
  for (let offset = 0; offset < TABLE_ROWS; offset += PAGE_ROWS) {
    pageMs.push(await timeMs(() => pullPage(service.url, pageQuery(offset))));
  }
  const last = openPage(await pullPage(service.url, pageQuery(TABLE_ROWS - PAGE_ROWS)));
  const expected = makeRows(TABLE_ROWS - PAGE_ROWS, PAGE_ROWS);
  if (last.at(-1)?.["sku"] !== expected.at(-1)?.sku) throw new Error("The last page is wrong");
}

/** The worse of both: the ends of the one walk, and first and last page asked in turns after it. */
async function depthMs(service: Server, pageMs: readonly number[]) {
  const walked = {
    firstMs: median(pageMs.slice(1, 1 + END_PAGES)),
    lastMs: median(pageMs.slice(-END_PAGES)),
  };
  const inTurns = await alternate(
    {
      ours: () => pullPage(service.url, pageQuery(0)),
      other: () => pullPage(service.url, pageQuery(TABLE_ROWS - PAGE_ROWS)),
    },
    { warmUpRounds: 3, rounds: 15 },
  );
  const turns = { firstMs: inTurns.oursMs, lastMs: inTurns.otherMs };
  const isWalkWorse = walked.lastMs / walked.firstMs > turns.lastMs / turns.firstMs;
  return isWalkWorse ? walked : turns;
}

function reportDepth(
  store: BenchStore,
  reporter: Reporter,
  { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number },
): void {
  reporter.add({
    name: `last page of a million rows against its first, ${store.name}`,
    ours: `${lastMs.toFixed(1)} ms`,
    other: `${firstMs.toFixed(1)} ms`,
    ratio: lastMs / firstMs,
    bar: { atMost: MAX_DEPTH_RATIO },
  });
}

function pageQuery(offset: number): string {
  return `limit=${PAGE_ROWS}&offset=${offset}`;
}
