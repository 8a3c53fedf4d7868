import { timeMs } from "../alternate.ts";
import { makePushBody, makeRows, type PushedRows } from "../bench-rows.ts";
import type { Server } from "../child-process.ts";
import { pullPage, pushRows } from "../client.ts";
import type { Load } from "../lookup-load.ts";
import { type Turn, takeTurns } from "../lookup-rounds.ts";
import { sized } from "../quick.ts";
import { type BenchStore, startFilled } from "../stores.ts";
import type { Report, Sides } from "./paired.ts";

const TABLE_ROWS = sized(50_000, 10_000);
const ROWS = 1_000;
const PAGES_PER_ROUND = 50;
const PAGE_ROUNDS = 10;
const PUSHES = {
  SQLite: { perRound: 10, rounds: 10 },
  MongoDB: { perRound: 4, rounds: 8 },
  PostgreSQL: { perRound: 10, rounds: 10 },
};

/** Pages of a thousand rows, read in order. */
export async function comparePages(store: BenchStore, sides: Sides, report: Report): Promise<void> {
  await useBoth(store, sides, async (ours, other) => {
    const turnOf = (server: Server): Turn => {
      let page = 0;
      return () =>
        loadOf(PAGES_PER_ROUND, async () => {
          await pullPage(server.url, `limit=${ROWS}&offset=${(page++ * ROWS) % TABLE_ROWS}`);
        });
    };
    const turns = { ours: turnOf(ours), other: turnOf(other) };
    await takeTurns(turns, 1);
    report(`pages of ${ROWS}`, await takeTurns(turns, PAGE_ROUNDS), "rows");
  });
}

/** Pushes of a thousand rows: existing keys with changed values, then new keys. */
export async function comparePushes(
  store: BenchStore,
  sides: Sides,
  report: Report,
): Promise<void> {
  const { perRound, rounds } = PUSHES[store.name];
  await useBoth(store, sides, async (ours, other) => {
    const count = (rounds + 1) * perRound;
    for (const keys of ["existing", "new"] as const) {
      const bodies = Array.from({ length: count }, (_, n) => makePushBody(rowsOf(keys, n)));
      const turnOf = (server: Server): Turn => {
        let next = 0;
        return () => loadOf(perRound, () => pushRows(server.url, bodies[next++] as PushedRows));
      };
      const turns = { ours: turnOf(ours), other: turnOf(other) };
      await takeTurns(turns, 1);
      report(`pushes of ${ROWS} ${keys} keys`, await takeTurns(turns, rounds), "rows");
    }
  });
}

/** Rows of one push after the other; each pass over the table is a later version. */
function rowsOf(keys: "existing" | "new", push: number): readonly object[] {
  const first = push * ROWS;
  if (keys === "new") return makeRows(TABLE_ROWS + first, ROWS);
  return makeRows(first % TABLE_ROWS, ROWS, 1 + Math.floor(first / TABLE_ROWS));
}

/** Times requests of `ROWS` rows each, one after the other. */
async function loadOf(requests: number, request: () => Promise<void>): Promise<Load> {
  const timesMs: number[] = [];
  for (let n = 0; n < requests; n++) timesMs.push(await timeMs(request));
  const sumMs = timesMs.reduce((sum, ms) => sum + ms, 0);
  timesMs.sort((a, b) => a - b);
  return {
    requests,
    perSecond: (requests * ROWS * 1_000) / sumMs,
    p99Ms: timesMs[Math.ceil(requests * 0.99) - 1] ?? Number.NaN,
  };
}

async function useBoth(
  store: BenchStore,
  sides: Sides,
  measure: (ours: Server, other: Server) => Promise<void>,
): Promise<void> {
  const servers: Server[] = [];
  try {
    for (const checkout of [sides.ours, sides.other]) {
      servers.push(await startFilled(store, { rows: TABLE_ROWS, checkout }));
    }
    const [ours, other] = servers as [Server, Server];
    await measure(ours, other);
  } finally {
    for (const server of servers) await server.stop();
  }
}
