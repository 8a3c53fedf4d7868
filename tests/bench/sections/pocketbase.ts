import { alternate } from "../alternate.ts";
import { makePushBody, makeRows } from "../bench-rows.ts";
import { openPage, pullPage, pushRows } from "../client.ts";
import { batchOf, type Pocketbase, startPocketbase } from "../pocketbase.ts";
import { type BenchResult, type Reporter, rowRate } from "../result.ts";
import type { BenchStore } from "../stores.ts";

const BATCHES = 5;
const BATCH_ROWS = 1_000;
const PUSH_ROUNDS = { warmUpRounds: 2, rounds: 6 };
const PULL_ROUNDS = { warmUpRounds: 5, rounds: 25 };
const NUMBERS = Array.from({ length: BATCHES }, (_, number) => number);

/** Upserts and pages of the same rows, against PocketBase on its own SQLite. */
export async function benchPocketbase(store: BenchStore, reporter: Reporter): Promise<void> {
  const binary = process.env.POCKETBASE_BINARY;
  if (binary === undefined) {
    reporter.say("  Left out: POCKETBASE_BINARY does not name a PocketBase program");
    return;
  }
  const service = await store.startService("pocketbase");
  try {
    const pocketbase = await startPocketbase(binary);
    try {
      await compare({ url: service.url, pocketbase, reporter });
    } finally {
      await pocketbase.stop();
    }
  } finally {
    await service.stop();
  }
}

async function compare({
  url,
  pocketbase,
  reporter,
}: {
  readonly url: string;
  readonly pocketbase: Pocketbase;
  readonly reporter: Reporter;
}): Promise<void> {
  const bodies = Array.from({ length: PUSH_ROUNDS.warmUpRounds + PUSH_ROUNDS.rounds }, (_, round) =>
    NUMBERS.map((number) => makeRows(number * BATCH_ROWS, BATCH_ROWS, round)).map((rows) => ({
      ours: makePushBody(rows),
      other: batchOf(rows),
    })),
  );
  const pushed = await alternate(
    {
      ours: async (round) => {
        for (const body of bodies[round] ?? []) await pushRows(url, body.ours);
      },
      other: async (round) => {
        for (const body of bodies[round] ?? []) await pocketbase.push(body.other);
      },
    },
    PUSH_ROUNDS,
  );
  const pulled = await alternate(
    {
      ours: async () => {
        for (const number of NUMBERS) {
          const page = await pullPage(url, `limit=${BATCH_ROWS}&offset=${number * BATCH_ROWS}`);
          checkRows(openPage(page).length);
        }
      },
      other: async () => {
        for (const number of NUMBERS) checkRows(await pocketbase.pull(number + 1, BATCH_ROWS));
      },
    },
    PULL_ROUNDS,
  );
  reporter.add(result("push", pushed, 20));
  reporter.add(result("pull", pulled, 2));
}

function result(
  direction: string,
  { oursMs, otherMs }: { readonly oursMs: number; readonly otherMs: number },
  atLeast: number,
): BenchResult {
  const rows = BATCHES * BATCH_ROWS;
  return {
    name: `${direction} of ${BATCHES} x ${BATCH_ROWS} rows against PocketBase`,
    ours: rowRate(rows, oursMs),
    other: rowRate(rows, otherMs),
    ratio: otherMs / oursMs,
    bar: { atLeast },
  };
}

function checkRows(rows: number): void {
  if (rows !== BATCH_ROWS) throw new Error(`A page has ${rows} rows, not ${BATCH_ROWS}`);
}
