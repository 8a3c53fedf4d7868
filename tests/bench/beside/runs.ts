import { makePushBody, makeRows, TABLE_NAME } from "../bench-rows.ts";
import type { Server } from "../child-process.ts";
import { pushRows } from "../client.ts";
import { type Turn, takeTurns } from "../lookup-rounds.ts";
import { timeRun } from "../run-times.ts";
import { type BenchStore, newLabel } from "../stores.ts";
import type { Checkout } from "./checkout.ts";
import type { Report, Sides } from "./paired.ts";

const ROWS = { SQLite: 20_000, MongoDB: 4_000, PostgreSQL: 10_000 };
const ROUNDS = 6;
const BATCH_ROWS = 1_000;

/** Runs between two deployments of the same commit: rows that are new there are pulled, rows that are new here are pushed. */
export async function compareRuns(store: BenchStore, sides: Sides, report: Report): Promise<void> {
  const servers: Server[] = [];
  try {
    const pairOf = async (checkout: Checkout) => {
      const remote = await store.startService(newLabel("remote"), {}, checkout);
      servers.push(remote);
      const env = { SYNC_REMOTE_URL: remote.url };
      const local = await store.startService(newLabel("local"), env, checkout);
      servers.push(local);
      return new RunPair(local, remote, ROWS[store.name]);
    };
    const [ours, other] = [await pairOf(sides.ours), await pairOf(sides.other)];
    for (const direction of ["pull", "push"] as const) {
      const turns = { ours: ours.turn(direction), other: other.turn(direction) };
      await takeTurns(turns, 1);
      const loads = await takeTurns(turns, ROUNDS);
      report(`${direction} runs of ${ROWS[store.name]} new rows`, loads, "rows");
    }
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Two deployments, one of which runs. */
class RunPair {
  readonly #local: Server;
  readonly #remote: Server;
  readonly #rows: number;
  #nextRow = 0;

  constructor(local: Server, remote: Server, rows: number) {
    this.#local = local;
    this.#remote = remote;
    this.#rows = rows;
  }

  turn(direction: "pull" | "push"): Turn {
    return async () => {
      const source = { pull: this.#remote, push: this.#local }[direction];
      for (const end = this.#nextRow + this.#rows; this.#nextRow < end; ) {
        await pushRows(source.url, makePushBody(makeRows(this.#nextRow, BATCH_ROWS)));
        this.#nextRow += BATCH_ROWS;
      }
      const run = { direction, table: TABLE_NAME, rows: this.#rows };
      const ms = await timeRun(this.#local, run);
      return { requests: 1, perSecond: (this.#rows * 1_000) / ms, p99Ms: ms };
    };
  }
}
