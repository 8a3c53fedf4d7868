import { sendJson, signInAdministrator } from "./administrator.ts";
import { timeMs } from "./alternate.ts";
import type { Server } from "./child-process.ts";

/** A run, and how many rows it has to move. */
export interface ExpectedRun {
  readonly direction: "pull" | "push";
  readonly table: string;
  readonly rows: number;
}

/** Milliseconds of a run as whoever triggers it sees it. Throws unless it moved about so many rows. */
export async function timeRun(server: Server, expected: ExpectedRun): Promise<number> {
  const { direction, table, rows } = expected;
  const token = await signInAdministrator(server);
  let moved = 0;
  const ms = await timeMs(async () => {
    const body = { direction, table };
    const run = await sendJson(`${server.url}/api/v1/sync/trigger`, body, { token });
    moved = Number(run[direction === "pull" ? "total_pulled" : "total_pushed"]);
  });
  // The row that the marker names comes again.
  if (moved < rows || moved > rows + 1) throw new Error(`A run moved ${moved} rows, not ${rows}`);
  return ms;
}
