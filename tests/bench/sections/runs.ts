import { readCities } from "../../../src/cli/demo/move-cities.ts";
import { median, timeMs } from "../alternate.ts";
import { makePushBody, makeRows, type PushedRows, TABLE_NAME } from "../bench-rows.ts";
import type { Server } from "../child-process.ts";
import { openPage, pullPage, pushRows } from "../client.ts";
import { megabytes, watchMemory } from "../memory-watch.ts";
import { startProxy } from "../proxy.ts";
import { sized } from "../quick.ts";
import { type Reporter, rowRate } from "../result.ts";
import { timeRun } from "../run-times.ts";
import { type BenchStore, fill } from "../stores.ts";

const ROUNDS = sized(3, 1);
const BATCH_ROWS = 5_000;
/** Of a file, where no server writes. */
const MIN_RATE_PER_SECOND = 60_000;
const MIN_OVERLAP = 0.6;
const MILLION = sized(1_000_000, 20_000);
const CHANGED_ROWS = 100;
const MAX_OWN_WORK_MS = 100;
const MAX_RESIDENT_BYTES = 300_000_000;

/** Runs between two deployments: whole tables both ways, and small changes to a large one. */
export async function benchRuns(store: BenchStore, reporter: Reporter): Promise<void> {
  await benchWholeTables(store, reporter);
  await benchSmallChanges(store, reporter);
}

/** What one round measured, in milliseconds for all rows, and the most memory of either end. */
interface Round {
  readonly readMs: number;
  readonly writeMs: number;
  readonly pullMs: number;
  readonly pushMs: number;
  readonly peakBytes: number;
}

async function benchWholeTables(store: BenchStore, reporter: Reporter): Promise<void> {
  const cities = await readCities();
  const batches: PushedRows[] = [];
  for (let i = 0; i < cities.length; i += BATCH_ROWS) {
    batches.push(makePushBody(cities.slice(i, i + BATCH_ROWS)));
  }
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push(await measureRound(store, { round, batches, rows: cities.length }));
  }
  const middle = (of: (round: Round) => number) => median(rounds.map(of));
  const slowerMs = Math.max(
    middle(({ readMs }) => readMs),
    middle(({ writeMs }) => writeMs),
  );
  const runs = { pull: middle(({ pullMs }) => pullMs), push: middle(({ pushMs }) => pushMs) };
  for (const [direction, runMs] of Object.entries(runs)) {
    const rate = rowRate(cities.length, runMs);
    if (store.name === "SQLite") {
      reporter.add({
        name: `run, ${direction} of ${cities.length} rows, ${store.name}`,
        ours: rate,
        other: `${MIN_RATE_PER_SECOND / 1000}k rows/s`,
        ratio: (cities.length / runMs) * (1000 / MIN_RATE_PER_SECOND),
        bar: { atLeast: 1 },
      });
    }
    reporter.add({
      name: `run, ${direction}, against the slower end alone, ${store.name}`,
      ours: rate,
      other: rowRate(cities.length, slowerMs),
      ratio: slowerMs / runMs,
      bar: { atLeast: MIN_OVERLAP },
    });
  }
  const peakBytes = Math.max(...rounds.map((round) => round.peakBytes));
  reportMemory(store, reporter, { name: "runs of whole tables", peakBytes });
}

/** Every round has stores of its own, as rows that are there already are not written again. */
async function measureRound(
  store: BenchStore,
  of: { readonly round: number; readonly batches: readonly PushedRows[]; readonly rows: number },
): Promise<Round> {
  const { round, batches, rows } = of;
  const receiver = await store.startService(`receiver_${round}`);
  const alone = await store.startService(`alone_${round}`);
  const source = await store.startService(`source_${round}`, remoteOf(receiver));
  const puller = await store.startService(`puller_${round}`, remoteOf(source));
  const all = [receiver, alone, source, puller];
  try {
    await pushAll(source, batches);
    const writeMs = await timeMs(() => pushAll(alone, batches));
    const readMs = await timeMs(() => pullAll(source, rows));
    const memory = watchMemory(...all);
    const pullMs = await timeRun(puller, { direction: "pull", table: "cities", rows });
    const pushMs = await timeRun(source, { direction: "push", table: "cities", rows });
    memory.stop();
    return { readMs, writeMs, pullMs, pushMs, peakBytes: memory.peakBytes() };
  } finally {
    await Promise.all(all.map((server) => server.stop()));
  }
}

/** What a run costs beyond its requests when a hundred rows of a million have changed. */
async function benchSmallChanges(store: BenchStore, reporter: Reporter): Promise<void> {
  const remote = await store.startService("large_remote");
  const proxy = startProxy(remote.url);
  const local = await store.startService("large_local", remoteOf(proxy));
  const memory = watchMemory(remote, local);
  try {
    await fill(remote, MILLION);
    const table = TABLE_NAME;
    const firstMs = await timeRun(local, { direction: "pull", table, rows: MILLION });
    reporter.say(`  ${store.name}: a million rows pulled at ${rowRate(MILLION, firstMs)}`);
    // What came does not go back; the marker passes it.
    await timeRun(local, { direction: "push", table, rows: 0 });
    for (const direction of ["pull", "push"] as const) {
      const ownMs: number[] = [];
      for (let version = 1; version <= ROUNDS; version++) {
        const changed = { pull: remote, push: local }[direction];
        const ahead = direction === "pull" ? version : ROUNDS + version;
        await pushRows(changed.url, makePushBody(makeRows(MILLION / 2, CHANGED_ROWS, ahead)));
        const requestsMs = proxy.busyMs();
        const runMs = await timeRun(local, { direction, table, rows: CHANGED_ROWS });
        ownMs.push(runMs - (proxy.busyMs() - requestsMs));
      }
      reporter.add({
        name: `run, ${direction} of ${CHANGED_ROWS} changed rows of a million, ${store.name}`,
        ours: `${median(ownMs).toFixed(0)} ms own work`,
        other: `${MAX_OWN_WORK_MS} ms allowed`,
        ratio: median(ownMs) / MAX_OWN_WORK_MS,
        bar: { atMost: 1 },
      });
    }
    reportMemory(store, reporter, {
      name: "runs over a million rows",
      peakBytes: memory.peakBytes(),
    });
  } finally {
    memory.stop();
    await local.stop();
    await proxy.stop();
    await remote.stop();
  }
}

async function pushAll(server: Server, batches: readonly PushedRows[]): Promise<void> {
  for (const batch of batches) await pushRows(server.url, batch, { table: "cities" });
}

async function pullAll(server: Server, rows: number): Promise<void> {
  for (let offset = 0; offset < rows; offset += BATCH_ROWS) {
    const page = await pullPage(server.url, `limit=${BATCH_ROWS}&offset=${offset}`, "cities");
    if (offset === 0 && openPage(page).length !== BATCH_ROWS) throw new Error("A page is short");
  }
}

function remoteOf({ url }: { readonly url: string }) {
  return { SYNC_REMOTE_URL: url };
}

function reportMemory(
  store: BenchStore,
  reporter: Reporter,
  { name, peakBytes }: { readonly name: string; readonly peakBytes: number },
): void {
  reporter.add({
    name: `memory, ${name}, ${store.name}`,
    ours: megabytes(peakBytes),
    other: megabytes(MAX_RESIDENT_BYTES),
    ratio: peakBytes / MAX_RESIDENT_BYTES,
    bar: { atMost: 1 },
  });
}
