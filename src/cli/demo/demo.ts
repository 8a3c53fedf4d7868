// `npm run demo`: real deployments, real rows, visible progress, and a comparison at the end.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSyncClient, type SyncClient } from "repsync/client";
import type { JsonObject } from "../../domain/json.ts";
import { formatCount, startProgress } from "../progress.ts";
import { CITIES_REGISTRY, CITIES_TABLE, readCities } from "./cities.ts";
import { type Service, startService } from "./service.ts";

/** Rows of one page or batch. */
const BATCH_ROWS = 5000;
const SYNC_KEY = "demo-sync-key";
const EXIT_INTERRUPTED = 130;

/** What one step of the demo moved. */
interface Transfer {
  readonly rows: number;
  readonly elapsedMs: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
}

/** Runs the demo and returns the exit code: 0 when all rows came back equal. Waits for Ctrl-C unless `isOnce`. */
export async function runDemo(options: { readonly isOnce: boolean }): Promise<number> {
  const interruption = untilInterrupted();
  const folder = await mkdtemp(join(tmpdir(), "repsync-demo-"));
  const services: Service[] = [];
  try {
    const outcome = await Promise.race([play(folder, services), interruption]);
    if (outcome === "interrupted") return EXIT_INTERRUPTED;
    if (!options.isOnce) {
      console.log("\nThe deployments run until you press Ctrl-C.");
      await interruption;
    }
    return outcome === "equal" ? 0 : 1;
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

async function play(folder: string, services: Service[]): Promise<"equal" | "different"> {
  await writeFile(join(folder, "tables.json"), JSON.stringify(CITIES_REGISTRY));
  for (const name of ["local", "production", "copy"]) services.push(startDeployment(folder, name));
  const urls = await Promise.all(services.map((service) => service.url));
  const [local, production, copy] = urls as [string, string, string];
  const isEqual = await moveAndCompare({ local, production, copy });
  printAddresses(local, production);
  return isEqual ? "equal" : "different";
}

function startDeployment(folder: string, name: string): Service {
  return startService({
    folder,
    settings: {
      STORAGE_URL: `sqlite:${join(folder, `${name}.db`)}`,
      SYNC_ENABLED: "true",
      SYNC_API_KEY: SYNC_KEY,
      SYNC_TABLES: join(folder, "tables.json"),
    },
  });
}

async function moveAndCompare(urls: Record<"local" | "production" | "copy", string>) {
  const clientOf = (baseUrl: string) => createSyncClient({ baseUrl, key: SYNC_KEY });
  const [from, to, third] = [clientOf(urls.local), clientOf(urls.production), clientOf(urls.copy)];
  const cities = await readCities();
  console.log(`Cities of GeoNames (geonames.org, CC BY 4.0): ${formatCount(cities.length)} rows\n`);

  const totalRows = cities.length;
  const load = { label: "Load into local    ", source: batches(cities), target: from, totalRows };
  report("Loaded into local", await push(load));
  const send = { label: "Push to production ", source: rowsOf(from), target: to, totalRows };
  report("Pushed to production", await push(send));
  const fetched = { label: "Pull into a copy   ", source: rowsOf(to), target: third, totalRows };
  report("Pulled back", await push(fetched));
  const differences = await countDifferences(from, third);
  console.log(
    differences === 0
      ? `\nCompared row by row: all ${formatCount(cities.length)} rows are equal.`
      : `\nCompared row by row: ${formatCount(differences)} rows DIFFER.`,
  );
  return differences === 0;
}

async function push(job: {
  readonly label: string;
  readonly source: AsyncIterable<readonly JsonObject[]>;
  readonly target: SyncClient;
  readonly totalRows: number;
}): Promise<Transfer> {
  const { label, source, target, totalRows } = job;
  const startedAtMs = performance.now();
  const progress = startProgress(label, totalRows);
  let [rows, bytesCompressed, bytesUncompressed] = [0, 0, 0];
  try {
    for await (const records of source) {
      const pushed = await target.pushBatch(CITIES_TABLE, { records });
      if (pushed.result.error_count !== undefined) {
        throw new Error(`Records were refused: ${pushed.result.errors?.join("; ")}`);
      }
      rows += pushed.result.upserted;
      bytesCompressed += pushed.bytesCompressed;
      bytesUncompressed += pushed.bytesUncompressed;
      progress.advance(records.length);
    }
  } finally {
    progress.finish();
  }
  return { rows, elapsedMs: performance.now() - startedAtMs, bytesCompressed, bytesUncompressed };
}

async function* batches(rows: readonly JsonObject[]) {
  for (let at = 0; at < rows.length; at += BATCH_ROWS) yield rows.slice(at, at + BATCH_ROWS);
}

async function* rowsOf(client: SyncClient) {
  for await (const page of client.pages(CITIES_TABLE, { limit: BATCH_ROWS })) yield page.records;
}

/** Reads both tables in their order and counts the places where they are not the same. */
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

function report(what: string, moved: Transfer): void {
  const rate = moved.rows / (moved.elapsedMs / 1000);
  const savedPercent = 100 * (1 - moved.bytesCompressed / moved.bytesUncompressed);
  console.log(
    `${what}: ${formatCount(moved.rows)} rows, ${formatCount(rate)} rows/s, ` +
      `${formatCount(moved.bytesCompressed)} of ${formatCount(moved.bytesUncompressed)} bytes sent ` +
      `(${savedPercent.toFixed(0)}% saved)`,
  );
}

function printAddresses(localUrl: string, productionUrl: string): void {
  console.log(`
local       ${localUrl}/api/v1/sync/status
production  ${productionUrl}/api/v1/sync/status
API page    ${productionUrl}/swagger

Try: curl --compressed -H 'X-Sync-Key: ${SYNC_KEY}' '${productionUrl}/api/v1/sync/pull/${CITIES_TABLE}?limit=2'`);
}

/** Resolves at Ctrl-C or SIGTERM. */
function untilInterrupted(): Promise<"interrupted"> {
  return new Promise((resolve) => {
    process.once("SIGINT", () => resolve("interrupted"));
    process.once("SIGTERM", () => resolve("interrupted"));
  });
}
