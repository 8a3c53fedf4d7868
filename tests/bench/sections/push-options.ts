import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alternate } from "../alternate.ts";
import {
  type BenchRow,
  MIXED,
  makePushBody,
  makeRows,
  type PushedRows,
  TABLE_ENTRY,
  TABLE_NAME,
} from "../bench-rows.ts";
import { pushRows } from "../client.ts";
import { sized } from "../quick.ts";
import { type Reporter, rowRate } from "../result.ts";
import { type BenchStore, fill } from "../stores.ts";

const TABLE_ROWS = sized(50_000, 10_000);
const BATCH_ROWS = 1_000;
const ROUNDS = {
  SQLite: { warmUpRounds: 10, rounds: 60 },
  MongoDB: { warmUpRounds: 3, rounds: 31 },
  PostgreSQL: { warmUpRounds: 10, rounds: 60 },
};
const WITH_DELETES = "bench_rows_with_deletes";
const GUARD = { "X-Sync-Conflict": "newer" };
/** What is compared, and how many times as long it may take. */
const CASES = [
  { name: "guarded against unguarded", table: TABLE_NAME, headers: GUARD, atMost: 1.1 },
  { name: "with deletes against without", table: WITH_DELETES, headers: {}, atMost: 1.25 },
] as const;

/** What the guard and the record of deletes cost a push: beside the same push without, of other rows of one service. */
export async function benchPushOptions(store: BenchStore, reporter: Reporter): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "repsync-bench-"));
  const registry = join(folder, "tables.json");
  const tables = { [TABLE_NAME]: TABLE_ENTRY, [WITH_DELETES]: { ...TABLE_ENTRY, deletes: true } };
  writeFileSync(registry, JSON.stringify({ tables }));
  const service = await store.startService("push_options", { SYNC_TABLES: registry });
  const rounds = ROUNDS[store.name];
  const batches = new Batches(rounds.warmUpRounds + rounds.rounds);
  try {
    for (const table of [TABLE_NAME, WITH_DELETES])
      await fill(service, TABLE_ROWS, { ...MIXED, table });
    for (const { name, table, headers, atMost } of CASES) {
      for (const keys of ["existing", "new"] as const) {
        const [ours, other] = batches.next(keys);
        const { oursMs, otherMs } = await alternate(
          {
            ours: (n) => pushRows(service.url, ours[n] as PushedRows, { table, headers }),
            other: (n) => pushRows(service.url, other[n] as PushedRows),
          },
          rounds,
        );
        reporter.add({
          name: `push of ${BATCH_ROWS} ${keys} keys, ${name}, ${store.name}`,
          ours: rowRate(BATCH_ROWS, oursMs),
          other: rowRate(BATCH_ROWS, otherMs),
          ratio: oursMs / otherMs,
          bar: { atMost },
        });
      }
    }
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes the pushes of both sides: later versions of the rows that are there, or rows that nobody has pushed. */
class Batches {
  readonly #count: number;
  #version = 0;
  #newRows = 0;

  constructor(count: number) {
    this.#count = count;
  }

  next(keys: "existing" | "new"): readonly [ours: PushedRows[], other: PushedRows[]] {
    const ours: PushedRows[] = [];
    const other: PushedRows[] = [];
    for (let n = 0; n < this.#count; n++) {
      const place = n * BATCH_ROWS;
      // Each side's pass over the table is a version; few, as their times must not be in the future.
      if (place % TABLE_ROWS === 0) this.#version += 2;
      for (const [side, bodies] of [ours, other].entries()) {
        const rows =
          keys === "new"
            ? this.#added()
            : makeRows(place % TABLE_ROWS, BATCH_ROWS, this.#version + side);
        bodies.push(makePushBody(rows));
      }
    }
    return [ours, other];
  }

  #added(): BenchRow[] {
    const first = TABLE_ROWS + this.#newRows;
    this.#newRows += BATCH_ROWS;
    return makeRows(first, BATCH_ROWS);
  }
}
