import { randomBytes } from "node:crypto";
import { sendJson, signInAdministrator } from "../administrator.ts";
import { makePushBody, makeRow, TABLE_NAME } from "../bench-rows.ts";
import type { Server } from "../child-process.ts";
import { openPage, pullPage, pushRows } from "../client.ts";
import { type MemoryWatch, megabytes, watchMemory } from "../memory-watch.ts";
import type { Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";

const ROW_BYTES = 10_000;
const BLOCK_BYTES = 250;
const BATCH_ROWS = 500;
const LOOK_MS = 200;
const MAX_RESIDENT_BYTES = 300_000_000;

/** A tenth of the million, in a minute: memory has to stay as it was after the first tenth of it. */
export async function benchWide(store: BenchStore, reporter: Reporter): Promise<void> {
  await movesRows(store, reporter, 100_000);
}

export async function benchWideMillion(store: BenchStore, reporter: Reporter): Promise<void> {
  await movesRows(store, reporter, 1_000_000);
}

/** Rows of 10 KB are pushed to one deployment, and pulled by a run of another. */
async function movesRows(store: BenchStore, reporter: Reporter, rows: number): Promise<void> {
  const source = await store.startService(`wide_source_${rows}`);
  const local = await store.startService(`wide_local_${rows}`, { SYNC_REMOTE_URL: source.url });
  const memory = watchMemory(source, local);
  const peaks: number[] = [];
  try {
    for (let first = 0; first < rows; first += BATCH_ROWS) {
      const some = Array.from({ length: BATCH_ROWS }, (_, i) => wideRow(first + i));
      await pushRows(source.url, makePushBody(some));
      if (first === rows / 10) peaks.push(memory.peakBytes());
    }
    peaks.push(memory.peakBytes());
    await pullAll(local, rows, { memory, peaks });
    const names = ["a tenth pushed", "all pushed", "a tenth pulled", "all pulled"];
    const told = names.map((name, i) => `${name} ${megabytes(peaks[i] ?? 0)}`).join(", ");
    reporter.say(`  ${store.name}: most memory of either end: ${told}`);
    reporter.add({
      name: `memory, ${rows} rows of 10 KB moved, ${store.name}`,
      ours: megabytes(memory.peakBytes()),
      other: megabytes(MAX_RESIDENT_BYTES),
      ratio: memory.peakBytes() / MAX_RESIDENT_BYTES,
      bar: { atMost: 1 },
    });
  } finally {
    memory.stop();
    await local.stop();
    await source.stop();
  }
}

/** Pulls by a run, whose reply may take longer than a client waits for one. */
async function pullAll(
  local: Server,
  rows: number,
  { memory, peaks }: { readonly memory: MemoryWatch; readonly peaks: number[] },
): Promise<void> {
  const token = await signInAdministrator(local);
  const body = { direction: "pull", table: TABLE_NAME };
  let failure: unknown = null;
  sendJson(`${local.url}/api/v1/sync/trigger`, body, { token }).catch((error: unknown) => {
    failure = error;
  });
  for (let pulled = 0; pulled < rows; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (failure !== null && !String(failure).includes("timed out")) throw failure;
    pulled = await countRows(local);
    if (peaks.length === 2 && pulled >= rows / 10) peaks.push(memory.peakBytes());
  }
  peaks.push(memory.peakBytes());
  const last = openPage(await pullPage(local.url, `limit=1&offset=${rows - 1}`));
  if (last[0]?.["sku"] !== makeRow(rows - 1).sku) throw new Error("The last row is wrong");
}

async function countRows({ url }: Server): Promise<number> {
  const reply = await fetch(`${url}/api/v1/sync/status`);
  const { table_counts: counts } = (await reply.json()) as { table_counts: Record<string, number> };
  return Number(counts[TABLE_NAME]);
}

/** A row of the measured table with a long title, which gzip makes short. */
function wideRow(place: number) {
  const block = randomBytes((BLOCK_BYTES * 3) / 4).toString("base64");
  return { ...makeRow(place), title: block.repeat(ROW_BYTES / BLOCK_BYTES) };
}
